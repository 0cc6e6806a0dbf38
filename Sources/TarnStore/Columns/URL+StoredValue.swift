public import Foundation

extension URL: StoredValue {
    /// Reads a URL; nil for a text that is none.
    ///
    /// In a text with characters that RFC 3986 does not allow, `URL` encodes them: `{x}` is read as
    /// `%7Bx%7D`, `exämple.de` as `xn--exmple-cua.de`. Setting a field to the URL that was read
    /// from it keeps the stored text. A condition compares with the stored text.
    @inlinable
    public init?(_ value: ValueView) {
        guard let text = String(value) else { return nil }
        self.init(string: text)
    }

    public static func wayOut(_ value: ValueView) -> String? {
        guard String(value) != nil else { return nil }
        return "Foundation reads no URL in it: declare the property as String, with @Attribute(type: .url)"
    }

    public func encode(into value: inout ValueEncoder) {
        let text = absoluteString
        // Only such texts may be read from another one.
        if text.utf8.contains(UInt8(ascii: "%")) || text.contains("xn--") { value.isApproximate = true }
        text.encode(into: &value)
    }
}

extension URL: AttributeValue {
    public static var attributeType: AttributeType { .url }
}
