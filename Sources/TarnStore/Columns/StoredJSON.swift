import Foundation

/// A value that is kept as JSON in an attribute of the type `json`.
///
/// It is encoded and decoded by Foundation. That takes much longer than reading an attribute: for
/// values that are read often, declare attributes.
public struct StoredJSON<Content: Codable & Sendable>: StoredValue, Sendable {
    /// The value.
    public var content: Content

    /// Wraps a value.
    public init(_ content: Content) { self.content = content }

    public init?(_ value: ValueView) {
        guard let text = String(value), let content = try? JSONDecoder().decode(Content.self, from: Data(text.utf8))
        else { return nil }
        self.content = content
    }

    /// Encodes the value as JSON.
    ///
    /// If it cannot be encoded, since it has a number that is not finite for example, the write
    /// fails with `StoreError.wrongType`.
    public func encode(into value: inout ValueEncoder) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A Boolean value does not fit an attribute of the type JSON, so the write reports it.
        guard let data = try? encoder.encode(content) else { return false.encode(into: &value) }
        String(decoding: data, as: UTF8.self).encode(into: &value)
    }
}

extension StoredJSON: Equatable where Content: Equatable {}
extension StoredJSON: Hashable where Content: Hashable {}

extension StoredJSON: AttributeValue {
    public static var attributeType: AttributeType { .json }
}

extension Row {
    /// Returns the value of a field that is kept as JSON.
    ///
    /// - Throws: as ``get(_:as:)``.
    public func json<Content: Codable & Sendable>(_ field: Record.Field) throws(StoreError) -> Content {
        try get(field, as: StoredJSON<Content>.self).content
    }

    /// Returns the value of an optional field that is kept as JSON; nil if it is null or absent.
    ///
    /// - Throws: as ``get(_:as:)``.
    public func jsonIfPresent<Content: Codable & Sendable>(
        _ field: Record.Field
    ) throws(StoreError) -> Content? {
        try get(field, as: StoredJSON<Content>?.self)?.content
    }
}
