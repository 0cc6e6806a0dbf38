// The keys `session` and `jwt` of `auth`: logins, and tokens that the client signs.

import TarnHTTP

extension DescriptionReader {
    /// The keys of a token that the client signs.
    private static let tokenKeys = [
        "key", "algorithm", "key_form", "key_id", "passphrase", "claims", "fields", "lifetime",
    ]

    /// Reads a token that the client signs.
    ///
    /// - Parameter isSent: whether requests carry it; otherwise another server exchanges it.
    mutating func token(_ value: YAMLValue, _ field: String, isSent: Bool) -> JSONWebToken? {
        guard
            let section = section(
                value, field, keys: DescriptionReader.tokenKeys + (isSent ? ["send"] : []), required: ["key"],
                example: ["key": "key: { file: PATH }"])
        else { return nil }
        let key = section["key"].flatMap { secret($0, section.path("key")) }
        let algorithm: JSONWebToken.Algorithm? = word(section, "algorithm", "algorithm")
        let form: JSONWebToken.KeyForm? = word(section, "key_form", "form of a key")
        let isShared = algorithm?.isShared ?? false
        if form != nil, !isShared, !isReported(section.path("algorithm")) {
            report(section, "key_form", "only a shared key has a form: write algorithm: HS256, or remove the line")
        }
        let passphrase = section["passphrase"].flatMap { secret($0, section.path("passphrase")) }
        if passphrase != nil, isShared {
            report(section, "passphrase", "a shared key has no passphrase: remove the line")
        }
        var header = values(section, "fields")
        if section["key_id"] != nil { header["kid"] = textOrSecret(section, "key_id").map(SecretValue.init) }
        let claims = values(section, "claims")
        let place = section["send"].flatMap { self.place($0, section.path("send")) }
        var lifetime = Duration.seconds(300)
        if section["lifetime"] != nil {
            lifetime = seconds(section, "lifetime") ?? lifetime
            if lifetime < .seconds(60) { report(section, "lifetime", "a token needs 60 seconds or more") }
        }
        guard let key else { return nil }
        return JSONWebToken(
            algorithm ?? .rs256, key: key, keyForm: form ?? .text, passphrase: passphrase, header: header,
            claims: claims, lifetime: lifetime, place: place ?? .bearer)
    }

    /// Reads a login.
    mutating func session(_ value: YAMLValue, _ field: String, _ api: Section) -> Authentication? {
        guard
            let section = section(
                value, field,
                keys: ["login", "method", "headers", "json", "form", "auth", "token", "expires", "lifetime", "logout"],
                required: ["login", "token"],
                instead: ["body": "write json or form", "url": "write login: PATH"],
                example: ["login": "login: /auth/login", "token": "token: access_token"])
        else { return nil }
        let url = loginURL(section, "login", api)
        let method = text(section, "method") ?? "POST"
        if !["GET", "POST", "PUT"].contains(method) {
            report(section, "method", Spelling.unknown("method", method, among: ["GET", "POST", "PUT"]))
        }
        var body: SessionLogin.Body?
        if let json = section["json"] { body = .json(self.value(json, section.path("json"), isLogin: true)) }
        if section["form"] != nil {
            if body != nil { report(section, "form", "a request has one body: write json or form") }
            body = .form(values(section, "form", isLogin: true))
        }
        if method == "GET", body != nil {
            report(section, "method", "a GET has no body: write method: POST, or remove the body")
        }
        let authentication = section["auth"].flatMap { ownAuthentication($0, section.path("auth")) } ?? .none
        let headers = self.headers(section)
        let tokens = tokens(section)
        let expires = text(section, "expires"), lifetime = seconds(section, "lifetime")
        let logout = section["logout"].flatMap { self.logout($0, section.path("logout"), api) }
        guard let url, !tokens.isEmpty else { return nil }
        return .session(
            SessionLogin(
                url, method: method, headers: headers, body: body, authentication: authentication, tokens: tokens,
                expires: expires, lifetime: lifetime, logout: logout))
    }

    /// Reads a path below the base URL, or the URL of a server that may get secrets.
    private mutating func loginURL(_ section: Section, _ key: String, _ api: Section) -> String? {
        guard let url = text(section, key) else { return nil }
        // The base URL may have variables, which are replaced elsewhere.
        var base = ""
        if let value = api["base"], case .scalar(let text, _) = value.content { base = text }
        if let problem = SessionLogin.problem(ofURL: url, base: base) { report(section, key, problem) }
        return url
    }

    /// Reads the authentication of a login, which needs no login itself.
    private mutating func ownAuthentication(_ value: YAMLValue, _ field: String) -> Authentication? {
        let kinds = ["bearer", "basic", "api_key", "jwt"]
        guard
            let auth = section(
                value, field, keys: kinds,
                instead: [
                    "oauth2": "a login has no OAuth 2.0 of its own: write oauth2 instead of session",
                    "session": "a login has no session of its own",
                ])
        else { return nil }
        guard auth.values.count == 1 else {
            if !isReported(field) {
                report(field, keyMark(field), "expected one of \(kinds.joined(separator: ", "))")
            }
            return nil
        }
        return scheme(auth, auth)
    }

