// Values of records in a query that has them in quotes: `labels = "{label.name}"`.

import TarnHTTP

/// A value that would end the quotes around it, or the escape of which the query language decides.
struct QuotedValue {
    /// The name in braces.
    let name: String

    /// Finds the first value of a text that has the quote around it, or a backslash, in it.
    ///
    /// Nothing is known about the language, and so not how such a value is escaped: sent as it is,
    /// it would be another query.
    ///
    /// - Parameters:
    ///   - text: the text with names in braces.
    ///   - values: the values of records and responses, by their names.
    ///   - escapes: whether a backslash may begin an escape; if not, it is a character as others.
    init?(in text: String, _ values: [String: String], escapes: Bool) {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "{")), values.values.contains(where: QuotedValue.mayEndQuotes) else {
            return nil
        }
        var quote: UInt8?, index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\"), escapes, quote != nil {
                index += 1
            } else if byte == quote {
                quote = nil
            } else if quote == nil, QuotedValue.opens(byte, behind: index > 0 ? bytes[index - 1] : nil) {
                quote = byte
            } else if byte == UInt8(ascii: "{"), let open = quote {
                let name = String(decoding: bytes[(index + 1)...].prefix { $0 != UInt8(ascii: "}") }, as: UTF8.self)
                let ends = [open] + (escapes ? [UInt8(ascii: "\\")] : [])
                if let value = values[name], value.utf8.contains(where: ends.contains) {
                    self.name = name
                    return
                }
            }
            index += 1
        }
        return nil
    }

    private static func mayEndQuotes(_ value: String) -> Bool {
        value.utf8.contains { [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\")].contains($0) }
    }

    /// Whether a backslash may begin an escape in the query that a parameter sends.
    ///
    /// OData 4.01 ABNF: `$filter` doubles a quote, and has no other escapes.
    static func mayEscape(in parameter: String?) -> Bool { parameter != "$filter" }

    /// Whether a byte opens quotes: an apostrophe within a word does not.
    private static func opens(_ byte: UInt8, behind last: UInt8?) -> Bool {
        guard byte == UInt8(ascii: "'") else { return byte == UInt8(ascii: "\"") }
        guard let last else { return true }
        let isWord = (0x61...0x7A).contains(last | 0x20) || (0x30...0x39).contains(last) || last >= 0x80
        return !isWord
    }
}

extension EndpointRequest {
    /// Checks that no value of a record, or of a response, ends the quotes of a query.
    func checkQuotes() throws(MirrorError) {
        let found = parent.map(\.values) ?? [:]
        var texts: [(place: String, text: String, values: [String: String], escapes: Bool)] = []
        if !found.isEmpty, endpoint.forEach != nil {
            texts = endpoint.parameters.map {
                ("with.\($0.name)", $0.value, found, QuotedValue.mayEscape(in: $0.name))
            }
        }
        if let rule = endpoint.incremental, let text = rule.text {
            var values = found
            if let since, since != rule.initial { values[Incremental.variable] = since }
            let name: String? = if case .query(let name)? = rule.sends { name } else { nil }
            texts.append(("since.text", text, values, QuotedValue.mayEscape(in: name)))
        }
        for (place, text, values, escapes) in texts {
            guard let quoted = QuotedValue(in: text, values, escapes: escapes), let value = values[quoted.name] else {
                continue
            }
            throw .endpoint(
                place: endpoint.place,
                message: "\(place): the value \(value.excerpt) of {\(quoted.name)} has a quote or a backslash: in the "
                    + "quotes of this text it would be another query; name a value without them, such as an id")
        }
    }
}
