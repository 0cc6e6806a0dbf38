import TarnStore

/// A field of a record that has a text that was searched for.
package struct SearchMatch: Sendable, Hashable {
    /// The name of the record's entity.
    package var entity: String
    /// The key of the record.
    package var key: RecordKey
    /// The name of the field.
    package var field: String
    /// The text of the value, or of the element of a list that has the match.
    package var text: String
    /// The range of the first match in the text, in UTF-8 offsets.
    package var range: Range<Int>

    /// Returns the match with up to 40 characters on each side; "…" marks what is left out.
    package func excerpt() -> String {
        let match = TextMatch(field, text, range, context: 40)
        return match.before + match.match + match.after
    }
}

extension Value {
    /// Returns the first of the value's texts that has the pattern, and the range of it.
    ///
    /// The texts of a list are those of its elements, and the texts of a key those of its
    /// components. Other values have one text: that of ``plainText``; null has none.
    func firstMatch(_ pattern: TextPattern) -> (text: String, range: Range<Int>)? {
        func match(_ text: String) -> (String, Range<Int>)? { pattern.firstRange(in: text).map { (text, $0) } }
        func match(_ key: RecordKey) -> (String, Range<Int>)? {
            key.components.lazy.compactMap { match($0.description) }.first
        }
        switch self {
        case .null: return nil
        case .array(let values): return values.lazy.compactMap { $0.firstMatch(pattern) }.first
        case .reference(let key): return match(key)
        case .references(let keys): return keys.lazy.compactMap { match($0) }.first
        default: return match(plainText)
        }
    }
}
