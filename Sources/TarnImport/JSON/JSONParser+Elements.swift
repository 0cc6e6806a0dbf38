// The text of the elements of a list: simdjson's tape does not have it, but its list of tokens.

internal import TarnStore

extension JSONParser {
    /// The text of the document, without a byte order mark. Valid until the next call.
    var text: Bytes { Bytes(start: source, count: count) }

    /// The place of a list in a document's text.
    struct ElementRanges {
        /// The text between the brackets.
        var list: Range<Int>
        var elements: [Range<Int>] = []
    }

    /// Returns the ranges of a list's elements in ``text``.
    ///
    /// - Parameter path: the keys that lead to the list.
    /// - Returns: nil if an element is no object, if the list occurs twice, if a key beside the
    ///   path is escaped, or if the tokens are not known or do not fit each other.
    func elementRanges(at path: [String]) -> ElementRanges? {
        let tokens = Tokens(text, structurals)
        var token = 0, containers: [Int] = []
        for key in path {
            guard let value = tokens.value(of: key, in: token) else { return nil }
            containers.append(token)
            token = value
        }
        guard tokens.byte(token) == UInt8(ascii: "["), let start = tokens.offset(token) else { return nil }
        var ranges = ElementRanges(list: start + 1..<start + 1)
        token += 1
        while tokens.byte(token) == UInt8(ascii: "{") {
            guard let next = tokens.skip(token), let start = tokens.offset(token), let end = tokens.offset(next - 1),
                start < end
            else { return nil }
            ranges.elements.append(start..<end + 1)
            token = next
            guard tokens.byte(token) == UInt8(ascii: ","), tokens.byte(token + 1) == UInt8(ascii: "{") else { break }
            token += 1
        }
        guard tokens.byte(token) == UInt8(ascii: "]"), let end = tokens.offset(token), start < end else { return nil }
        ranges.list = start + 1..<end
        return ranges
    }

    /// The tokens of a document: brackets, commas, colons, and the first bytes of everything else.
    private struct Tokens {
        private let text: Bytes
        private let offsets: UnsafeBufferPointer<UInt32>

        init(_ text: Bytes, _ offsets: UnsafeBufferPointer<UInt32>) {
            self.text = text
            // simdjson lists them in ascending order: if the last one is in the text, so are all.
            let isInside = offsets.last.map { Int($0) < text.count } ?? false
            self.offsets = isInside ? offsets : UnsafeBufferPointer(start: nil, count: 0)
        }

        @inline(__always)
        func offset(_ token: Int) -> Int? { token >= 0 && token < offsets.count ? Int(offsets[token]) : nil }

        @inline(__always)
        func byte(_ token: Int) -> UInt8? { offset(token).map { text[$0] } }

        /// Returns the token after the value that begins at a token.
        @inline(__always)
        func skip(_ token: Int) -> Int? {
            guard token >= 0, let text = text.baseAddress, let offsets = offsets.baseAddress else { return nil }
            let count = self.offsets.count
            var token = token, depth = 0
            while token < count {
                // `[` and `]` are `{` and `}` without this bit.
                let byte = text.load(fromByteOffset: Int(offsets[token]), as: UInt8.self) | 0x20
                depth &+= byte == UInt8(ascii: "{") ? 1 : 0
                depth &-= byte == UInt8(ascii: "}") ? 1 : 0
                token &+= 1
                if depth <= 0 { return depth == 0 ? token : nil }
            }
            return nil
        }

        /// Returns the token of the only value of a key in the object that begins at a token.
        func value(of key: String, in object: Int) -> Int? {
            guard byte(object) == UInt8(ascii: "{") else { return nil }
            var token = object + 1, found: Int?
            // A member is its key, a colon and its value; a comma follows it.
            while byte(token) == UInt8(ascii: "\""), byte(token + 1) == UInt8(ascii: ":") {
                guard let isKey = isKey(token, key), let next = skip(token + 2) else { return nil }
                if isKey {
                    // Of equal keys the last one wins.
                    guard found == nil else { return nil }
                    found = token + 2
                }
                token = next
                guard byte(token) == UInt8(ascii: ",") else { break }
                token += 1
            }
            return byte(token) == UInt8(ascii: "}") ? found : nil
        }

        /// Returns whether a string is a key; nil if it has an escape.
        private func isKey(_ token: Int, _ key: String) -> Bool? {
            guard let start = offset(token), let colon = offset(token + 1) else { return nil }
            let quoted = text.slice(start + 1..<colon)
            guard !quoted.contains(UInt8(ascii: "\\")), let end = quoted.firstIndex(of: UInt8(ascii: "\"")) else {
                return nil
            }
            var key = key
            return key.withUTF8 { Bytes.equal(Bytes(rebasing: quoted[..<end]), Bytes($0)) }
        }
    }
}
