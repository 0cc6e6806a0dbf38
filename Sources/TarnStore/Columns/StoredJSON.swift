import Foundation

/// A value that is kept as JSON in an attribute of the type `json`.
///
/// It is encoded and decoded by Foundation. That takes much longer than reading an attribute: for
/// values that are read often, declare attributes.
///
/// Setting a field to the value that was read from it keeps the stored text. Another value replaces
/// all of the text: its members are sorted, and those that `Content` does not have are gone.
/// Conditions compare the texts, so they find a value only if it was written from a struct.
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

    public static func wayOut(_ value: ValueView) -> String? {
        guard let text = String(value) else { return nil }
        do {
            _ = try JSONDecoder().decode(Content.self, from: Data(text.utf8))
            return nil
        } catch {
            if Content.self == String.self { return "write its type as String: another name of it is Codable" }
            let reason = (error as? DecodingError)?.reason ?? "\(error)"
            return
                "\(reason); let \(Content.self) decode it, or declare the property as String, with @Attribute(type: .json)"
        }
    }

    /// Encodes the value as JSON.
    ///
    /// If it cannot be encoded, since it has a number that is not finite for example, the write
    /// fails with `StoreError.wrongType`.
    public func encode(into value: inout ValueEncoder) {
        // A Boolean value does not fit an attribute of the type JSON, so the write reports it.
        guard let text = StoredJSON.text(content) else { return false.encode(into: &value) }
        value.isApproximate = true
        value.rewritten = { text in
            (try? JSONDecoder().decode(Content.self, from: Data(text.utf8))).flatMap { StoredJSON.text($0) }
        }
        text.encode(into: &value)
    }

    private static func text(_ content: Content) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(content)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension DecodingError {
    /// The value that does not fit, and its place.
    fileprivate var reason: String {
        let context: Context
        switch self {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found),
            .dataCorrupted(let found):
            context = found
        @unknown default: return "\(self)"
        }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        var problem = context.debugDescription
        if problem.hasSuffix(".") { problem.removeLast() }
        return path.isEmpty ? problem : "\(path): \(problem)"
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
