import Foundation

extension Record {
    /// Decodes the fields to a `Decodable` struct, by name.
    ///
    /// This is the slow way, for types that exist already: the fields are written as JSON, which
    /// `JSONDecoder` reads. A ``StoredRecord`` is read from the row's bytes, many times faster.
    ///
    /// ```swift
    /// struct Headline: Decodable { var number: Int; var title: String; var updatedAt: Date? }
    /// let issue = try store.read { try $0.record("Issue", RecordKey(17)) }
    /// let headline = try issue?.decode(Headline.self)
    /// ```
    ///
    /// A date is decoded with its microseconds as far as `Date` holds them, bytes as `Data`, JSON
    /// as any `Decodable` type, a reference as its key or as a ``Reference``. Numbers that are
    /// infinite or no numbers are null.
    ///
    /// - Throws: `DecodingError`, with the name of the field.
    public func decode<Content: Decodable>(_ type: Content.Type = Content.self) throws -> Content {
        var text = ""
        appendFieldsJSON(to: &text)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer(), text = try container.decode(String.self)
            guard let timestamp = Timestamp(description: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" is no date")
            }
            return timestamp.date
        }
        return try decoder.decode(Content.self, from: Data(text.utf8))
    }
}
