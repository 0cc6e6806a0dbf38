/// The type `url`: URLs as their original text.
struct URLType: AttributeTypeDescriptor {
    let name = "url"
    let order = ValueOrder.bytes
    let isText = true
    let isShort = false

    func converted(_ value: Value) -> Value? {
        switch value {
        case .url: value
        case .string(let x): .url(x)
        default: nil
        }
    }

    func value(_ element: TupleElement) -> Value? { if case .string(let x) = element { .url(x) } else { nil } }

    func value(text: String) -> Value? { .url(text) }

    var literal: TypeLiteral? { TypeLiteral("a text", text: value(text:)) }
}
