// The requests of a session, and the tokens of the response to its login. Pure.

import Foundation

extension SessionLogin {
    /// The tokens of a session, and its end.
    struct Session: Sendable {
        var tokens: [Secret]
        var endsAt: Date?
        /// The URL of the request that ends the session; nil for none.
        var logout: TransportRequest?
    }

    /// The address of the API: its base URL, and the one by which it is reached.
    struct Address: Sendable, Hashable {
        var base = ""
        var moved: String?

        /// Returns the URL of a path below the base URL, or of an absolute URL.
        func url(_ text: String) -> String {
            let isPath = text.utf8.first == UInt8(ascii: "/") || text.utf8.first == UInt8(ascii: "?")
            let url = isPath ? base + text : text
            return moved.flatMap { HTTPURL.rebase(link: url, from: [base], onto: $0) } ?? url
        }
    }

    /// Returns the login, without its own authentication.
    ///
    /// - Parameter secrets: the secrets of the body.
    func request(_ secrets: [Secret], at address: Address) -> TransportRequest {
        var request = TransportRequest(
            method: method, url: address.url(url), headers: TransportHeaders([.init("Accept", "application/json")]))
        let content: TransportBody?
        switch body {
        case .json(let value): content = .json(value.filled(secrets))
        case .form(let fields):
            content = .form(SecretValue.fields(fields, secrets))
        case nil: content = nil
        }
        if let content {
            request.headers["Content-Type"] = content.contentType
            request.body = Array(content.text.utf8)
        } else if method == "POST" {
            // Some servers refuse a POST without a length (411).
            request.body = []
        }
        for field in headers { request.headers[field.name] = field.value }
        request.responseLimits = OAuth2.responseLimits
        // Many logins answer with a cookie and lead to a page.
        request.returnsRedirects = true
        return request
    }

