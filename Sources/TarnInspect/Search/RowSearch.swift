// The search of a row before it is decoded: most rows are rejected by their bytes.

import TarnStore

/// The stored forms in which a text can be found only by decoding.
///
/// Texts, URLs, JSON and decimals are stored as they are written. Other values have forms of their
/// own, but their texts have few characters: a search for `Fjord` need not decode a number.
final class RowSearch {
    private let pattern: TextPattern
    /// For each tag, whether a value must be decoded.
    private let isDecoded: [Bool]
    private let hasDecoded: Bool
    /// For each tag, whether texts are in the value as they are written, or in parts of it.
    private let isVerbatim: [Bool]

    init(_ pattern: TextPattern) {
        self.pattern = pattern
        var tags = [Bool](repeating: false, count: 256)
        func tag(_ value: Value) -> Int {
            var writer = ByteWriter()
            writer.appendValue(value)
            return Int(writer.bytes[0])
        }
        let text = pattern.text
        func fits(_ alphabet: String) -> Bool {
            let alphabet = pattern.ignoresCase ? CaseFolding.fold(alphabet) : alphabet
            let known = Set(alphabet.utf8)
            return text.utf8.allSatisfy { known.contains($0) }
        }
        let isNumber = fits("-0123456789"), isUUID = fits("-0123456789abcdef")
        let isDouble = fits("-+.0123456789einfatul"), isDate = fits("-+.:0123456789TZ")
        let isBytes = fits("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
        // A NUL in a key is stored as two bytes.
        let isKey = isNumber || isUUID || text.utf8.contains(0)
        tags[tag(.null)] = false
        for value in [true, false] { tags[tag(.bool(value))] = "\(value)".contains(text) }
        tags[tag(.int(1))] = isNumber
        tags[tag(.uint(.max))] = isNumber
        tags[tag(.double(1))] = isDouble
        tags[tag(.date(Timestamp(microseconds: 1)))] = isDate
        tags[Int(ValueTag.uuid)] = isUUID
        tags[Int(ValueTag.bytes)] = isBytes
        for text in [ValueTag.string, ValueTag.url, ValueTag.json] { tags[Int(text)] = false }
        var verbatim = [Bool](repeating: false, count: 256)
        for tag in [
            ValueTag.string, ValueTag.url, ValueTag.json, ValueTag.array, ValueTag.reference,
            ValueTag.positionedReference, ValueTag.references,
        ] { verbatim[Int(tag)] = true }
        if let decimal = ExactDecimal("1.5") {
            tags[tag(.decimal(decimal))] = false
            verbatim[tag(.decimal(decimal))] = true
        }
        tags[Int(ValueTag.array)] = isNumber || isDouble || isDate || isUUID || isBytes || fits("truefalse")
        for key in [ValueTag.reference, ValueTag.positionedReference, ValueTag.references] { tags[Int(key)] = isKey }
        isDecoded = tags
        hasDecoded = tags.contains(true)
        isVerbatim = verbatim
    }

    /// Returns whether an uncompressed row in a part of the file may have the text.
    ///
    /// - Parameter hasReferences: See `mayMatch`.
    func mayOccur(in bytes: Bytes, hasReferences: Bool) -> Bool {
        guard !pattern.ignoresCase, !hasDecoded, !hasReferences else { return true }
        return pattern.occurs(inVerbatim: bytes) ?? true
    }

    /// Returns whether a field of the row may have the text.
    ///
    /// - Parameters:
    ///   - hasReferences: Whether rows of the table may have references. The keys of long lists are
    ///     in another table, and long keys in other rows.
    ///   - matches: A closure that decodes a value and decides.
    func mayMatch(_ body: RowBody, hasReferences: Bool, matches: (Int, EncodedValue) throws -> Bool) rethrows -> Bool {
        if !pattern.ignoresCase {
            if pattern.occurs(inVerbatim: body.bytes) == true { return true }
            if !hasDecoded, !hasReferences { return false }
        }
        for index in 0..<body.count {
            // A value that exceeds its row is reported by decoding all of them.
            guard let value = body.value(at: index) else { return true }
            if isDecoded[Int(value.tag)] || (hasReferences && isElsewhere(value)) {
                if try matches(index, value) { return true }
            } else if pattern.ignoresCase, isVerbatim[Int(value.tag)] {
                switch pattern.occurs(inVerbatim: value.bytes) {
                case true: return true
                case nil: if try matches(index, value) { return true }
                default: break
                }
            }
        }
        return false
    }

    /// Whether a part of the value's text may be outside of the row.
    private func isElsewhere(_ value: EncodedValue) -> Bool {
        switch value.tag {
        case ValueTag.edges: true
        case ValueTag.reference, ValueTag.positionedReference, ValueTag.references:
            value.bytes.count > StorageKey.longest
        default: false
        }
    }
}
