/// A list of scalars of one type. Rows have its values; indexes and texts of conditions do not.
struct ListType: AttributeTypeDescriptor {
    let name = "array"
    let order = ValueOrder.bytes
    let isIndexable = false
    let isShort = false
    let element: AttributeType

    var word: String { "[\(element)]" }

    func converted(_ value: Value) -> Value? { nil }

    func value(_ element: TupleElement) -> Value? { nil }

    func value(text: String) -> Value? { nil }
}
