// Removal of secrets from responses: servers repeat them in links and messages. Pure.

/// The secrets of a request, and their removal from texts.
struct Scrubber: Sendable, Hashable {
    /// The secrets of the authentication, the longest first.
    private let secrets: [SecretPattern]
    /// These, and the values that the request carries under names of secrets. A value under such a
    /// name may be an ordinary one, so it is removed only from what is shown.
    private let shown: [SecretPattern]
    /// The texts of the shown secrets, the longest first.
    private let texts: [String]
    /// The query parameter that carries a secret, with each of the secrets: `key=…`.
    private let pairs: [SecretPattern]
    /// The secrets that no ordinary value is equal to.
    private let distinct: [SecretPattern]

    /// - Parameters:
    ///   - secrets: the secrets of the authentication.
    ///   - parameter: the query parameter that carries one; nil if none does.
    ///   - carried: values that the request carries under names of secrets.
    init(_ secrets: [String], parameter: String?, carried: [String] = []) {
        let known = Scrubber.sorted(secrets)
        // Shorter secrets occur in ordinary words.
        let texts = known.filter { $0.utf8.count >= 4 }
        self.secrets = texts.map(SecretPattern.init)
        let others = carried.filter(Scrubber.isDistinct)
        self.texts = others.isEmpty ? texts : Scrubber.sorted(texts + others)
        shown = others.isEmpty ? self.secrets : self.texts.map(SecretPattern.init)
        distinct = Scrubber.sorted(known + others).filter(Scrubber.isDistinct).map(SecretPattern.init)
        pairs = parameter.map { name in known.filter { !$0.isEmpty }.map { SecretPattern("\(name)=\($0)") } } ?? []
    }

    /// Creates the scrubber of a request whose secrets are all its own.
    init(carriedBy request: TransportRequest) {
        self.init([], parameter: nil, carried: CarriedSecrets.of(request))
    }

