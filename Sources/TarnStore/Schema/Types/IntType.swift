/// The type `int`: signed 64-bit integers.
struct IntType: AttributeTypeDescriptor {
    let name = "int"
    let order = ValueOrder.integer

    func converted(_ value: Value) -> Value? { value.wholeNumber }

    func value(_ element: TupleElement) -> Value? { Value(integer: element) }

    func value(text: String) -> Value? { Int64(text).map(Value.int) }

    func appendLiteral(_ value: Value, to text: inout String) { text += value.plainText }
}

extension Value {
    /// The value as an integer, in the form that rows store; nil if it is not a whole number.
    ///
    /// Integers compare by value, so one outside the range of a field is greater or less than all
    /// in it.
    var wholeNumber: Value? {
        switch self {
        case .int: self
        case .uint(let x): Int64(exactly: x).map(Value.int) ?? self
        case .double(let x): Int64(exactly: x).map(Value.int) ?? UInt64(exactly: x).map(Value.uint)
        case .decimal(let x): Int64(x.description).map(Value.int) ?? UInt64(x.description).map(Value.uint)
        default: nil
        }
    }

    /// Creates an integer from its form in an index; nil for other elements.
    init?(integer element: TupleElement) {
        switch element {
        case .int(let x): self = .int(x)
        case .uint(let x): self = .uint(x)
        default: return nil
        }
    }
}
