// Credentials from the security schemes of a specification.

import Tarn

/// The authentication that `securitySchemes` declares.
enum SpecificationSecurity {
    /// Returns the value of `auth`, and its explanation.
    static func authentication(_ document: OpenAPIDocument) -> (text: String?, comment: String) {
        let schemes = document.root.value(at: ["components", "securitySchemes"])?.members ?? []
        guard !schemes.isEmpty else { return (nil, "") }
        // The schemes that the whole API requires come first, or those that most of its lists do.
        let common = document.root["security"]?.elements ?? []
        let requirements = common.isEmpty ? mostFrequentSecurity(document) : common
        let required = requirements.flatMap(\.members).map(\.key)
        let order = schemes.enumerated().sorted { a, b in
            let places = [a, b].map { required.firstIndex(of: $0.element.key) ?? required.count }
            return (places[0], a.offset) < (places[1], b.offset)
        }.map(\.element)
        // The schemes of one requirement are needed together.
        let together = (requirements.first?.members ?? []).map(\.key)
        let all =
            together.count > 1
            ? "; \(together.prefix(4).map { YAMLText.comment($0, limit: 60) }.joined(separator: " and ")) are needed together: add what the others send under `headers` or `with`"
            : ""
        let prefix = variablePrefix(document)
        if together.count > 1, let text = keys(together, document, prefix: prefix),
            ProposalCheck.problem(of: ProposedEndpoint(name: "records", path: "/"), authentication: text) == nil
        {
            let names = together.prefix(4).map { YAMLText.comment($0, limit: 60) }.joined(separator: " and ")
            return (
                text, "by the schemes \(names), which are needed together: the secrets are read from the environment"
            )
        }
        for scheme in order {
            guard let (value, _) = document.resolve(scheme.value) else { continue }
            let scopes = scopes(of: scheme.key, document)
            if let text = authentication(value, scopes: scopes, prefix: prefix),
                ProposalCheck.problem(of: ProposedEndpoint(name: "records", path: "/"), authentication: text) == nil
            {
                let isGuess = isAuthorization(value) && wordBeforeKey(value) == nil
                let form =
                    isGuess && value["description"]?.scalarText?.lowercased().contains("bearer") != true
                    ? "; the specification does not say what is before the key: if it is not `Bearer`, write `api_key: { key: …, header: Authorization, prefix: 'Token ' }`"
                    : ""
                let others = schemes.count > 1 ? "; the specification has \(schemes.count) schemes" : ""
                let isSignIn = text.contains("device_url: ") || text.contains("authorize_url: ")
                let source =
                    isSignIn
                    ? "register a client there, put its identifier into the environment, and sign in with `tarn login`; add client_secret if the client has one"
                    : "the secret is read from the environment"
                return (
                    text, "by the scheme \(YAMLText.comment(scheme.key, limit: 60))\(others)\(form)\(all): \(source)"
                )
            }
        }
        return (nil, "The specification declares a security scheme that tarn does not know: see `auth`.")
    }

    /// Returns the requirements that most GETs declare, of those that declare any.
    private static func mostFrequentSecurity(_ document: OpenAPIDocument) -> [JSONValue] {
        var counts: [JSONValue: Int] = [:], order: [JSONValue] = []
        for path in document.root["paths"]?.members ?? [] {
            guard let security = document.resolve(path.value)?.value["get"]?["security"], !security.elements.isEmpty
            else { continue }
            if counts[security] == nil { order.append(security) }
            counts[security, default: 0] += 1
        }
        let most = counts.values.max()
        return order.first { counts[$0] == most }?.elements ?? []
    }

    /// Whether a scheme is a key in the header field `Authorization`.
    ///
    /// A word such as `Bearer` is before the key, and OpenAPI has no place for it.
    private static func isAuthorization(_ scheme: JSONValue) -> Bool {
        scheme["type"]?.scalarText == "apiKey" && scheme["in"]?.scalarText == "header"
            && scheme["name"]?.scalarText?.lowercased() == "authorization"
    }

    /// Returns the word before the key that the description of a scheme quotes, or has before a
    /// placeholder; nil for `Bearer`, and without one.
    private static func wordBeforeKey(_ scheme: JSONValue) -> String? {
        guard let text = scheme["description"]?.scalarText?.prefix(2000) else { return nil }
        return ["Token", "token", "JWT", "ApiKey", "Api-Key", "APIKey", "Key", "SSWS"].first { word in
            let forms = ["\"\(word)\"", "'\(word)'", "`\(word)`", "\"\(word) ", "'\(word) ", "`\(word) "]
            return (forms + ["\(word) <", "\(word) {", "\(word) ["]).contains { text.contains($0) }
        }
    }

    /// Returns the keys of a requirement; nil if it has another scheme, too.
    private static func keys(_ names: [String], _ document: OpenAPIDocument, prefix: String) -> String? {
        var keys: [String] = []
        for name in names {
            guard let found = document.root.value(at: ["components", "securitySchemes", name]),
                let scheme = document.resolve(found)?.value, scheme["type"]?.scalarText == "apiKey",
                let field = scheme["name"]?.scalarText, let place = scheme["in"]?.scalarText,
                ["header", "query", "cookie"].contains(place), !isAuthorization(scheme)
            else { return nil }
            let words = EnglishName.words(of: field).joined(separator: "_").uppercased()
            keys.append("{ key: { env: \(prefix)_\(words) }, \(place): \(YAMLText.scalar(field)) }")
        }
        return "{ api_key: [\(keys.joined(separator: ", "))] }"
    }

