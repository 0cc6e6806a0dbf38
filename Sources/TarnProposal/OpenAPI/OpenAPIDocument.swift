// An OpenAPI document: JSON or YAML, with references resolved on demand.

import Tarn

/// An OpenAPI 3.0 or 3.1 document.
package struct OpenAPIDocument: Sendable {
    /// The name of the file or the URL, for comments.
    package let name: String
    let root: JSONValue
    /// The URL of the document, to which server URLs are relative; nil for a file.
    let url: String?

    /// Creates a document from its text.
    package init(_ body: [UInt8], name: String, url: String? = nil) throws(SampleError) {
        self.name = name
        self.url = url
        root = .null
        throw .specification(name, reason: "not yet")
    }
    package func listURLs(base: String?) -> [String] { [] }
}
struct SpecificationSources {
    var sources: [Source] = []
    var base = ""
    var baseComment = ""
    var authentication: String?
    var authenticationComment = ""
    init(_ document: OpenAPIDocument, samples: SourceBuilder, base: String?) {}
}
