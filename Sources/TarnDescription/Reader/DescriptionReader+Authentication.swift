// The key `auth` of the `api` section: authentication, and the sources of credentials. Messages
// never repeat values: a misplaced token must not reach a log.

import TarnHTTP

extension DescriptionReader {
    private static let secretForm = "env: NAME_OF_THE_VARIABLE, file: PATH or command: [PROGRAM]"

    /// Reads the scheme, and the name of the account beside it.
    mutating func authentication(_ api: Section) -> (scheme: Authentication, account: String?) {
        guard let value = api["auth"] else { return (.none, nil) }
        let form = "write auth: { bearer: { env: NAME_OF_THE_VARIABLE } }"
        guard case .mapping(let entries) = value.content else {
            report(api, "auth", "expected a mapping: \(form)")
            return (.none, nil)
        }
        let kinds = ["bearer", "basic", "api_key", "oauth2"]
        guard
            let auth = section(
                value, api.path("auth"), keys: kinds + ["account"],
                instead: [
                    "oauth": "write oauth2", "token": form,
                    "digest": "not supported: use one of \(kinds.joined(separator: ", "))",
                ])
        else { return (.none, nil) }
        guard entries.count(where: { $0.key != "account" }) == 1 else {
            report(auth.field, keyMark(auth.field), "expected one of \(kinds.joined(separator: ", ")): \(form)")
            return (.none, nil)
        }
        return (scheme(auth), text(auth, "account"))
    }

    private mutating func scheme(_ auth: Section) -> Authentication {
        if let bearer = auth["bearer"] {
            return secret(bearer, auth.path("bearer")).map(Authentication.bearer) ?? .none
        }
        if let basic = auth["basic"] { return self.basic(basic, auth.path("basic")) ?? .none }
        if let key = auth["api_key"] { return apiKey(key, auth.path("api_key")) ?? .none }
        if let oauth2 = auth["oauth2"] { return self.oauth2(oauth2, auth.path("oauth2")) ?? .none }
        return .none
    }

    // MARK: Secrets

    /// Reads `{ env: NAME }`, `{ file: PATH }` or `{ command: [PROGRAM, ARGUMENT, …] }`.
    private mutating func secret(_ value: YAMLValue, _ field: String) -> SecretSource? {
        guard case .mapping(let entries) = value.content else {
            report(
                field, value.mark,
                "a secret must not be in this file: write \(DescriptionReader.secretForm), and put the secret there"
            )
            return nil
        }
        guard let section = section(value, field, keys: ["env", "file", "command"]) else { return nil }
        guard !section.values.isEmpty else {
            report("\(field).env", section.mark, "missing: write \(DescriptionReader.secretForm)")
            return nil
        }
        guard entries.count == 1 else {
            report(field, value.mark, "more than one source: write \(DescriptionReader.secretForm)")
            return nil
        }
        if section["env"] != nil { return environment(section) }
        if section["file"] != nil {
            return text(section, "file").flatMap { filePath($0, section, "file") }.map(SecretSource.file)
        }
        let words = texts(section, "command").map(\.text)
        guard let program = words.first, !program.isEmpty else {
            if !isReported(section.path("command")) {
                report(section, "command", "missing program: write command: [PROGRAM, ARGUMENT]")
            }
            return nil
        }
        return .command(words)
    }

