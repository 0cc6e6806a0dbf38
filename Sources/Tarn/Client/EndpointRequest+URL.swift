// The request of an endpoint whose URL is the value of an attribute: `url: '{item.url}'`.

import Foundation
import TarnHTTP

extension EndpointRequest {
    /// The request for the first page at the URL that the parent record names.
    ///
    /// Parameters are sent to the API only, unless the URL has them already.
    func followedPage(_ template: PathTemplate, _ values: [String: [String]]) throws -> PageRequest {
        guard let name = template.variables.first, let text = values[name]?.first else {
            throw MirrorError.endpoint(place: endpoint.place, message: "no value for the URL \(endpoint.path)")
        }
        let url = try followedURL(text, of: name)
        var query: [(String, String)] = []
        if let target = try? HTTPURL(url), let home = try? HTTPURL(client.api.base),
            target.hasSameOrigin(as: home)
        {
            let written = Set(QueryParameters.values(in: url).map(\.name))
            query = parameters.filter { !endpoint.variables.contains($0.name) && !written.contains($0.name) }
                .map { ($0.name, $0.value) }
        }
        return PageRequest(
            url: QueryParameters.append(query, to: url), body: endpoint.body?.filled(values.compactMapValues(\.first)))
    }

    /// The absolute URL of a text that is below the base URL as it stands; nil for all others.
    ///
    /// Nearly all URLs of an API are of this form. They are not parsed: each is resolved twice for
    /// every record.
    private func plainURL(_ text: String) -> String? {
        let base = client.api.base
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        // Dot segments and hosts in upper case need the whole way.
        guard isPlain, text.utf8.count <= 2048, !text.contains("/."), let scheme = base.range(of: "://") else {
            return nil
        }
        let authority = base[scheme.upperBound...].prefix { $0 != "/" }, path = base[authority.endIndex...]
        guard !base[..<authority.endIndex].utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return nil }
        if text.hasPrefix(base), text.utf8.dropFirst(base.utf8.count).first == UInt8(ascii: "/") { return text }
        guard text.hasPrefix("/"), !text.hasPrefix("//") else { return nil }
        let isBelow = text.hasPrefix(path) && text.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
        return isBelow ? base[..<authority.endIndex] + text : nil
    }

    /// The absolute URL of a record's URL.
    ///
    /// A relative URL is resolved against the base URL. A path that is not below the base URL is
    /// appended to it. A URL below an alias is requested at the base URL.
    ///
    /// - Throws: `MirrorError.endpoint` if it leads to a server that is neither the API nor under
    ///   `follow`.
    func followedURL(_ text: String, of name: String) throws -> String {
        if let url = plainURL(text) { return url }
        let bounds = client.bounds(of: endpoint), base = bounds.base + "/"
        do throws(PaginationError) {
            let url = try bounds.permitted(text, relativeTo: base)
            guard text.hasPrefix("/"), !text.hasPrefix("//"),
                HTTPURL.rebase(link: url, from: [bounds.base], onto: base) == nil
            else { return url }
            return try bounds.permitted(String(text.dropFirst()), relativeTo: base)
        } catch {
            let shown = Redaction.shown(text)
            switch error {
            case .foreign(_, let allowed):
                throw MirrorError.endpoint(
                    place: endpoint.place,
                    message:
                        "{\(name)} leads to another server: \(shown); allowed: "
                        + allowed.map { Redaction.shown($0) }.joined(separator: ", ")
                        + ". If it is the same API, add its base URL to \(client.section).aliases; if it may be requested without credentials, to \(client.section).follow"
                )
            case .malformed(_, let reason):
                throw MirrorError.endpoint(
                    place: endpoint.place, message: "{\(name)} is not a URL: \(shown): \(reason)")
            default: throw error
            }
        }
    }
}
