/// A pagination style that was detected from the first page of a list, and the sign that led to it.
public struct PaginationChoice: Sendable, Hashable, CustomStringConvertible {
    /// The detected style.
    package var pagination: Pagination
    /// The style in the syntax of a description.
    ///
    /// Example: `{ cursor: { path: meta.next_cursor, param: cursor } }`.
    package var style: String
    /// The sign that led to the style, in words.
    package var reason: String

    /// Creates a choice.
    public init(pagination: Pagination, style: String, reason: String) {
        self.pagination = pagination
        self.style = style
        self.reason = reason
    }

    public var description: String { "\(style): \(reason)" }
}
