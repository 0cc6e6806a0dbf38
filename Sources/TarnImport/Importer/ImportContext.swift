// The data of a request and its response besides the body.

/// The data of a request and its response that mapping sources may read, besides the body.
///
/// These are the header fields of the response (`@header`), the parameters of the request
/// (`@param`), and the position of the records in a longer list (`@position`).
public struct ImportContext: Sendable, Hashable {
    /// Header values by name in lower case; repeated fields are joined with commas (RFC 9110 §5.2).
    package private(set) var headers: [String: String] = [:]
    /// Unencoded parameters of the URL's path and query, by name.
    package var parameters: [String: String]
    /// The number of records that earlier pages of the same scan listed.
    ///
    /// It is the `@position` of this document's first record.
    var firstPosition: Int
    /// The name of the document in diagnostics, such as its URL without secrets.
    public var source: String?
    /// Whether the listed objects are excerpts, such as `{name, url}`: partial records.
    ///
    /// An element that is a bare key or a URL is a partial record that has only its key.
    package var listsExcerpts = false
    /// Whether null leaves fields as they were, and lists with a null among their elements: the
    /// response states that parts of it failed.
    package var ignoresNulls = false

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - headers: names and values, in the order of the response.
    ///   - source: the name of the document in diagnostics.
    public init(
        headers: [(name: String, value: String)] = [], parameters: [String: String] = [:], firstPosition: Int = 0,
        source: String? = nil
    ) {
        self.source = source
        self.parameters = parameters
        self.firstPosition = firstPosition
        for header in headers {
            let name = header.name.lowercased()
            self.headers[name] = self.headers[name].map { "\($0), \(header.value)" } ?? header.value
        }
    }
}
