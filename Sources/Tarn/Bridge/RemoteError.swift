/// An error in the terms of a request language.
public struct RemoteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message, of the server or of the bridge.
    public var message: String
    /// The path in the data, outermost first; empty if the error is about the whole operation.
    public var path: [String]
    /// The code of the error, if the server gives one.
    public var code: String?

    /// Creates an error.
    public init(_ message: String, path: [String] = [], code: String? = nil) {
        self.message = message
        self.path = path
        self.code = code
    }

    public var description: String {
        (path.isEmpty ? "" : path.joined(separator: ".") + ": ") + message + (code.map { " (\($0))" } ?? "")
    }
}
