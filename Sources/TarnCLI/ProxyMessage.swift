// Requests and answers as they pass a gateway (RFC 9110 §7.6).

import NIOHTTP1
import Tarn

enum ProxyMessage {
    struct Reply: Sendable {
        var status: Int
        var headers: Tarn.HTTPHeaders
        var body: [UInt8]

        /// An answer of the proxy's own.
        init(_ status: Int, _ text: String, _ cacheStatus: CacheStatus = CacheStatus()) {
            self.status = status
            headers = Tarn.HTTPHeaders([.init("Content-Type", "text/plain; charset=utf-8"), .init("Cache-Status", cacheStatus.description)])
            body = Array((text + "\n").utf8)
        }

        init(_ response: HTTPResponse, _ cacheStatus: CacheStatus) {
            status = response.status
            headers = response.headers.withoutConnectionFields
            // RFC 9111 §5.1: what was just made has no age of its own to add.
            headers.fields.append(.init("Via", "1.1 tarn"))
            headers.fields.append(.init("Cache-Status", cacheStatus.description))
            body = response.body
        }

        /// As it is written to the client. Lengths are those of what is sent; an answer to HEAD keeps the length that it speaks of.
        func head(toHEAD: Bool, isLast: Bool) -> HTTPResponseHead {
            var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status))
            head.headers.reserveCapacity(headers.fields.count + 2)
            for field in headers.fields { head.headers.add(name: field.name, value: field.value) }
            if status == 204 {
                // RFC 9110 §8.6
                head.headers.remove(name: "Content-Length")
            } else if !toHEAD, status != 304, head.headers["Content-Length"] != [String(body.count)] {
                head.headers.replaceOrAdd(name: "Content-Length", value: String(body.count))
            }
            if isLast { head.headers.add(name: "Connection", value: "close") }
            return head
        }
    }

    /// The request for the upstream; nil for what a gateway does not forward: CONNECT, and targets that are no path.
    static func request(_ head: HTTPRequestHead, _ body: [UInt8], upstream: HTTPURL) -> HTTPRequest? {
        guard head.method != .CONNECT else { return nil }
        var target = head.uri
        // The absolute form (RFC 9112 §3.2.2).
        if !target.hasPrefix("/"), let url = try? HTTPURL(target) { target = url.target }
        guard target.hasPrefix("/") else { return nil }
        let prefix = upstream.path == "/" ? "" : upstream.path.hasSuffix("/") ? String(upstream.path.dropLast()) : upstream.path
        guard let url = try? HTTPURL(upstream.origin + prefix + target) else { return nil }
        var headers = Tarn.HTTPHeaders(head.headers.map { .init($0.name, $0.value) }).withoutConnectionFields
        // The upstream's own name; lengths are those of the message that is sent; nobody is left waiting.
        for name in ["Host", "Content-Length", "Expect"] { headers[name] = nil }
        headers.fields.append(.init("Via", "\(head.version.major).\(head.version.minor) tarn"))
        let hasBody = !body.isEmpty || head.headers.contains(name: "content-length") || head.headers.contains(name: "transfer-encoding")
        // RFC 9110 §9.3.1: a GET that says it has no content is one without; HEAD has none that a client of libcurl could send.
        let sendsBody = head.method == .GET ? !body.isEmpty : hasBody && head.method != .HEAD
        // NIO writes the one method with a hyphen without it.
        let method = head.method == .MSEARCH ? "M-SEARCH" : head.method.rawValue
        return HTTPRequest(method: method, url: url.description, headers: headers, body: sendsBody ? body : nil)
    }

    static func reply(to request: HTTPRequest, through server: ProxyServer) async -> Reply {
        do throws(TransportError) {
            // What a GET with a body asks for is not in its URL alone: no other request is answered by it.
            if request.method == "GET", request.body != nil {
                let response = try await server.direct.send(request)
                return Reply(response, CacheStatus(forward: .bypass, forwardStatus: response.status))
            }
            let answer = try await server.transport.answer(request)
            if answer.decision.outcome == .unanswerable { return Reply(504, "nothing is stored that may answer", answer.status) }
            return Reply(answer.response, answer.status)
        } catch {
            let status = CacheStatus(forward: .miss, detail: error.kind.rawValue)
            return switch error.kind {
            case .store: Reply(500, "the store of the cache cannot be read or written", CacheStatus(detail: error.kind.rawValue))
            case .timeout: Reply(504, "the upstream does not answer: \(error.kind.rawValue)", status)
            default: Reply(502, "the upstream does not answer: \(error.kind.rawValue)", status)
            }
        }
    }
}
