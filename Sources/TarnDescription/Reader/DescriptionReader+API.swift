// The `api` section: base URLs, naming, and the header fields of every request.

import TarnHTTP
import TarnImport

extension DescriptionReader {
    /// Reads an API into what is known of it.
    mutating func api(_ value: YAMLValue, _ read: ReadAPI) -> ReadAPI {
        var read = read
        guard
            let section = section(
                value, read.field,
                keys: [
                    "base", "aliases", "follow", "headers", "parameters", "auth", "transport", "pace", "retry",
                    "responses", "cache",
                    "naming",
                ] + DescriptionReader.ruleKeys,
                required: ["base"],
                example: ["base": "base: https://api.example.org"])
        else { return read }
        let base = variableText(section, "base").flatMap { baseURL($0, section.path("base"), section["base"]?.mark) }
        let aliases = baseURLs(section, "aliases"), follows = baseURLs(section, "follow")
        // The header fields of a login are its own.
        currentAPI = read
        let (authentication, account) = authentication(section)
        read.authenticationFields = authentication.headerFields
        read.authenticationParameter = authentication.queryParameter
        currentAPI = read
        let headers = headers(section), parameters = parameters(section, "parameters")
        read.parameters = parameters
        if let secret = authentication.queryParameter, parameters.contains(where: { $0.name == secret }) {
            report(
                at: section.path("parameters.\(secret)"), "auth already sets this parameter: remove one of the two")
        }
        let pace = pace(section), transport = transport(section, pace), retry = retry(section),
            responses = responses(section), cache = caching(section)
        read.mapping.naming = naming(section)
        rules(section, into: &read.mapping)
        guard let base else { return read }
        var api = APIDescription(base: base)
        api.aliases = aliases
        api.follows = follows
        api.headers = headers
        api.parameters = parameters
        api.authentication = authentication
        api.account = account
        api.pace = pace
        api.transport = transport
        api.retry = retry
        api.responses = responses
        api.cache = cache
        read.description = api
        return read
    }

    /// The naming convention: a style, words, suffixes of references, or several of them.
    private mutating func naming(_ section: Section) -> NamingConvention {
        guard let value = section["naming"] else { return NamingConvention() }
        guard case .mapping(let pairs) = value.content else {
            return NamingConvention(word(section, "naming", "naming style") ?? .snakeCase)
        }
        // `style`, `words` and `references` may also be words of the convention.
        let isLong = pairs.contains { pair in
            if case .mapping = pair.value.content { return pair.key == "words" }
            if case .list = pair.value.content { return pair.key == "references" }
            guard case .scalar(let text, _) = pair.value.content else { return false }
            return pair.key == "style" && NamingStyle(rawValue: text) != nil
                || pair.key == "references" && !isWord(text)
        }
        guard isLong else { return NamingConvention(words: words(section, "naming")) }
        guard let long = self.section(value, section.path("naming"), keys: ["style", "words", "references"]) else {
            return NamingConvention()
        }
        return NamingConvention(
            word(long, "style", "naming style") ?? .snakeCase, words: words(long, "words"),
            referenceSuffixes: referenceSuffixes(long))
    }

    private mutating func referenceSuffixes(_ naming: Section) -> [String] {
        texts(naming, "references").compactMap { text, mark in
            if NamingConvention.isReferenceSuffix(text) { return text }
            report(
                naming.path("references"), mark,
                "\"\(text)\" is not a suffix of JSON keys: write the end of such keys, as in references: [_id]")
            return nil
        }
    }

    private mutating func words(_ section: Section, _ key: String) -> [String: String] {
        var words: [String: String] = [:]
        var origins: [String: String] = [:]
        for entry in self.entries(section, key, of: "words in JSON to words in names") {
            let field = "\(section.path(key)).\(entry.key)"
            guard let word = text(entry.value, field) else { continue }
            // A word in capitals is an abbreviation, and names keep it so.
            let plain = word == word.uppercased() ? word.lowercased() : word
            for (text, shown, mark) in [(entry.key, entry.key, entry.keyMark), (plain, word, entry.value.mark)]
            where !isWord(text) {
                report(field, mark, "\"\(shown)\" is not a single word: use lower-case letters a–z and digits")
            }
            if let first = origins.updateValue(entry.key, forKey: plain) {
                report(field, entry.value.mark, "\(first) already becomes \"\(word)\": use a different word for each")
            }
            words[entry.key] = word
        }
        return words
    }

    private func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    // MARK: Base URLs

    private mutating func baseURLs(_ section: Section, _ key: String) -> [String] {
        texts(section, key).compactMap { text, mark in
            let field = section.path(key)
            return variables(in: text, field, mark).flatMap { baseURL($0, field, mark) }
        }
    }

