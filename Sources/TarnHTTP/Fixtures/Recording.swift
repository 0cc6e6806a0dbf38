// A recorded exchange as on the wire: a `.http` file for FixtureTransport and FixtureServer.
//
//     GET /repos/acme/anvil/issues?page=2
//     HTTP/1.1 200 OK
//     Content-Type: application/json; charset=utf-8
//     ETag: "abc"
//
//     [ … the body: every byte after the first empty line … ]
//
// Line 1 has the method and the target. In the target, `{name}` matches any text without `/`, `&`
// and `=`. `{?name*}` or `{&name*}` at its end matches any further parameters. `body=` and a digest
// may follow the target of a request with a body: the recording then answers only that body.
//
// Line 2 is the status line. The header fields follow, one per line. Lines end with LF; CRLF is
// accepted. A recorded Content-Length must be that of the body. With `Transfer-Encoding: chunked`
// the body is recorded in its chunks. Any other deviation is an error with file and line.

/// A recorded exchange.
package struct Recording: Sendable, Hashable {
    /// The path of the file.
    package var file: String
    package var method: String
    /// The target: path and query, as requested.
    package var target: String
    /// The digest of the request's body; nil for any body and for none.
    package var bodyDigest: String?
    /// The status line as recorded, such as `HTTP/1.1 200 OK`.
    var statusLine: String
    package var status: Int
    /// The header lines as recorded, without their line ends.
    package var fieldLines: [String]
    package var headers: TransportHeaders
    /// The bytes after the head, as on the wire.
    package var body: [UInt8]
    /// The body without its transfer coding.
    package var content: [UInt8]

    /// Parses a file's bytes.
    ///
    /// - Throws: `RecordingError` with file and line.
    package init(parsing bytes: [UInt8], file: String) throws(RecordingError) {
        var lines = HeadLines(bytes: bytes, file: file)
        self.file = file
        let request = try lines.nextRequest()
        (method, target, bodyDigest) = (request.method, request.target, request.bodyDigest)
        (statusLine, status) = try lines.nextStatus()
        let fields = try lines.nextFields()
        fieldLines = fields.lines
        headers = fields.headers
        body = lines.rest
        content = body
        try decodeContent(fields, endOfHead: lines.number)
    }

    /// Checks the body against the header fields, and removes its transfer coding.
    private mutating func decodeContent(_ fields: HeadLines.Fields, endOfHead: Int) throws(RecordingError) {
        let hasNoBody = method == "HEAD" || status == 204 || status == 304  // RFC 9112 §6.3
        if hasNoBody, !body.isEmpty {
            throw RecordingError(
                file: file, line: endOfHead + 1, "a response to \(method) with status \(status) must not have a body")
        }
        if fields.isChunked, let declaredLength = fields.declaredLength {
            // RFC 9112 §6.2: a sender must not send both.
            throw RecordingError(file: file, line: declaredLength.line, "both Content-Length and Transfer-Encoding")
        }
        if let declaredLength = fields.declaredLength, !hasNoBody, declaredLength.value != body.count {
            throw RecordingError(
                file: file, line: declaredLength.line,
                "Content-Length is \(declaredLength.value), but the body has \(body.count) bytes")
        }
        guard fields.isChunked, !hasNoBody else { return }
        guard let content = HTTPSyntax.dechunked(body) else {
            throw RecordingError(file: file, line: endOfHead + 1, "the body is not chunked (RFC 9112 §7.1)")
        }
        self.content = content
    }
}

/// The lines of the head in order, with their numbers.
private struct HeadLines {
    let bytes: [UInt8]
    let file: String
    private(set) var number = 0
    private var position = 0

    init(bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
    }

    /// The bytes after the last line that was read.
    var rest: [UInt8] { Array(bytes[position...]) }

    /// Returns the next line without its line end.
    mutating func next(expected: String) throws(RecordingError) -> String {
        number += 1
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else {
            throw error("unexpected end of file: expected \(expected)")
        }
        var line = bytes[position..<end]
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        position = end + 1
        guard let text = String(validating: line, as: UTF8.self) else { throw error("not valid UTF-8") }
        return text
    }

    func error(_ message: String) -> RecordingError {
        RecordingError(file: file, line: number, message)
    }

    // MARK: Parts of the head

    mutating func nextRequest() throws(RecordingError) -> (method: String, target: String, bodyDigest: String?) {
        let request = try next(expected: "the request, such as `GET /issues?page=2`").split(
            separator: " ", omittingEmptySubsequences: false)
        guard request.count == 2 || request.count == 3 && request[2].hasPrefix("body="), HTTPSyntax.isToken(request[0]),
            request[1].utf8.first == UInt8(ascii: "/"),
            request[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else { throw error("expected method and target, such as `GET /issues?page=2`") }
        let digest = request.count == 3 ? String(request[2].dropFirst("body=".count)) : nil
        return (String(request[0]), String(request[1]), digest)
    }

    mutating func nextStatus() throws(RecordingError) -> (line: String, status: Int) {
        let line = try next(expected: "a status line, such as `HTTP/1.1 200 OK`")
        guard let status = HTTPSyntax.status(ofLine: line) else {
            throw error("expected a status line, such as `HTTP/1.1 200 OK` (no other version)")
        }
        guard status >= 200 else { throw error("an interim response (1xx) without a final response") }
        return (line, status)
    }

    /// The header fields, and what they declare of the body.
    struct Fields {
        var lines: [String] = []
        var headers = TransportHeaders()
        /// The value of Content-Length, and its line.
        var declaredLength: (value: Int, line: Int)?
        var isChunked = false
    }

    /// Reads the header fields up to the empty line.
    mutating func nextFields() throws(RecordingError) -> Fields {
        var fields = Fields()
        while true {
            let line = try next(expected: "an empty line after the header fields")
            if line.isEmpty { return fields }
            guard let field = HTTPSyntax.field(ofLine: line) else { throw error("expected `Name: value`") }
            if TransportHeaders.same(field.name, "Content-Length") {
                guard let value = HTTPSyntax.decimal(field.value) else {
                    throw error("Content-Length is not a number")
                }
                guard fields.declaredLength == nil else { throw error("a second Content-Length") }
                fields.declaredLength = (value, number)
            }
            if TransportHeaders.same(field.name, "Transfer-Encoding") {
                guard TransportHeaders.same(field.value, "chunked") else {
                    throw error("unsupported transfer coding: only chunked can be recorded")
                }
                fields.isChunked = true
            }
            fields.lines.append(line)
            fields.headers.fields.append(field)
        }
    }
}
