/// A test of the value at one place.
struct QueryTest {
    enum Operation {
        case isMissing
        case compare(Relation, Operand)
        /// In ascending order, each once.
        case isIn([Operand])
        case hasPrefix([UInt8])
        case containsText([UInt8])
        case containsElement(Operand)
        /// A relationship that leads to this key, among others.
        case containsTarget(Operand)
        case like(LikePattern)
    }

    enum Relation: UInt8 { case equal, less, lessOrEqual, greater, greaterOrEqual }

    let place: Int
    let operation: Operation
}
