/// The reason why a recording cannot be used.
public struct RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file, or the directory.
    package var file: String
    /// The line, counted from 1; nil for the file or directory as a whole.
    package var line: Int?
    /// The message, for people.
    package var message: String

    /// Creates an error.
    package init(file: String, line: Int? = nil, _ message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    public var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
