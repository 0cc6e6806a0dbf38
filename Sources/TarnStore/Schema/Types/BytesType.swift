import Foundation

/// The type `bytes`: bytes, in base64 in texts and in JSON.
struct BytesType: AttributeTypeDescriptor {
    let name = "bytes"
    let order = ValueOrder.bytes

    func converted(_ value: Value) -> Value? {
        switch value {
        case .bytes: value
        case .string(let x): self.value(text: x)
        default: nil
        }
    }

    func value(_ element: TupleElement) -> Value? { if case .bytes(let x) = element { .bytes(x) } else { nil } }

    func value(text: String) -> Value? { Data(base64Encoded: text).map { .bytes(Array($0)) } }

    var literal: TypeLiteral? { TypeLiteral("base64", form: "base64 in quotes", text: value(text:)) }
}
