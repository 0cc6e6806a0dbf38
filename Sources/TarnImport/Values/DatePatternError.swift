/// The error of an invalid date pattern.
public struct DatePatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The pattern as written.
    var pattern: String
    /// The problem, and the way out.
    var problem: String

    init(_ pattern: String, _ problem: String) {
        self.pattern = pattern
        self.problem = problem
    }

    public var description: String { "\"\(pattern)\" is not a date format: \(problem)" }
}