    /// Reads one token or several ones.
    private mutating func tokens(_ section: Section) -> [SessionLogin.Token] {
        guard let value = section["token"] else { return [] }
        let field = section.path("token")
        guard case .list(let list) = value.content else { return [sessionToken(value, field)].compactMap(\.self) }
        if list.isEmpty { report(section, "token", "missing: write token: access_token") }
        var tokens: [SessionLogin.Token] = [], places: Set<String> = []
        for (index, value) in list.enumerated() {
            guard let token = sessionToken(value, "\(field)[\(index)]") else { continue }
            requireOwn(token.place, among: &places, "\(field)[\(index)]", value.mark)
            tokens.append(token)
        }
        return tokens
    }

    private mutating func sessionToken(_ value: YAMLValue, _ field: String) -> SessionLogin.Token? {
        guard case .mapping = value.content else {
            return text(value, field).map { SessionLogin.Token(.body(path: $0)) }
        }
        let sources = ["path", "header", "cookie"]
        guard let section = section(value, field, keys: sources + ["send"]) else { return nil }
        let named = sources.filter { section[$0] != nil }
        guard named.count == 1, let key = named.first else {
            report(
                field, value.mark, "expected one place in the answer to the login: path, header or cookie")
            return nil
        }
        let place = section["send"].flatMap { self.place($0, section.path("send")) }
        guard let name = text(section, key) else { return nil }
        if key != "path", name.isEmpty || !name.utf8.allSatisfy(DescriptionReader.isTokenByte) {
            report(
                section, key,
                "invalid name of a \(key == "header" ? "header field" : "cookie"): use letters, digits, - and _")
            return nil
        }
        switch key {
        case "path": return .init(.body(path: name), place: place)
        case "header": return .init(.header(name), place: place)
        default: return .init(.cookie(name), place: place)
        }
    }

    private mutating func logout(_ value: YAMLValue, _ field: String, _ api: Section) -> SessionLogin.Logout? {
        guard let section = section(value, field, keys: ["method", "path", "header"]) else { return nil }
        let method = text(section, "method")
        if let method, !method.utf8.allSatisfy(DescriptionReader.isTokenByte) || method != method.uppercased() {
            report(section, "method", "not a method: write it in upper case, such as DELETE")
        }
        guard (section["path"] == nil) != (section["header"] == nil) else {
            report(field, value.mark, "write path: PATH, or header: FIELD for a URL that the login answers with")
            return nil
        }
        if section["path"] != nil {
            return loginURL(section, "path", api).map { .request(method: method ?? "POST", url: $0) }
        }
        return text(section, "header").map { .location(method: method ?? "DELETE", header: $0) }
    }

    // MARK: Values with secrets

    /// Reads a mapping from names to values in which `{ env: NAME }` is a secret.
    ///
    /// - Parameter isLogin: whether texts under names of secrets are refused.
    private mutating func values(_ section: Section, _ key: String, isLogin: Bool = false) -> [String: SecretValue] {
        var values: [String: SecretValue] = [:]
        for entry in entries(section, key, of: "names to values") {
            values[entry.key] = value(entry, "\(section.path(key)).\(entry.key)", isLogin)
        }
        return values
    }

    private mutating func value(_ entry: YAMLValue.Entry, _ field: String, _ isLogin: Bool) -> SecretValue {
        if isLogin, case .scalar = entry.value.content, case .string(let text) = json(entry.value), !text.isEmpty,
            Redaction.isSecret(entry.key)
        {
            report(
                field, entry.value.mark,
                "a secret must not be in this file: write { env: NAME_OF_THE_VARIABLE }, and put the secret there")
        }
        return value(entry.value, field, isLogin: isLogin)
    }

    private mutating func value(_ value: YAMLValue, _ field: String, isLogin: Bool) -> SecretValue {
        switch value.content {
        case .scalar: return .json(json(value))
        case .list(let list):
            return .array(list.enumerated().map { self.value($0.element, "\(field)[\($0.offset)]", isLogin: isLogin) })
        case .mapping(let entries):
            if entries.count == 1, let key = entries.first?.key, ["env", "file", "command"].contains(key) {
                return secret(value, field).map(SecretValue.secret) ?? .json(.null)
            }
            var members: [String: SecretValue] = [:]
            for entry in entries { members[entry.key] = self.value(entry, "\(field).\(entry.key)", isLogin) }
            return .object(members)
        }
    }
}

extension SecretValue {
    /// Creates the value of a text that may be a secret.
    fileprivate init(_ source: SecretSource) {
        if case .value(let text) = source { self = .json(.string(text.exposed)) } else { self = .secret(source) }
    }
}
