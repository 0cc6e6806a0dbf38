// Removal of secrets from responses: servers repeat them in links and messages. Pure.

/// The secrets of a request, and their removal from texts.
struct Scrubber: Sendable {
    /// The secrets, the longest first.
    private let secrets: [SecretPattern]
    /// The query parameter that carries a secret, with each of the secrets: `key=…`.
    private let pairs: [SecretPattern]
    /// The secrets that no ordinary value is equal to.
    private let distinct: [SecretPattern]

    init(_ secrets: [String], parameter: String?) {
        let known = Set(secrets).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        // Shorter secrets occur in ordinary words.
        self.secrets = known.filter { $0.utf8.count >= 4 }.map(SecretPattern.init)
        distinct = known.filter { $0.utf8.count >= 8 && !$0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
            .map(SecretPattern.init)
        pairs = parameter.map { name in known.filter { !$0.isEmpty }.map { SecretPattern("\(name)=\($0)") } } ?? []
    }

    /// Whether there is nothing to remove.
    var isEmpty: Bool { secrets.isEmpty && pairs.isEmpty }

    /// Returns the text with `***` in place of every secret.
    func text(_ text: String) -> String { Scrubber.concealed(Array(text.utf8), secrets).map(decoded) ?? text }

    /// Returns the bytes with `***` in place of every secret.
    func bytes(_ bytes: [UInt8]) -> [UInt8] { Scrubber.concealed(bytes, secrets) ?? bytes }

    /// Returns a text with URLs, such as a `Link` field, without the secret parameter.
    ///
    /// The remaining bytes are unchanged, apart from `***` in place of other occurrences of a
    /// secret.
    func links(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let linked = withoutParameter(bytes)
        return (Scrubber.concealed(linked ?? bytes, secrets) ?? linked).map(decoded) ?? text
    }

    private func decoded(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the response without secrets.
    ///
    /// Header fields, the redirect and the body are changed. The JSON of a success becomes records:
    /// it loses the secret parameter of its links, and otherwise stays as the server sent it.
    func response(_ response: TransportResponse) -> TransportResponse {
        guard !isEmpty else { return response }
        var response = response
        for index in response.headers.fields.indices {
            response.headers.fields[index].value = links(response.headers.fields[index].value)
        }
        response.redirectedTo = response.redirectedTo.map(links)
        if let linked = withoutParameter(response.body) { response.body = linked }
        guard let concealed = Scrubber.concealed(response.body, secrets) else { return response }
        if (200..<300).contains(response.status), Scrubber.isJSON(response.body) {
            response.concealed = concealed
        } else {
            response.body = concealed
        }
        return response
    }

    /// Returns the body of a response of ``response(_:)`` for a file that others may read.
    ///
    /// A secret that may be an ordinary value, such as a short number, is kept.
    func recorded(_ body: [UInt8]) -> [UInt8] { Scrubber.concealed(body, distinct) ?? body }

    /// Returns the error without secrets.
    func error(_ error: TransportError, of request: TransportRequest) -> TransportError {
        var scrubbed = error
        scrubbed.url = request.url
        scrubbed.detail = links(error.detail)
        scrubbed.answer = error.answer.map(response)
        return scrubbed
    }

    // MARK: Bytes

    /// Returns the bytes with `***` in place of every secret; nil if there is none.
    private static func concealed(_ bytes: [UInt8], _ secrets: [SecretPattern]) -> [UInt8]? {
        var result: [UInt8]?
        for secret in secrets {
            let text = result ?? bytes, ranges = secret.ranges(in: text)
            if !ranges.isEmpty { result = replacing(ranges, in: text, by: Array("***".utf8)) }
        }
        return result
    }

    private static func replacing(_ ranges: [Range<Int>], in bytes: [UInt8], by text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [], end = 0
        result.reserveCapacity(bytes.count)
        for range in ranges {
            result += bytes[end..<range.lowerBound] + text
            end = range.upperBound
        }
        return result + bytes[end...]
    }

    /// The begin of a query, and the separator of its parameters, as URLs, JSON and HTML have them.
    private static let question = ["?", "\\u003f", "\\u003F", "%3F", "%3f"].map { Array($0.utf8) }
    private static let ampersand = ["&amp;", "&#38;", "\\u0026", "%26", "&"].map { Array($0.utf8) }

    /// Returns the bytes without the secret parameter of URLs; nil if none has it.
    private func withoutParameter(_ bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8]?
        for pair in pairs {
            let text = result ?? bytes
            let ranges = pair.ranges(in: text).compactMap { Scrubber.parameter($0, in: text) }
            if !ranges.isEmpty { result = Scrubber.replacing(ranges, in: text, by: []) }
        }
        return result
    }

    /// Returns the range of a parameter with one of its separators; nil if the text is no whole
    /// parameter.
    private static func parameter(_ range: Range<Int>, in bytes: [UInt8]) -> Range<Int>? {
        let before = bytes[..<range.lowerBound].suffix(6), after = bytes[range.upperBound...].prefix(6)
        func end(_ separators: [[UInt8]]) -> Int? {
            separators.first { before.suffix($0.count).elementsEqual($0) }?.count
        }
        let next = ampersand.first { after.starts(with: $0) }?.count
        // Otherwise it is the beginning of a longer value.
        guard next != nil || after.first.map({ !isPartOfValue($0) }) ?? true else { return nil }
        if let length = end(question) {
            return next.map { range.lowerBound..<range.upperBound + $0 } ?? range.lowerBound - length..<range.upperBound
        }
        return end(ampersand).map { range.lowerBound - $0..<range.upperBound }
    }

    private static func isPartOfValue(_ byte: UInt8) -> Bool {
        HTTPSyntax.isTokenByte(byte) && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "'")
            || byte == UInt8(ascii: "/")
    }

    /// The length up to which a body is parsed: its values take many times the memory.
    private static let parsedLength = 256 << 10

    /// Whether a body is JSON; of a long one, whether it begins like a list or an object.
    private static func isJSON(_ body: [UInt8]) -> Bool {
        if body.count <= parsedLength {
            return String(validating: body, as: UTF8.self) != nil && JSONBody(parsing: body[...]) != nil
        }
        let start = body.first { $0 > 0x20 }
        return start == UInt8(ascii: "{") || start == UInt8(ascii: "[")
    }
}
