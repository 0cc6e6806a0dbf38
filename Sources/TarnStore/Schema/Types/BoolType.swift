/// The type `bool`.
struct BoolType: AttributeTypeDescriptor {
    let name = "bool"
    let order = ValueOrder.bool

    func converted(_ value: Value) -> Value? { if case .bool = value { value } else { nil } }

    func value(_ element: TupleElement) -> Value? { if case .bool(let x) = element { .bool(x) } else { nil } }

    func value(text: String) -> Value? { text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil }

    func appendLiteral(_ value: Value, to text: inout String) { text += value.plainText }
}
