// URLs that replace the base URLs of a description: `--base URL`, `--base people=URL`.

import TarnHTTP

/// The URLs that replace the base URLs of a description's APIs.
package struct BaseReplacements: Sendable, Hashable {
    /// The reason why a text replaces no base URL.
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package var description: String
    }

    /// The URLs by API; the only API has no name.
    private var urls: [String?: String] = [:]

    /// Creates replacements from texts: a URL, or the name of an API and a URL: `people=http://…`.
    ///
    /// - Parameter description: the description; nil if there is none, and only a URL is possible.
    package init(_ texts: [String], of description: Description?) throws(Problem) {
        let names = description?.apis.compactMap(\.name) ?? []
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let isNamed = parts.count == 2 && !parts[0].contains { ":/?#".contains($0) }
            let name = isNamed ? String(parts[0]) : nil, url = isNamed ? String(parts[1]) : text
            do throws(HTTPURLError) { _ = try HTTPURL(url) } catch {
                // It may contain a password.
                let shown = text.contains("@") ? "with user or password" : Redaction.shown(text)
                throw Problem(description: "\(shown): \(error.reason)")
            }
            if let name {
                guard names.contains(name) else {
                    throw Problem(
                        description: names.isEmpty
                            ? "\(Redaction.shown(text)): the description has a single API: write the URL without a name"
                            : Spelling.unknown("API", name, among: names))
                }
            } else if let first = names.first {
                throw Problem(
                    description: "\(Redaction.shown(text)): the description has several APIs: write \(first)=URL")
            }
            guard urls.updateValue(url, forKey: name) == nil else {
                throw Problem(description: "\(Redaction.shown(text)): this base URL is replaced twice")
            }
        }
    }

    /// The URL that replaces the base URL of an API; nil for none.
    package subscript(_ name: String?) -> String? { urls[name] }

    /// Sets the URLs of a client's options.
    package func apply(to options: inout APIClient.Options) {
        options.base = urls[nil]
        for case (let name?, let url) in urls { options.bases[name] = url }
    }
}
