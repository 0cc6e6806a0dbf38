// The base URL of an API from the URLs of its lists.

import Tarn

/// Finds the base URL of several URLs.
enum APIRoot {
    /// Segments at the beginning of a path that belong to the API as a whole.
    private static func isRoot(_ segment: Substring) -> Bool {
        let text = segment.lowercased()
        if ["api", "rest", "services", "wp-json", "public", "apis", "open", "json", "latest"].contains(text) {
            return true
        }
        let digits = text.hasPrefix("v") ? text.dropFirst() : text[...]
        return !digits.isEmpty && digits.utf8.count <= 10
            && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }

    /// Returns the base URL: the origin, and the segments that all paths begin with and that look
    /// like the root of an API.
    static func base(of urls: [HTTPURL]) -> String? {
        guard let first = urls.first else { return nil }
        var prefix: [Substring] = []
        for (index, segment) in first.path.split(separator: "/").enumerated() {
            let isShared = urls.allSatisfy { url in
                let segments = url.path.split(separator: "/")
                return segments.count > index + 1 && segments[index] == segment
            }
            guard isShared, isRoot(segment) else { break }
            prefix.append(segment)
        }
        return ([first.origin] + prefix.map(String.init)).joined(separator: "/")
    }

    /// Returns the path of a URL from a base; nil if the URL is not below it.
    static func path(of url: HTTPURL, from base: String) -> String? {
        guard let root = try? HTTPURL(base), root.hasSameOrigin(as: url) else { return nil }
        let prefix = root.path == "/" ? "" : root.path
        guard url.path.hasPrefix(prefix) else { return nil }
        let rest = String(url.path.dropFirst(prefix.count))
        return rest.hasPrefix("/") ? rest : rest.isEmpty ? "/" : nil
    }

    /// Returns the base URL that the URLs inside of records suggest; nil without any.
    static func base(in objects: [JSONValue]) -> String? {
        for object in objects.prefix(20) {
            guard case .object(let members) = object else { continue }
            for member in members {
                if let text = member.value.scalarText, text.hasPrefix("http"), let url = try? HTTPURL(text),
                    url.host.hasPrefix("api.")
                {
                    return base(of: [url])
                }
                if member.value.isObject, let found = base(in: [member.value]) { return found }
            }
        }
        return nil
    }
}
