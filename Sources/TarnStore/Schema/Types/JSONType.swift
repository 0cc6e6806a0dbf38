/// The type `json`: any JSON as text.
struct JSONType: AttributeTypeDescriptor {
    let name = "json"
    let order = ValueOrder.bytes
    let isText = true
    let isIndexable = false
    let isShort = false

    func converted(_ value: Value) -> Value? {
        switch value {
        case .json: value
        case .string(let x): .json(x)
        default: nil
        }
    }

    func value(_ element: TupleElement) -> Value? { if case .string(let x) = element { .json(x) } else { nil } }

    /// The text is validated when it is written.
    func value(text: String) -> Value? { .json(text) }

    var literal: TypeLiteral? { TypeLiteral("a text", text: value(text:)) }
}
