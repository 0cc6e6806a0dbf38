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
        let kinds = ["bearer", "basic", "api_key", "oauth2", "session", "jwt"]
        guard
            let auth = section(
                value, api.path("auth"), keys: kinds + ["account"],
                instead: [
                    "oauth": "write oauth2", "token": form,
                    "login": "write session: { login: PATH, … }",
                    "digest": "not supported: use one of \(kinds.joined(separator: ", "))",
                ])
        else { return (.none, nil) }
        guard entries.count(where: { $0.key != "account" }) == 1 else {
            report(auth.field, keyMark(auth.field), "expected one of \(kinds.joined(separator: ", ")): \(form)")
            return (.none, nil)
        }
        let account = text(auth, "account")
        return (scheme(auth, api).naming(account: account), account)
    }

    /// - Parameter api: the section with the base URL.
    mutating func scheme(_ auth: Section, _ api: Section) -> Authentication {
        if let bearer = auth["bearer"] {
            return secret(bearer, auth.path("bearer")).map(Authentication.bearer) ?? .none
        }
        if let basic = auth["basic"] { return self.basic(basic, auth.path("basic")) ?? .none }
        if let key = auth["api_key"] { return apiKeys(key, auth.path("api_key")) ?? .none }
        if let session = auth["session"] { return self.session(session, auth.path("session"), api) ?? .none }
        if let token = auth["jwt"] {
            return self.token(token, auth.path("jwt"), isSent: true).map { .jwt($0) } ?? .none
        }
        if let oauth2 = auth["oauth2"] { return self.oauth2(oauth2, auth.path("oauth2")) ?? .none }
        return .none
    }

    // MARK: Secrets

    /// Reads `{ env: NAME }`, `{ file: PATH }` or `{ command: [PROGRAM, ARGUMENT, …] }`.
    mutating func secret(_ value: YAMLValue, _ field: String) -> SecretSource? {
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
    mutating func textOrSecret(_ section: Section, _ key: String) -> SecretSource? {
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

    /// Reads one key or several ones.
    private mutating func apiKeys(_ value: YAMLValue, _ field: String) -> Authentication? {
        guard case .list(let list) = value.content else {
            return apiKey(value, field).map { .apiKey($0.source, $0.place) }
        }
        var keys: [Authentication.APIKeyPlace: SecretSource] = [:], fields: Set<String> = []
        for (index, value) in list.enumerated() {
            guard let key = apiKey(value, "\(field)[\(index)]") else { return nil }
            requireOwn(key.place, among: &fields, "\(field)[\(index)]", value.mark)
            keys[key.place] = key.source
        }
        if list.isEmpty { report(field, value.mark, "missing key: write key: { env: NAME_OF_THE_VARIABLE }") }
        return .apiKeys(keys)
    }

    /// Reports a place of a key or a token that another one has.
    mutating func requireOwn(
        _ place: Authentication.APIKeyPlace, among fields: inout Set<String>, _ field: String, _ mark: Mark?
    ) {
        let name =
            switch place {
            case .header(let field, _): field.lowercased()
            case .query: "?"
            case .cookie(let cookie): "=\(cookie)"
            }
        guard !fields.insert(name).inserted else { return }
        report(
            field, mark,
            name == "?"
                ? "only one key can be a query parameter: write the others under parameters, as ${NAME}"
                : "two keys have the same place: remove one of them")
    }

    private mutating func apiKey(
        _ value: YAMLValue, _ field: String
    ) -> (source: SecretSource, place: Authentication.APIKeyPlace)? {
        guard
            let section = section(
                value, field, keys: ["key", "prefix"] + DescriptionReader.places, required: ["key"],
                example: ["key": "key: { env: NAME_OF_THE_VARIABLE }"])
        else { return nil }
        let key = section["key"].flatMap { secret($0, section.path("key")) }
        guard let place = self.place(of: section), let key else { return nil }
        return (key, place)
    }

    private static let places = ["header", "query", "cookie"]

    /// Reads the place of a token in requests.
    mutating func place(_ value: YAMLValue, _ field: String) -> Authentication.APIKeyPlace? {
        section(value, field, keys: DescriptionReader.places + ["prefix"]).flatMap { self.place(of: $0) }
    }

    private mutating func place(of section: Section) -> Authentication.APIKeyPlace? {
        let places = DescriptionReader.places
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
        switch place {
        case "header": return .header(name, prefix: prefix ?? "")
        case "query": return .query(name)
        default: return .cookie(name)
        }
    }
}
