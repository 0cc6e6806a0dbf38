internal import TarnStore

/// The components of a URL or of a reference, as ranges of its bytes (RFC 3986 §4.1).
struct URLParts {
    /// The scheme without its colon; empty if there is none.
    var scheme = 0..<0
    /// The authority; nil if the text is a reference to the same server.
    var authority: Range<Int>?
    var path = 0..<0
    /// The query without its question mark; empty if there is none.
    var query = 0..<0

    /// Splits a text; nil if it is empty, or a URL that is not of `http` or `https`.
    init?(_ text: Bytes) {
        guard let first = text.first, first > 0x20 else { return nil }
        let slash = UInt8(ascii: "/")
        var end = 0
        while end < text.count, text[end] != UInt8(ascii: "#") { end += 1 }
        var question = 0
        while question < end, text[question] != UInt8(ascii: "?") { question += 1 }
        if question < end { query = question + 1..<end }
        var start = 0
        if let colon = URLParts.colon(text, before: question) {
            guard URLParts.isHTTP(text.slice(0..<colon)), colon + 2 < question, text[colon + 1] == slash,
                text[colon + 2] == slash
            else { return nil }
            scheme = 0..<colon
            start = colon + 1
        }
        if start + 1 < question, text[start] == slash, text[start + 1] == slash {
            var stop = start + 2
            while stop < question, text[stop] != slash { stop += 1 }
            authority = start + 2..<stop
            start = stop
        }
        path = start..<question
    }

    /// The colon behind a scheme: no slash comes before it.
    private static func colon(_ text: Bytes, before end: Int) -> Int? {
        for index in 0..<end {
            if text[index] == UInt8(ascii: ":") { return index }
            if text[index] == UInt8(ascii: "/") { return nil }
        }
        return nil
    }

    private static func isHTTP(_ scheme: Bytes) -> Bool {
        guard scheme.count == 4 || scheme.count == 5 else { return false }
        let letters: StaticString = "https"
        for index in scheme.indices where scheme[index] | 0x20 != (letters.utf8Start + index).pointee { return false }
        return true
    }
}
