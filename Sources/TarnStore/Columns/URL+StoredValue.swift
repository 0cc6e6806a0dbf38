public import Foundation

extension URL: StoredValue {
    /// Reads a URL; nil for a text that is none.
    @inlinable
    public init?(_ value: ValueView) {
        guard let text = String(value) else { return nil }
        self.init(string: text)
    }

    public func encode(into value: inout ValueEncoder) { absoluteString.encode(into: &value) }
}

extension URL: AttributeValue {
    public static var attributeType: AttributeType { .url }
}
