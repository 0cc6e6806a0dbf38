/// The problem of a pagination style's key in a description. The reader adds the place in the file.
public struct PaginationProblem: Error, Sendable, Hashable {
    /// The key.
    package var key: String
    /// The problem and its remedy.
    package var message: String

    /// Creates a problem of a key's value.
    public init(_ key: String, _ message: String) {
        self.key = key
        self.message = message
    }
}
