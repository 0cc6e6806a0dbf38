internal import TarnStore

/// What is wrong with a pattern of dates.
public struct DatePatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// As it was written.
    public var pattern: String
    /// What is wrong, and the way out.
    public var problem: String

    init(_ pattern: String, _ problem: String) {
        self.pattern = pattern
        self.problem = problem
    }

    public var description: String { "\"\(pattern)\" is not a format of dates: \(problem)" }
}