    /// Parses the response to the login.
    ///
    /// - Parameters:
    ///   - shown: the response without the secrets of the login, for the reason of a refusal.
    func session(
        from response: TransportResponse, shown: TransportResponse, at address: Address, asked: Date
    ) -> Result<Session, OAuth2Refusal> {
        guard (200..<400).contains(response.status) else {
            var refusal = OAuth2Refusal(reason: "returned \(response.status)\(SessionLogin.reason(of: shown))")
            if RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers)) {
                refusal.kind = [403, 429].contains(response.status) ? .rateLimit : .protocol
            }
            return .failure(refusal)
        }
        // The limit holds even if the transport ignores it: values take many times its memory.
        let isShort = response.body.count <= SessionLogin.responseLimit
        let body = isShort ? JSONBody(parsing: response.body.withoutMark) : nil
        var tokens: [Secret] = [], maximumAge: Double?
        for token in self.tokens {
            let text: String?, place: String
            switch token.source {
            case .body(let path):
                let plain = path == "$" && body == nil && isShort ? response.body.withoutMark : []
                (text, place) = (
                    SessionLogin.token(at: path, in: body)
                        ?? String(decoding: plain, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines),
                    "token at `\(path)`"
                )
            case .header(let name): (text, place) = (response.headers[name], "header field \(name)")
            case .cookie(let name):
                let cookie = SessionLogin.cookie(name, of: response)
                (text, place) = (cookie?.value, "cookie \(name)")
                maximumAge = cookie?.maximumAge ?? maximumAge
            }
            guard let text, !text.isEmpty else {
                let status = (300..<400).contains(response.status) ? " (\(response.status))" : ""
                return .failure(OAuth2Refusal(reason: "returned no \(place)\(status)\(SessionLogin.reason(of: shown))"))
            }
            let isCookie = if case .cookie = token.place { true } else { false }
            // Some servers answer with the whole field that they expect: `Bearer …`.
            let isField = if case (.header, .header) = (token.source, token.place) { true } else { false }
            guard text.unicodeScalars.allSatisfy({ $0.value >= (isField ? 0x20 : 0x21) && $0.value < 0x7F }),
                !isCookie || !text.contains(where: { ";,".contains($0) })
            else {
                return .failure(
                    OAuth2Refusal(reason: "returned a token with characters that a header field cannot contain"))
            }
            tokens.append(Secret(text))
        }
        let declared = expires.flatMap { SessionLogin.value(at: $0, in: body)?.scalarText }.flatMap {
            RateLimit.reset($0, response.headers, now: asked)?.timeIntervalSince(asked)
        }
        let length = [declared, lifetime?.inSeconds, maximumAge].compactMap(\.self).filter { $0 > 0 }.min()
        return .success(
            Session(
                tokens: tokens,
                endsAt: length.map {
                    asked.addingTimeInterval(max($0 - SessionLogin.leeway, $0 / 2, SessionLogin.shortestUse))
                },
                logout: logoutRequest(after: response, at: address)))
    }

    /// Returns the request that ends the session, without its tokens; nil for none.
    ///
    /// The server may name it: then it is on the server of the login.
    private func logoutRequest(after response: TransportResponse, at address: Address) -> TransportRequest? {
        var request: TransportRequest
        switch logout {
        case .request(let method, let url):
            guard SessionLogin.problem(ofURL: url, base: address.base) == nil else { return nil }
            request = TransportRequest(method: method, url: address.url(url))
        case .location(let method, let header):
            guard let text = response.headers[header], let login = try? HTTPURL(address.url(url)),
                let url = try? login.resolving(text), url.hasSameOrigin(as: login)
            else { return nil }
            request = TransportRequest(method: method, url: url.description)
        case nil: return nil
        }
        // Some servers refuse a POST without a length (411).
        if request.method == "POST" { request.body = [] }
        request.headers["Accept"] = "application/json"
        request.responseLimits = OAuth2.responseLimits
        request.returnsRedirects = true
        return request
    }

    // MARK: Reading

    /// Returns the value at a path such as `data.tokens[0].text`; the whole body for `$`.
    static func value(at path: String, in body: JSONBody?) -> JSONBody? {
        guard path != "$" else { return body }
        let keys = path.replacing("[", with: ".[").split(separator: ".").map(String.init)
        return body?[keys.first == "$" ? Array(keys.dropFirst()) : keys]
    }

    /// Returns the text or the number at a path: no server has a boolean for a token.
    private static func token(at path: String, in body: JSONBody?) -> String? {
        switch value(at: path, in: body) {
        case .string(let text), .number(let text): text
        default: nil
        }
    }

    /// Returns the value and the lifetime of a cookie that a response sets (RFC 6265 §5.2).
    private static func cookie(
        _ name: String, of response: TransportResponse
    ) -> (value: String, maximumAge: Double?)? {
        for field in response.headers.all("Set-Cookie").reversed() {
            let parts = field.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let pair = parts.first, let equals = pair.firstIndex(of: "="), pair[..<equals] == name else {
                continue
            }
            let age = parts.lazy.compactMap { part -> Double? in
                guard part.lowercased().hasPrefix("max-age=") else { return nil }
                return Double(part.dropFirst("max-age=".count)).flatMap { $0.isFinite ? $0 : nil }
            }.first
            // The server removes the cookie (RFC 6265 §5.3).
            if let age, age <= 0 { return nil }
            return (String(pair[equals...].dropFirst()), age)
        }
        return nil
    }

    /// Returns the reason that a refusal states, behind a colon; empty without one.
    private static func reason(of response: TransportResponse) -> String {
        let body = JSONBody(parsing: Array(response.body.prefix(64 << 10)).withoutMark)
        let paths = [
            "error_description", "message", "detail", "title", "errorMessage", "error.message", "error.data.message",
            "error.data", "error.detail", "error", "errors[0].message", "errors[0].detail", "errors[0]", "Message",
            "reason", "msg",
        ]
        let text = paths.lazy.compactMap { path -> String? in
            if case .string(let text)? = value(at: path, in: body), !text.isEmpty { text } else { nil }
        }.first
        let line = text?.split { $0.isWhitespace }.joined(separator: " ")
        return line.map { ": " + String($0.unicodeScalars.prefix(200)) } ?? ""
    }
}
