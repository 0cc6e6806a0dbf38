/// A pagination style that a closure defines.
///
/// Two styles are equal if their names and their ``wants`` are equal.
public struct CustomPagination: Sendable, Hashable {
    /// The name in messages; it distinguishes the style from others.
    public var name: String
    /// The facts that the closure reads, besides `Link` and the number of records.
    public var wants: PageWants
    /// Returns the successor of a page from its request, its facts and its ordinal, counted from 1.
    ///
    /// If the closure throws, the scan fails with `PaginationError.refused`.
    public var next: @Sendable (PageRequest, PageFacts, Int) throws -> NextPage

    /// Creates a style.
    public init(
        name: String, wants: PageWants = PageWants(),
        next: @escaping @Sendable (PageRequest, PageFacts, Int) throws -> NextPage
    ) {
        self.name = name
        self.wants = wants
        self.next = next
    }

    public static func == (a: CustomPagination, b: CustomPagination) -> Bool { a.name == b.name && a.wants == b.wants }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(wants)
    }
}
