// The base URL of a specification.

import Tarn

/// The base URL that `servers` declares.
struct SpecificationServers {
    private(set) var base = "https://api.example.org"
    private(set) var comment = "CHANGE THIS: the specification names no server"

    init(_ document: OpenAPIDocument) {
        let servers = document.root["servers"]?.elements ?? []
        for server in servers.prefix(20) {
            guard var text = server["url"]?.scalarText else { continue }
            for variable in server["variables"]?.members ?? [] {
                guard let value = variable.value["default"]?.scalarText else { continue }
                text = text.replacing("{\(variable.key)}", with: value)
            }
            guard let url = SpecificationServers.url(text, document) else { continue }
            base = url
            let others = servers.count - 1
            comment = others > 0 ? "the first of \(servers.count) servers" : ""
            return
        }
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
