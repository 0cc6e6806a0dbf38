// The web page of a record: an attribute with its URL, or a template of the description.

import Foundation
import TarnHTTP

/// The rule for the URL of a record's web page.
package struct RecordWebPage: Sendable, Hashable {
    /// The names of attributes that have the URL of a page, in the order in which they are tried.
    package static let attributes = [
        "htmlUrl", "htmlURL", "html_url", "webUrl", "webURL", "web_url", "permalink", "permalinkUrl", "pageUrl",
        "page_url",
        "url", "link", "href",
    ]

    /// The reason why there is no URL.
    package enum Problem: Error, Sendable, Hashable {
        /// The record has no attribute of ``attributes``, and the entity has no template.
        case none
        /// The template needs a value that the record does not have.
        case missing(template: String, field: String)
        /// The text is not an `http` or `https` URL.
        case notWeb(field: String, text: String)
    }

    /// Returns the URL of a record's page.
    ///
    /// - Parameters:
    ///   - template: a URL with the names of fields in braces (RFC 6570), absolute or relative to
    ///     `base`; nil if the entity has none.
    ///   - value: returns the text of a field, or of a path such as `repo.name`; nil if it is
    ///     missing.
    package static func url(
        template: String?, base: String, value: (String) throws -> String?
    ) throws -> HTTPURL {
        guard let template else {
            for name in attributes {
                guard let text = try value(name), !text.isEmpty else { continue }
                guard let url = try? HTTPURL(inASCII(text)) else {
                    // A link may be relative to the API, and is then no page.
                    if URLReference(text).scheme == nil { continue }
                    throw Problem.notWeb(field: name, text: text)
                }
                return url
            }
            throw Problem.none
        }
        let parsed = try URITemplate(template)
        var values: [String: URITemplate.Value] = [:]
        for name in parsed.variables {
            guard let text = try value(name) else { throw Problem.missing(template: template, field: name) }
            values[name] = .text(text)
        }
        let text = parsed.expand(values)
        do throws(HTTPURLError) {
            return try HTTPURL(base).resolving(text)
        } catch {
            throw Problem.notWeb(field: template, text: text)
        }
    }

    /// Returns a URL with the characters beyond ASCII encoded (RFC 3987 §3.1): those of the host by
    /// IDNA, others by percent-encoding. What is encoded stays as it is.
    private static func inASCII(_ text: String) -> String {
        func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
        func encoded(_ text: String) -> String {
            text.unicodeScalars.map { $0.isASCII ? String($0) : PercentEncoding.encode(String($0)) }.joined()
        }
        guard !isASCII(text) else { return text }
        var reference = URLReference(text)
        reference.path = encoded(reference.path)
        reference.query = reference.query.map(encoded)
        if let authority = reference.authority, !isASCII(authority), let url = URL(string: "https://" + authority) {
            reference.authority = URLReference(url.absoluteString).authority
        }
        return reference.description
    }
}

extension RecordWebPage.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .none:
            "no attribute has the URL of a page (\(RecordWebPage.attributes.prefix(3).joined(separator: ", ")), …, url); "
                + "declare a template in the description: `open: 'https://example.org/items/{id}'`"
        case .missing(let template, let field): "open: \(template): the record has no \(field)"
        case .notWeb(let field, let text): "\(field): not an http or https URL: \(text)"
        }
    }
}
