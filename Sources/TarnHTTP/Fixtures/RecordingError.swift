/// A recording that cannot be used.
public struct RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    public var file: String
    /// From 1; nil if it is about the file or directory as a whole.
    public var line: Int?
    public var message: String

    public init(file: String, line: Int? = nil, _ message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    public var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
