/// The type `uint`: unsigned 64-bit integers.
struct UIntType: AttributeTypeDescriptor {
    let name = "uint"
    let order = ValueOrder.integer

    func converted(_ value: Value) -> Value? { value.wholeNumber }

    func value(_ element: TupleElement) -> Value? { Value(integer: element) }

    /// A number that fits a signed integer is stored as one.
    func value(text: String) -> Value? {
        Int64(text).flatMap { $0 >= 0 ? .int($0) : nil } ?? UInt64(text).map(Value.uint)
    }

    func value(catalogText: String) -> Value? { UInt64(catalogText).map(Value.uint) }

    func appendLiteral(_ value: Value, to text: inout String) { text += value.plainText }
}
