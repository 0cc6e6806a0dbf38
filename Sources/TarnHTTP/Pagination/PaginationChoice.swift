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
    /// The numbers of the pages, if the style numbers them.
    package var numbering: Numbering?

    /// The numbers of the pages of a detected style.
    package struct Numbering: Sendable, Hashable {
        /// The query parameter that carries the number.
        package var parameter: String
        /// The number of the first page.
        package var start: Int
        /// Whether neither the request nor the answer has the number of the first page.
        package var isAssumed: Bool
        /// The path of the number of pages; nil without one.
        package var totalPages: String?
    }

    /// Creates a choice.
    public init(pagination: Pagination, style: String, reason: String) {
        self.pagination = pagination
        self.style = style
        self.reason = reason
    }

    public var description: String { "\(style): \(reason)" }

    /// The style with 0 as the number of the first page; nil if it does not number pages.
    package var styleFromZero: String? {
        numbering.map { numbering in
            let parameter = CountingParameters.written(numbering.parameter)
            return style.replacing("{ param: \(parameter)", with: "{ param: \(parameter), start: 0")
        }
    }
}
