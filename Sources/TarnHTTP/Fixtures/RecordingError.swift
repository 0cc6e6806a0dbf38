import Foundation

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

    /// Creates an error with the reason that the system gives.
    init(file: String, _ message: String, _ cause: any Error) {
        self.init(file: file, message + (RecordingError.reason(cause).map { ": \($0)" } ?? ""))
    }

    public var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }

    /// Returns the reason of an error of Foundation, without the path; nil for another error.
    static func reason(_ error: any Error) -> String? {
        let known = error as NSError
        guard [NSCocoaErrorDomain, NSPOSIXErrorDomain].contains(known.domain) else { return nil }
        let cause = known.userInfo[NSUnderlyingErrorKey].flatMap { $0 as? any Error }.map { $0 as NSError } ?? known
        return cause.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(cause.code))) : cause.localizedDescription
    }
}
