// Requests and responses as a gateway forwards them (RFC 9110 §7.6).

import Foundation
import NIOHTTP1
import Tarn

enum ProxyMessage {
    struct Reply: Sendable {
        var status: Int
        var headers: TransportHeaders
        var body: [UInt8]

        /// Creates a response of the proxy itself.
        init(_ status: Int, _ text: String, _ cacheStatus: CacheStatus = CacheStatus()) {
            self.status = status
            headers = TransportHeaders([
                .init("Content-Type", "text/plain; charset=utf-8"), .init("Cache-Status", cacheStatus.description),
            ])
            body = Array((text + "\n").utf8)
        }

        /// Creates the response of the proxy as the final recipient of a request.
        init(_ headers: TransportHeaders, _ body: [UInt8]) {
            status = 200
            self.headers = headers
            self.headers.fields.append(.init("Cache-Status", CacheStatus().description))
            self.body = body
        }

        /// Creates a response of the cache or the upstream.
        ///
        /// - Parameter name: The proxy's name, for `Via`.
        init(_ response: TransportResponse, _ cacheStatus: CacheStatus, by name: String) {
            status = response.status
            headers = response.headers.withoutConnectionFields
            // RFC 9110 §6.6.1
            if headers["Date"] == nil { headers.fields.append(.init("Date", HTTPDate.text(Date()))) }
            headers.fields.append(.init("Via", "1.1 \(name)"))
            headers.fields.append(.init("Cache-Status", cacheStatus.description))
            body = response.body
        }

