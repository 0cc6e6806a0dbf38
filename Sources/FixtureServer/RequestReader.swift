// The parser for the requests of a connection (RFC 9112 §3, §5, §6).

import TarnHTTP

/// The parts of a request that the server needs.
struct ReceivedRequest {
    var method: String
    var target: String
    var headers: TransportHeaders
    var wantsClose: Bool
    var body: [UInt8] = []
}

/// A malformed request, with the status of its response.
struct BadRequest: Error {
    var status: Int
    var message: String
}

struct RequestReader {
    private let socket: Socket
    private var buffer: [UInt8] = []

    init(socket: Socket) { self.socket = socket }

    private static let headLimit = 64 * 1024
    private static let bodyLimit = 64 * 1024 * 1024

    /// Returns the next request; nil at the end of the connection.
    mutating func next() throws(BadRequest) -> ReceivedRequest? {
        guard let head = try nextHead() else { return nil }
        var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        let requestLine = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        guard requestLine.count == 3, HTTPSyntax.isToken(requestLine[0]), requestLine[2].hasPrefix("HTTP/1.") else {
            throw BadRequest(status: 400, message: "not an HTTP/1.1 request")
        }
        var headers = TransportHeaders()
        for line in lines {
            guard let field = HTTPSyntax.field(ofLine: String(line)) else {
                throw BadRequest(status: 400, message: "a malformed header field")
            }
            headers.fields.append(field)
        }
        let body = try takeBody(headers)
        let connection = headers.all("Connection").joined(separator: ",").lowercased()
        return ReceivedRequest(
            method: String(requestLine[0]), target: originForm(String(requestLine[1])), headers: headers,
            wantsClose: connection.contains("close")
                || requestLine[2] == "HTTP/1.0" && !connection.contains("keep-alive"),
            body: body)
    }

    private mutating func nextHead() throws(BadRequest) -> String? {
        var searched = 0
        while true {
            if let end = endOfHead(from: searched) {
                defer { buffer.removeFirst(end + 4) }
                guard let text = String(validating: buffer[..<end], as: UTF8.self) else {
                    throw BadRequest(status: 400, message: "the head is not UTF-8")
                }
                return text
            }
            if buffer.count > Self.headLimit { throw BadRequest(status: 431, message: "the head is too large") }
            searched = max(0, buffer.count - 3)
            let more = socket.receive(atMost: 16 * 1024)
            if more.isEmpty { return nil }
            buffer += more
            // Refused early: a TLS client, for example, would wait for ever.
            guard let first = buffer.first, (0x21...0x7E).contains(first) else {
                throw BadRequest(status: 400, message: "not an HTTP/1.1 request")
            }
        }
    }

    private func endOfHead(from start: Int) -> Int? {
        guard buffer.count >= 4, start <= buffer.count - 4 else { return nil }
        return (start...(buffer.count - 4)).first { index in
            buffer[index] == 0x0D && buffer[index + 1] == 0x0A && buffer[index + 2] == 0x0D && buffer[index + 3] == 0x0A
        }
    }

    private mutating func takeBody(_ headers: TransportHeaders) throws(BadRequest) -> [UInt8] {
        if headers["Transfer-Encoding"] != nil {
            throw BadRequest(status: 411, message: "send a Content-Length")
        }
        guard let text = headers["Content-Length"] else { return [] }
        guard let length = HTTPSyntax.decimal(text) else {
            throw BadRequest(status: 400, message: "Content-Length is not a number")
        }
        if length > Self.bodyLimit { throw BadRequest(status: 413, message: "the body is too large") }
        if headers["Expect"]?.lowercased() == "100-continue" { _ = socket.send("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
        while buffer.count < length {
            let more = socket.receive(atMost: 64 * 1024)
            if more.isEmpty { return [] }
            buffer += more
        }
        defer { buffer.removeFirst(length) }
        return Array(buffer.prefix(length))
    }

    /// Removes scheme and authority from a proxy's absolute form (RFC 9112 §3.2.2).
    private func originForm(_ target: String) -> String {
        guard let authority = target.range(of: "://") else { return target }
        guard let slash = target[authority.upperBound...].firstIndex(of: "/") else { return "/" }
        return String(target[slash...])
    }
}