    /// The URL without its trailing `/`; nil if it is invalid, with a problem reported.
    private mutating func baseURL(_ text: String, _ field: String, _ mark: Mark?) -> String? {
        if let message = DescriptionReader.problem(ofBaseURL: text) {
            report(field, mark, message)
            return nil
        }
        var base = text[...]
        while base.hasSuffix("/") { base = base.dropLast() }
        return String(base)
    }

    /// The problem of a base URL, by RFC 3986 §3; nil if there is none.
    ///
    /// Messages do not repeat the URL: it may contain a password.
    private static func problem(ofBaseURL text: String) -> String? {
        let form = "write an absolute URL such as https://api.example.org/v1"
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F }) else {
            return "a URL must be ASCII without spaces: percent-encode other characters, and write hosts as xn--…"
        }
        let lower = text.lowercased()
        guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix) else {
            return "not an http or https URL: \(form)"
        }
        let rest = text.dropFirst(scheme.count)
        if rest.contains("?") { return "a base URL cannot have a query: write it under parameters" }
        if rest.contains("#") { return "a base URL cannot have a fragment: remove the # and everything after it" }
        let authority = rest.prefix { $0 != "/" }
        if authority.contains("@") {
            return "a base URL cannot have a user or password: remove them, and use auth for credentials"
        }
        var host = authority
        if let bracket = authority.lastIndex(of: "]") {
            guard authority.hasPrefix("["), authority.distance(from: authority.startIndex, to: bracket) > 1 else {
                return "invalid host: \(form)"
            }
            host = authority[bracket...].dropFirst()
            guard host.isEmpty || host.hasPrefix(":") else { return "invalid host: \(form)" }
            host = "h" + host
        }
        let parts = host.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty else { return "missing host: \(form)" }
        guard parts.count <= 2, name.utf8.allSatisfy(isHostByte) else { return "invalid host: \(form)" }
        if parts.count == 2,
            UInt16(parts[1]).map({ $0 > 0 }) != true || !parts[1].utf8.allSatisfy({ $0 < 0x3A && $0 >= 0x30 })
        {
            return "the port is not a number from 1 to 65535: \(form)"
        }
        return nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-._~%".utf8.contains(byte)
    }

    // MARK: Header fields and authentication

    /// Reads the header fields of the API or of an endpoint.
    mutating func headers(_ section: Section) -> [TransportHeaders.Field] {
        var fields: [TransportHeaders.Field] = []
        for entry in entries(section, "headers", of: "field names to values") {
            let field = "\(section.path("headers")).\(entry.key)"
            guard let value = text(entry.value, field) else { continue }
            // RFC 9110 §5.1, §5.6.2: a field name is a token.
            if entry.key.isEmpty || !entry.key.utf8.allSatisfy(DescriptionReader.isTokenByte) {
                report(field, entry.keyMark, "invalid name of a header field: use letters, digits and -")
                continue
            }
            if value.contains("${") {
                report(
                    field, entry.value.mark,
                    "environment variables are not replaced in header fields: use auth, which keeps secrets out of the file and of output"
                )
                continue
            }
            // RFC 9110 §5.5: a CR or LF would begin another field.
            if value.unicodeScalars.contains(where: { ($0.value < 0x20 && $0 != "\t") || $0.value == 0x7F }) {
                report(
                    field, entry.value.mark,
                    "the value of a header field cannot contain line breaks or control characters: remove them")
                continue
            }
            let name = entry.key.lowercased()
            if let reason = DescriptionReader.reservedFields[name] {
                report(field, entry.keyMark, "\(reason): remove the line")
                continue
            }
            if fields.contains(where: { $0.name.lowercased() == name }) {
                report(
                    field, entry.keyMark,
                    "duplicate header field (case does not matter): join the values with a comma")
            }
            if currentAPI.authenticationFields.contains(where: { $0.lowercased() == name }) {
                report(field, entry.keyMark, "auth already sets this header field: remove one of the two")
            }
            fields.append(.init(entry.key, value))
        }
        return fields
    }

    /// Fields that frame a message or concern one connection (RFC 9110 §7.6.1, RFC 9112 §6).
    ///
    /// The transport sets them. A contradicting field would make one request pass for two.
    static let reservedFields: [String: String] = {
        let framing = "the transport sets this header field from the body"
        let hop = "this header field belongs to the connection, which the transport controls"
        return [
            "content-length": framing, "transfer-encoding": framing, "trailer": framing, "expect": framing,
            "connection": hop, "keep-alive": hop, "te": hop, "upgrade": hop, "http2-settings": hop,
            "proxy-connection": hop,
            "proxy-authenticate": hop, "proxy-authorization": hop,
            "host": "the host of a request comes from its URL; write it in `base`",
        ]
    }()

    static func isTokenByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