    /// Returns the login of an OAuth 2.0 flow with a password (RFC 6749 §4.3), as FastAPI has it;
    /// nil without one.
    private static func login(_ scheme: JSONValue, prefix: String) -> String? {
        guard let url = scheme.value(at: ["flows", "password", "tokenUrl"])?.scalarText, !url.isEmpty else {
            return nil
        }
        let isURL = url.hasPrefix("https://") || url.hasPrefix("/")
        guard isURL || !url.contains("://") else { return nil }
        return
            "{ session: { login: \(YAMLText.scalar(isURL ? url : "/" + url)), form: { grant_type: password, username: { env: \(prefix)_USER }, password: { env: \(prefix)_PASSWORD } }, token: access_token, expires: expires_in } }"
    }

    /// Returns the sign-in of a person, by a code for a device or in a browser; nil without one.
    ///
    /// - Parameter scopes: the scopes that the lists need: a person is not asked for others.
    private static func signIn(_ scheme: JSONValue, scopes: [String], prefix: String) -> String? {
        // OpenAPI 3.2 has the flow of devices.
        let flows = [
            ("deviceAuthorization", "deviceAuthorizationUrl", "device_url"),
            ("authorizationCode", "authorizationUrl", "authorize_url"),
        ]
        var urls: [String] = [], token: String?
        for (name, member, key) in flows {
            guard let flow = scheme.value(at: ["flows", name]), let url = server(flow[member]),
                let tokenURL = server(flow["tokenUrl"]), token == nil || token == tokenURL
            else { continue }
            token = tokenURL
            urls.append("\(key): \(url)")
        }
        guard let token else { return nil }
        return
            "{ oauth2: { token_url: \(token), \(urls.joined(separator: ", ")), client_id: { env: \(prefix)_CLIENT_ID }\(list(scopes)) } }"
    }

    /// Returns the scopes that GETs require of a scheme, in the order of the paths.
    private static func scopes(of scheme: String, _ document: OpenAPIDocument) -> [String] {
        var scopes: [String] = []
        let operations = (document.root["paths"]?.members ?? []).compactMap {
            document.resolve($0.value)?.value["get"]?["security"]
        }
        for requirement in operations.flatMap(\.elements) + (document.root["security"]?.elements ?? []) {
            for scope in requirement[scheme]?.elements.compactMap(\.scalarText) ?? [] where !scopes.contains(scope) {
                scopes.append(scope)
            }
        }
        return scopes
    }

    /// Returns the URL of an authorization server for YAML; nil unless it is absolute and `https`.
    private static func server(_ value: JSONValue?) -> String? {
        guard let url = value?.scalarText, (try? HTTPURL(url)) != nil, url.hasPrefix("https://") else { return nil }
        return YAMLText.scalar(url)
    }

    private static func list(_ scopes: [String]) -> String {
        scopes.isEmpty ? "" : ", scopes: \(YAMLText.list(Array(scopes.prefix(20))))"
    }

    private static func authentication(_ scheme: JSONValue, scopes: [String], prefix: String) -> String? {
        switch scheme["type"]?.scalarText {
        case "http":
            switch scheme["scheme"]?.scalarText?.lowercased() {
            case "bearer": return "{ bearer: { env: \(prefix)_TOKEN } }"
            case "basic":
                return "{ basic: { user: { env: \(prefix)_USER }, password: { env: \(prefix)_PASSWORD } } }"
            default: return nil
            }
        case "apiKey":
            guard let name = scheme["name"]?.scalarText, let place = scheme["in"]?.scalarText,
                ["header", "query", "cookie"].contains(place)
            else { return nil }
            if isAuthorization(scheme) {
                guard let word = wordBeforeKey(scheme) else { return "{ bearer: { env: \(prefix)_TOKEN } }" }
                return
                    "{ api_key: { key: { env: \(prefix)_KEY }, header: Authorization, prefix: \(YAMLText.scalar(word + " ")) } }"
            }
            return "{ api_key: { key: { env: \(prefix)_KEY }, \(place): \(YAMLText.scalar(name)) } }"
        case "oauth2":
            guard let flow = scheme.value(at: ["flows", "clientCredentials"]), let url = server(flow["tokenUrl"])
            else {
                return login(scheme, prefix: prefix) ?? signIn(scheme, scopes: scopes, prefix: prefix)
                    ?? "{ bearer: { env: \(prefix)_TOKEN } }"
            }
            let declared = flow["scopes"]?.members.map(\.key) ?? []
            return
                "{ oauth2: { token_url: \(url), client_id: { env: \(prefix)_CLIENT_ID }, client_secret: { env: \(prefix)_CLIENT_SECRET }\(list(declared)) } }"
        case "openIdConnect": return "{ bearer: { env: \(prefix)_TOKEN } }"
        default: return nil
        }
    }

    /// The beginning of the names of environment variables: the title in capitals.
    private static func variablePrefix(_ document: OpenAPIDocument) -> String {
        let title = document.root.value(at: ["info", "title"])?.scalarText ?? ""
        let words = EnglishName.words(of: title).filter { !["api", "the", "rest", "v1", "v2"].contains($0) }
        let name = words.prefix(2).joined(separator: "_").uppercased()
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return "API" }
        return String(name.prefix(30))
    }
}
