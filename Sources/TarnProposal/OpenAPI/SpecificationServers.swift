// The base URL of a specification.

import Tarn

/// The base URL of the API: where answers came from, or what `servers` declares.
struct SpecificationServers {
    private(set) var base = "https://api.example.org"
    private(set) var comment = "CHANGE THIS: the specification names no server"
    /// The base URL that `servers` declares; nil without one.
    private(set) var declared: String?

    /// Finds the base URL.
    ///
    /// - Parameters:
    ///   - chosen: the URL that a person has chosen; nil for none.
    ///   - fetched: URLs that answered. Credentials go to their server and to no other.
    init(_ document: OpenAPIDocument, chosen: String? = nil, fetched: [String] = []) {
        let servers = document.root["servers"]?.elements ?? []
        // Servers of the paths replace those of the specification.
        if let url = SpecificationServers.commonServer(of: document) {
            (base, declared) = (url, url)
            comment = "the server of the paths"
        } else if let url = SpecificationServers.first(of: servers, document) {
            (base, declared) = (url, url)
            let names = SpecificationServers.variables(of: servers, document)
            let parts = [
                servers.count > 1 ? "the first of \(servers.count) servers" : nil,
                names.isEmpty ? nil : "with the value that the specification has for \(names.joined(separator: ", "))",
            ]
            comment = parts.compactMap(\.self).joined(separator: ", ")
        } else if let text = servers.lazy.compactMap({ $0["url"]?.scalarText }).first {
            // The path below a server that is not known, such as `/v1`.
            let path = text.hasPrefix("/") && !text.hasPrefix("//") ? text : ""
            base = SpecificationServers.url(base + path, document) ?? base
            comment = "CHANGE THIS: the specification names the server \(YAMLText.comment(text, limit: 200))"
        }
        if let chosen {
            (base, comment) = (chosen.hasSuffix("/") ? String(chosen.dropLast()) : chosen, "")
            return
        }
        let urls = fetched.compactMap { try? HTTPURL($0) }
        guard let other = urls.first(where: { url in declared.map { APIRoot.path(of: url, from: $0) == nil } ?? true })
        else { return }
        base = SpecificationServers.base(of: other, urls, document)
        comment =
            declared.map { "where the answers came from; the specification names \(YAMLText.comment($0, limit: 200))" }
            ?? "where the answers came from"
    }

    /// Returns the first usable server of a list.
    static func first(of servers: [JSONValue], _ document: OpenAPIDocument) -> String? {
        servers.prefix(20).lazy.compactMap { url(of: $0, document) }.first
    }

    private static func url(of server: JSONValue, _ document: OpenAPIDocument) -> String? {
        guard var text = server["url"]?.scalarText else { return nil }
        for variable in server["variables"]?.members ?? [] {
            guard let value = (variable.value["default"] ?? variable.value["enum"]?.elements.first)?.scalarText else {
                continue
            }
            text = text.replacing("{\(variable.key)}", with: value)
        }
        return url(text, document)
    }

    /// Returns the names of the variables in the first usable server of a list.
    private static func variables(of servers: [JSONValue], _ document: OpenAPIDocument) -> [String] {
        guard let server = servers.prefix(20).first(where: { url(of: $0, document) != nil }) else { return [] }
        return (server["variables"]?.members ?? []).prefix(10).compactMap { variable in
            server["url"]?.scalarText?.contains("{\(variable.key)}") == true
                ? "`\(YAMLText.comment(variable.key, limit: 40))`" : nil
        }
    }

    /// Returns the server that all paths declare; nil if they differ.
    private static func commonServer(of document: OpenAPIDocument) -> String? {
        var common: String?
        for path in document.root["paths"]?.members.prefix(5000) ?? [] {
            guard let (item, _) = document.resolve(path.value), let get = item["get"] else { continue }
            let servers = (get["servers"] ?? item["servers"])?.elements ?? []
            guard let url = first(of: servers, document), common == nil || common == url else { return nil }
            common = url
        }
        return common
    }

    /// Returns the base URL from which a URL has a path of the specification; otherwise that of the
    /// URLs alone.
    private static func base(of url: HTTPURL, _ urls: [HTTPURL], _ document: OpenAPIDocument) -> String {
        let segments = url.path.split(separator: "/")
        var longest = 0
        for member in document.root["paths"]?.members.prefix(5000) ?? [] {
            let path = member.key.split(separator: "/")
            guard path.count > longest, path.count <= segments.count, path.contains(where: { !$0.hasPrefix("{") })
            else { continue }
            let isSame = zip(path, segments.suffix(path.count)).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
            if isSame { longest = path.count }
        }
        guard longest > 0 else { return APIRoot.base(of: urls.filter { $0.hasSameOrigin(as: url) }) ?? url.origin }
        return ([url.origin] + segments.dropLast(longest).map(String.init)).joined(separator: "/")
    }

    private static func url(_ text: String, _ document: OpenAPIDocument) -> String? {
        let resolved: HTTPURL?
        if let home = document.url.flatMap({ try? HTTPURL($0) }) {
            resolved = try? home.resolving(text)
        } else {
            resolved = try? HTTPURL(text)
        }
        guard var url = resolved, !url.path.contains("{") else { return nil }
        url.query = nil
        let description = url.description
        return description.hasSuffix("/") ? String(description.dropLast()) : description
    }
}
