/// A test of the value at one place.
struct QueryTest {
    enum Operation {
        case isMissing
        case compare(Relation, Operand)
        /// The operands, ascending and distinct.
        case isIn([Operand])
        case hasPrefix([UInt8])
        case containsText([UInt8])
        case containsElement(Operand)
        /// A list of texts with an element that has this part.
        case containsTextInElement([UInt8])
        /// A to-many relationship that has this target.
        case containsTarget(Operand)
        case like(LikePattern)
    }

    enum Relation: UInt8 { case equal, less, lessOrEqual, greater, greaterOrEqual }

    let place: Int
    let operation: Operation
}
