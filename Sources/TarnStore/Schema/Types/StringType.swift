/// The type `string`: texts.
struct StringType: AttributeTypeDescriptor {
    let name = "string"
    let order = ValueOrder.bytes
    let isText = true

    func converted(_ value: Value) -> Value? {
        switch value {
        case .string: value
        case .url(let x): .string(x)
        default: nil
        }
    }

    func value(_ element: TupleElement) -> Value? { if case .string(let x) = element { .string(x) } else { nil } }

    func value(text: String) -> Value? { .string(text) }

    func appendLiteral(_ value: Value, to text: inout String) { text.appendJSONString(value.plainText) }
}