        /// Returns the head to write to the client.
        ///
        /// `Content-Length` is the size of the sent body. A response to HEAD keeps its declared
        /// length.
        ///
        /// - Parameter isLast: Whether the connection ends after the response.
        func head(to request: HTTPRequestHead, isLast: Bool) -> HTTPResponseHead {
            var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status))
            head.headers.reserveCapacity(headers.fields.count + 2)
            for field in headers.fields { head.headers.add(name: field.name, value: field.value) }
            let lengths = head.headers["Content-Length"]
            if status == 204 {
                // RFC 9110 §8.6
                head.headers.remove(name: "Content-Length")
            } else if request.method == .HEAD || status == 304 {
                if lengths.count > 1 || lengths.contains(where: { HTTPSyntax.decimal($0) == nil }) {
                    head.headers.remove(name: "Content-Length")
                }
            } else if lengths != [String(body.count)] {
                head.headers.replaceOrAdd(name: "Content-Length", value: String(body.count))
            }
            if isLast {
                head.headers.add(name: "Connection", value: "close")
            } else if request.version.isBefore1_1 {
                // RFC 9112 §C.2.2: without it, a client of HTTP/1.0 waits for the end of the
                // connection.
                head.headers.add(name: "Connection", value: "keep-alive")
            }
            return head
        }
    }

    /// A client's request, or the response that refuses it.
    enum Received: Sendable {
        case request(TransportRequest)
        case refused(Reply)
    }

    /// Converts a client's request into the request for the upstream, or refuses it.
    static func received(_ head: HTTPRequestHead, _ body: [UInt8], by server: ProxyServer) -> Received {
        func refused(_ status: Int, _ text: String) -> Received { .refused(Reply(status, text)) }
        if let problem = problem(of: head) { return refused(400, problem) }
        if let problem = server.hosts.problem(of: head, port: server.port) { return refused(421, problem) }
        // RFC 9110 §7.6.3: the request has passed this proxy before, directly or through other
        // proxies.
        guard !vias(head.headers).contains(server.name) else {
            return refused(508, "loop: the request has already passed through this proxy")
        }
        guard head.method != .CONNECT else { return refused(501, "CONNECT is not forwarded") }
        // RFC 9112 §6.1: NIO removes chunks, and no other coding.
        let transferCodings = head.headers[canonicalForm: "transfer-encoding"]
        guard transferCodings.allSatisfy({ $0.lowercased() == "chunked" }) else {
            return refused(501, "unsupported Transfer-Encoding: only chunked is supported")
        }
        let forwards = remainingForwards(of: head)
        if forwards == 0 { return .refused(final(head)) }
        var target = head.uri
        // Absolute form (RFC 9112 §3.2.2); its host was checked above.
        if !target.hasPrefix("/"), let url = try? HTTPURL(target) { target = url.target }
        guard target.hasPrefix("/") else { return refused(501, "the request target must be a path") }
        // Normalised before the upstream's path is prepended: dot segments cannot leave that path.
        let upstream = server.upstream
        guard !target.utf8.contains(UInt8(ascii: "#")),
            let path = try? HTTPURL(upstream.origin + target).normalized.target
        else {
            return refused(400, "malformed request target")
        }
        let prefix =
            upstream.path == "/" ? "" : upstream.path.hasSuffix("/") ? String(upstream.path.dropLast()) : upstream.path
        var headers = TransportHeaders(head.headers.map { .init($0.name, $0.value) }).withoutConnectionFields
        // The upstream has its own Host, the length is that of the sent body, and Expect is handled
        // here.
        for name in ["Host", "Content-Length", "Expect"] { headers[name] = nil }
        if let forwards { headers["Max-Forwards"] = String(forwards - 1) }
        headers.fields.append(.init("Via", "\(head.version.major).\(head.version.minor) \(server.name)"))
        let hasBody =
            !body.isEmpty || head.headers.contains(name: "content-length")
            || head.headers.contains(name: "transfer-encoding")
        // RFC 9110 §9.3.1: a GET with Content-Length 0 has no content. libcurl sends no content
        // with HEAD.
        let sendsBody = head.method == .GET ? !body.isEmpty : hasBody && head.method != .HEAD
        // NIO names this method without its hyphen.
        let method = head.method == .MSEARCH ? "M-SEARCH" : head.method.rawValue
        return .request(
            TransportRequest(
                method: method, url: upstream.origin + prefix + path, headers: headers, body: sendsBody ? body : nil))
    }

    /// Returns the number of times that a TRACE or OPTIONS may be forwarded; nil without a limit.
    ///
    /// RFC 9110 §7.6.2: the field has no meaning for other methods.
    private static func remainingForwards(of head: HTTPRequestHead) -> Int? {
        guard head.method == .TRACE || head.method == .OPTIONS else { return nil }
        let values = head.headers["Max-Forwards"]
        return values.count == 1 ? HTTPSyntax.decimal(values[0]) : nil
    }

    /// Returns the response to a TRACE or OPTIONS that must not be forwarded.
    ///
    /// TRACE returns the request's head, without fields that may hold secrets (RFC 9110 §9.3.8).
    private static func final(_ head: HTTPRequestHead) -> Reply {
        guard head.method == .TRACE else { return Reply(TransportHeaders(), []) }
        var text = "TRACE \(head.uri) HTTP/\(head.version.major).\(head.version.minor)\r\n"
        for field in head.headers where !CacheRules.isCredential(field.name) {
            text += "\(field.name): \(field.value)\r\n"
        }
        return Reply(TransportHeaders([.init("Content-Type", "message/http")]), Array((text + "\r\n").utf8))
    }

    /// Returns the reason for a 400: an invalid Host (RFC 9112 §3.2) or a malformed header field.
    ///
    /// The Host is not forwarded: the upstream gets its own.
    ///
    /// NIO replaces bytes that are not UTF-8 by U+FFFD, and then different values are equal:
    /// neither the upstream nor the cache could tell them apart.
    private static func problem(of head: HTTPRequestHead) -> String? {
        func isReplaced(_ text: String) -> Bool {
            text.utf8.contains(0xEF) && text.unicodeScalars.contains("\u{FFFD}")
        }
        guard !isReplaced(head.uri), !head.headers.contains(where: { isReplaced($0.value) }) else {
            return "the request target or a header field is not UTF-8"
        }
        guard head.headers.allSatisfy({ HTTPSyntax.isWellFormed(.init($0.name, $0.value)) }) else {
            return "malformed header field"
        }
        let hosts = head.headers["Host"]
        guard hosts.count <= 1 else { return "more than one Host field" }
        guard let host = hosts.first else {
            return head.version.minor == 0 && head.version.major == 1 ? nil : "missing Host field"
        }
        let separators: Set = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        guard host.isEmpty || (try? HTTPURL("http://\(host)/")).map({ $0.path == "/" && $0.query == nil }) == true,
            !host.utf8.contains(where: separators.contains)
        else { return "malformed Host field" }
        return nil
    }

    /// Returns the names of the proxies in `Via` (RFC 9110 §7.6.3), without comments.
    private static func vias(_ headers: NIOHTTP1.HTTPHeaders) -> Set<String> {
        Set(
            headers[canonicalForm: "via"].compactMap { member in
                let words = member.split { $0 == " " || $0 == "\t" }
                return words.count > 1 ? String(words[1]) : nil
            })
    }

    /// Returns the stored response to a request; nil if only the upstream has one, or it is large.
    static func storedReply(to request: TransportRequest, through server: ProxyServer) -> Reply? {
        server.transport.storedAnswer(request, maximumBody: ProxyHandler.piece).map {
            Reply($0.response, $0.status, by: server.name)
        }
    }

    static func reply(to request: TransportRequest, through server: ProxyServer) async -> Reply {
        do throws(TransportError) {
            let answer = try await server.transport.answer(request)
            if let failure = answer.storeFailure { server.report(storeFailure: failure) }
            if answer.decision.outcome == .unanswerable {
                return Reply(504, "no stored response may be used", answer.status)
            }
            return Reply(answer.response, answer.status, by: server.name)
        } catch {
            return failure(error, server.limits)
        }
    }

    /// Returns the response to a request that the upstream has not answered.
    private static func failure(_ error: TransportError, _ limits: ProxyServer.Limits) -> Reply {
        let status = CacheStatus(forward: .miss, detail: error.kind.rawValue)
        return switch error.kind {
        case .store:
            Reply(500, "the cache's store cannot be read or written", CacheStatus(detail: error.kind.rawValue))
        case .timeout: Reply(504, "no complete response from the upstream within the time limit", status)
        case .protocol: Reply(502, "malformed response from the upstream", status)
        case .tooLarge:
            Reply(
                502,
                "the upstream's response is too large: a body may have \(limits.maximumResponse) bytes, "
                    + "and a head 256 KiB and 1000 fields", status)
        case .cutShort: Reply(502, "no complete response from the upstream: the connection ended", status)
        default: Reply(502, "no response from the upstream: \(error.kind.rawValue)", status)
        }
    }
}