    /// Each text once, the longest first.
    private static func sorted(_ texts: [String]) -> [String] {
        Set(texts).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// Whether a secret is equal to no ordinary value, such as a short word or a number.
    private static func isDistinct(_ secret: String) -> Bool {
        secret.utf8.count >= 8 && !secret.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Whether there is nothing to remove.
    var isEmpty: Bool { shown.isEmpty && pairs.isEmpty }

    /// Returns the text with `***` in place of every secret.
    func text(_ text: String) -> String { Scrubber.concealed(Array(text.utf8), shown).map(decoded) ?? text }

    /// The number of characters by which the beginning of a secret is recognised.
    private static let beginningLength = 8

    /// Returns a message with `***` in place of every secret, and of the beginning of one that the
    /// message has cut (`…`).
    func message(_ text: String) -> String {
        var bytes = Array(self.text(text).utf8)
        let mark = Array("…".utf8)
        func cut(from start: Int) -> Int? {
            guard start + mark.count <= bytes.count else { return nil }
            return (start...bytes.count - mark.count).first { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
        }
        guard cut(from: 0) != nil else { return decoded(bytes) }
        for secret in texts where secret.unicodeScalars.count > Scrubber.beginningLength {
            let beginning = SecretPattern(String(secret.unicodeScalars.prefix(Scrubber.beginningLength)))
            var ranges: [Range<Int>] = []
            for range in beginning.ranges(in: bytes) where range.lowerBound >= ranges.last?.upperBound ?? 0 {
                guard let end = cut(from: range.upperBound) else { break }
                ranges.append(range.lowerBound..<end)
            }
            if !ranges.isEmpty { bytes = Scrubber.replacing(ranges, in: bytes, by: Array("***".utf8)) }
        }
        return decoded(bytes)
    }

    /// Returns the bytes with `***` in place of every secret.
    func bytes(_ bytes: [UInt8]) -> [UInt8] { Scrubber.concealed(bytes, shown) ?? bytes }

    /// Returns a text with URLs, such as a `Link` field, without the secret parameter.
    ///
    /// The remaining bytes are unchanged, apart from `***` in place of other occurrences of a
    /// secret.
    func links(_ text: String) -> String { links(text, secrets) }

    private func links(_ text: String, _ secrets: [SecretPattern]) -> String {
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
        if let concealed = Scrubber.concealed(response.body, shown) {
            // A record has its values, also if the request carries one of them under such a name.
            if !(200..<300).contains(response.status) {
                response.body = concealed
            } else if !Scrubber.isJSON(response.body), let body = Scrubber.concealed(response.body, secrets) {
                response.body = body
            }
            if response.body != concealed { response.concealed = concealed }
        }
        if response.concealed != nil || response.headers.fields.contains(where: { repeats($0.value) }) {
            response.secrets = KnownSecrets(self)
        }
        return response
    }

    private func repeats(_ text: String) -> Bool { Scrubber.concealed(Array(text.utf8), shown) != nil }

    /// Returns a body or a field of a response of ``response(_:)`` for a file that others may read.
    ///
    /// A secret that may be an ordinary value, such as a short number, is kept.
    func recorded(_ bytes: [UInt8]) -> [UInt8] { Scrubber.concealed(bytes, distinct) ?? bytes }

    /// Returns the error without secrets.
    func error(_ error: TransportError, of request: TransportRequest) -> TransportError {
        var scrubbed = error
        scrubbed.url = request.url
        scrubbed.detail = links(error.detail, shown)
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

    /// The begin of a query, and the separator of its parameters.
    private static let question = SecretPart("?")
    private static let ampersand = SecretPart("&")

    /// Returns the bytes without the secret parameter of URLs; nil if none has it.
    private func withoutParameter(_ bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8]?
        for pair in pairs {
            let text = result ?? bytes, found = pair.ranges(in: text)
            guard !found.isEmpty else { continue }
            let ranges = text.withUnsafeBytes { Scrubber.parameters(found, in: $0) }
            if !ranges.isEmpty { result = Scrubber.replacing(ranges, in: text, by: []) }
        }
        return result
    }

    /// A parameter, or several in a row, and its separators.
    private struct Parameter {
        /// The start of the separator before it.
        var start: Int
        /// Whether that is the begin of the query.
        var isFirst: Bool
        var range: Range<Int>
        /// The end of the separator behind it; nil if none follows.
        var next: Int?

        /// The range of the parameter with one of its separators.
        var removed: Range<Int> {
            if isFirst, let next { return range.lowerBound..<next }
            return start..<range.upperBound
        }
    }

    /// Returns the ranges of parameters with one of their separators, in order and without
    /// overlaps.
    ///
    /// - Parameter found: the texts that may be parameters. Some are no whole ones.
    private static func parameters(_ found: [Range<Int>], in text: UnsafeRawBufferPointer) -> [Range<Int>] {
        var parameters: [Parameter] = []
        for range in found {
            let next = separator(behind: range.upperBound, in: text)
            // Otherwise it is the beginning of a longer value.
            guard next != nil || isEnd(range.upperBound, in: text) else { continue }
            // A server that adds the parameter to the query of the request lists it twice.
            if let last = parameters.last, last.next == range.lowerBound {
                parameters[parameters.count - 1].range = last.range.lowerBound..<range.upperBound
                parameters[parameters.count - 1].next = next
                continue
            }
            var starts: [Int] = []
            question.addStarts(upTo: range.lowerBound, in: text, to: &starts)
            let isFirst = !starts.isEmpty
            if !isFirst { ampersand.addStarts(upTo: range.lowerBound, in: text, to: &starts) }
            guard let start = starts.min() else { continue }
            parameters.append(Parameter(start: start, isFirst: isFirst, range: range, next: next))
        }
        var ranges: [Range<Int>] = []
        for parameter in parameters {
            // A secret may end with a character that is a separator, too.
            let removed = parameter.removed, start = max(removed.lowerBound, ranges.last?.upperBound ?? 0)
            if start < removed.upperBound { ranges.append(start..<removed.upperBound) }
        }
        return ranges
    }

    /// Returns the end of the separator that begins at a place; nil if none does.
    private static func separator(behind place: Int, in text: UnsafeRawBufferPointer) -> Int? {
        var ends: [Int] = []
        ampersand.addEnds(from: place, in: text, to: &ends)
        guard let end = ends.max() else { return nil }
        // The ampersand of `&quot;` is no separator.
        return text.endOfReference(at: place).map { $0 == end } ?? true ? end : nil
    }

    /// Returns whether a value that is followed by no separator ends at a place.
    private static func isEnd(_ place: Int, in text: UnsafeRawBufferPointer) -> Bool {
        // A sentence may end behind a URL.
        let end = text[place...].firstIndex { !".!*`".utf8.contains($0) } ?? text.count
        return end == text.count || !isPartOfValue(text[end]) || text.endOfReference(at: end) != nil
    }

    private static func isPartOfValue(_ byte: UInt8) -> Bool {
        HTTPSyntax.isTokenByte(byte) && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "'")
            || byte == UInt8(ascii: "/")
    }

    /// The length up to which a body is parsed: its values take many times the memory.
    private static let parsedLength = 256 << 10

    /// Whether a body is JSON; of a long one, whether it begins like a list or an object.
    private static func isJSON(_ body: [UInt8]) -> Bool {
        // An import ignores the mark, too.
        let body = body.withoutMark
        if body.count <= parsedLength {
            return String(validating: body, as: UTF8.self) != nil && JSONBody(parsing: body) != nil
        }
        let start = body.first { $0 > 0x20 }
        return start == UInt8(ascii: "{") || start == UInt8(ascii: "[")
    }
}

extension Scrubber: CustomReflectable {
    /// No children: a dump of a value that has a scrubber shows no secrets.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
