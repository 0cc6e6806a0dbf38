// What is known of a response beside its body.

/// The header fields of a response, the parameters of its request, and where its records stand in a longer list: what the sources
/// `@header`, `@param` and `@position` of a mapping are taken from.
public struct ImportContext: Sendable, Hashable {
    /// By name in lower case. Several fields of one name are one, with commas between them (RFC 9110 §5.2).
    public private(set) var headers: [String: String] = [:]
    /// By name, not encoded: those that fill the path of the URL, and those of its query.
    public var parameters: [String: String]
    /// How many records the earlier pages of the same walk listed: `@position` of the first record of this one.
    public var firstPosition: Int

    /// - Parameter headers: names and values, in the order of the response.
    public init(headers: [(name: String, value: String)] = [], parameters: [String: String] = [:], firstPosition: Int = 0) {
        self.parameters = parameters
        self.firstPosition = firstPosition
        for header in headers {
            let name = header.name.lowercased()
            self.headers[name] = self.headers[name].map { "\($0), \(header.value)" } ?? header.value
        }
    }
}
