import Foundation

/// The type `uuid`.
struct UUIDType: AttributeTypeDescriptor {
    let name = "uuid"
    let order = ValueOrder.bytes
    let isShort = false

    func converted(_ value: Value) -> Value? {
        switch value {
        case .uuid: value
        case .string(let x): self.value(text: x)
        default: nil
        }
    }

    func value(_ element: TupleElement) -> Value? {
        if case .uuid(let x) = element, x.count == 16 { .uuid(UUID(bytes: x)) } else { nil }
    }

    func value(text: String) -> Value? { UUID(uuidString: text).map(Value.uuid) }

    var literal: TypeLiteral? { TypeLiteral("a UUID", text: value(text:)) }
}