    private mutating func environment(_ section: Section) -> SecretSource? {
        guard let name = text(section, "env") else { return nil }
        let isName = name.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F
        }
        guard isName, name.utf8.first.map({ !(0x30...0x39).contains($0) }) == true else {
            report(
                section, "env",
                "invalid name of an environment variable: use letters, digits and _, such as FORGE_TOKEN")
            return nil
        }
        return .environment(name)
    }

    /// Resolves a path against the directory of the description file.
    mutating func filePath(_ path: String, _ section: Section, _ key: String) -> String? {
        guard !path.hasPrefix("~") else {
            report(
                section, key,
                "~ is not expanded: write an absolute path, or one relative to this file")
            return nil
        }
        return DescriptionFolder.path(path, besides: file)
    }

    /// Reads a value that need not be secret, such as a user's name: a text or a secret source.
    private mutating func textOrSecret(_ section: Section, _ key: String) -> SecretSource? {
        guard let value = section[key] else { return nil }
        if case .mapping = value.content { return secret(value, section.path(key)) }
        return text(section, key).map { .value(Secret($0)) }
    }

    // MARK: Kinds

    private mutating func basic(_ value: YAMLValue, _ field: String) -> Authentication? {
        guard
            let section = section(
                value, field, keys: ["user", "password"], required: ["user", "password"],
                example: ["user": "user: ada", "password": "password: { env: NAME_OF_THE_VARIABLE }"])
        else { return nil }
        let user = textOrSecret(section, "user"),
            password = section["password"].flatMap { secret($0, section.path("password")) }
        if case .value(let name) = user, name.exposed.contains(":") {
            report(
                section, "user",
                "a user name cannot contain a colon, which separates it from the password (RFC 7617 §2)")
        }
        guard let user, let password else { return nil }
        return .basic(user: user, password: password)
    }

    private mutating func apiKey(_ value: YAMLValue, _ field: String) -> Authentication? {
        let places = ["header", "query", "cookie"]
        guard
            let section = section(
                value, field, keys: ["key", "prefix"] + places, required: ["key"],
                example: ["key": "key: { env: NAME_OF_THE_VARIABLE }"])
        else { return nil }
        let key = section["key"].flatMap { secret($0, section.path("key")) }
        let named = places.filter { section[$0] != nil }
        guard named.count == 1, let place = named.first else {
            report(
                section.field, section.mark,
                "missing location of the key (header, query or cookie): write header: X-Api-Key")
            return nil
        }
        let prefix = section["prefix"].flatMap { text($0, section.path("prefix")) }
        if prefix != nil, place != "header" {
            report(section, "prefix", "only a header field can have a prefix: remove the line")
        }
        guard let name = text(section, place) else { return nil }
        if place != "query", name.isEmpty || !name.utf8.allSatisfy(DescriptionReader.isTokenByte) {
            report(
                section, place,
                "invalid name of a \(place == "header" ? "header field" : "cookie"): use letters, digits, - and _"
            )
            return nil
        }
        guard let key else { return nil }
        switch place {
        case "header": return .apiKey(key, .header(name, prefix: prefix ?? ""))
        case "query": return .apiKey(key, .query(name))
        default: return .apiKey(key, .cookie(name))
        }
    }

    private mutating func oauth2(_ value: YAMLValue, _ field: String) -> Authentication? {
        guard
            let section = section(
                value, field,
                keys: [
                    "token_url", "client_id", "client_secret", "client_auth", "refresh_token", "scopes", "params",
                    "account",
                ],
                required: ["token_url", "client_id"],
                example: ["token_url": "token_url: https://auth.example.org/token", "client_id": "client_id: tarn"])
        else { return nil }
        let url = text(section, "token_url")
        if let url, let problem = OAuth2.problem(ofTokenURL: url) { report(section, "token_url", problem) }
        let client = textOrSecret(section, "client_id")
        let clientSecret = section["client_secret"].flatMap { secret($0, section.path("client_secret")) }
        let refresh = section["refresh_token"].flatMap { secret($0, section.path("refresh_token")) }
        if section["client_secret"] == nil, section["refresh_token"] == nil {
            report(
                section.path("client_secret"), section.mark,
                "missing: write client_secret: { env: … }, or refresh_token: { file: … }")
        }
        let parameters = entries(section, "params", of: "names to values").compactMap { entry in
            text(entry.value, "\(section.path("params")).\(entry.key)").map { TransportBody.FormField(entry.key, $0) }
        }
        let scopes = texts(section, "scopes").map(\.text)
        let clientAuthentication: OAuth2.ClientAuthentication? = word(
            section, "client_auth", "client authentication")
        let account = text(section, "account")
        guard let url, let client else { return nil }
        var settings = OAuth2(
            tokenURL: url, clientID: client, clientSecret: clientSecret, scopes: scopes, parameters: parameters,
            account: account)
        if let clientAuthentication { settings.clientAuthentication = clientAuthentication }
        if let refresh { settings.grant = .refreshToken(refresh) }
        return .oauth2(settings)
    }
}
