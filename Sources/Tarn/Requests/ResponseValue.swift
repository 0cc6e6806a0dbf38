import Foundation
public import TarnImport

/// A value of a response besides its records, declared with its type: a total, a cursor, a date.
///
/// ```swift
/// extension ResponseValue<Int> {
///     static var total: Self { ResponseValue("total", at: "meta.total") }
/// }
/// let page = try await forge.page(.issues("acme/anvil").metadata(.total))
/// let total = try page[.total]                                     // Int?
/// ```
///
/// It is stored with the entry of the response, so that stored answers have it, too.
public struct ResponseValue<Value: Decodable & Sendable>: Sendable {
    let name: String
    let path: JSONPath

    /// Declares a value.
    ///
    /// - Parameters:
    ///   - name: the name of the value among those of a request.
    ///   - path: the key path from the root of the response.
    public init(_ name: String, at path: JSONPath) {
        self.name = name
        self.path = path
    }

    /// The value of stored metadata; nil if it is absent or null.
    ///
    /// - Throws: `MirrorError.endpoint` if it is of another type.
    func value(of metadata: [String: String], place: String) throws -> Value? {
        guard let text = metadata[name], text != "null" else { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(Value.self, from: Data(text.utf8))
        } catch {
            throw MirrorError.endpoint(
                place: place,
                message: "\(path) of the response is no \(Value.self): \(String(text.unicodeScalars.prefix(80)))")
        }
    }
}

extension RecordRequest {
    /// Returns the request with a typed value of the response, for ``ResponsePage/subscript(_:)``.
    public func metadata<Metadata>(_ value: ResponseValue<Metadata>) -> RecordRequest {
        metadata(value.name, at: value.path)
    }
}

extension ResponsePage {
    /// The value of the response that the request declares; nil if it is absent or null.
    ///
    /// Dates are those of ISO 8601.
    ///
    /// - Throws: `MirrorError.endpoint` if the value is of another type, or the request does not
    ///   declare it.
    public subscript<Metadata>(_ value: ResponseValue<Metadata>) -> Metadata? {
        get throws {
            guard declared.contains(value.name) else {
                throw MirrorError.endpoint(
                    place: place, message: "the request does not declare \(value.name): add metadata(_:) to it")
            }
            return try value.value(of: metadata, place: place)
        }
    }
}
