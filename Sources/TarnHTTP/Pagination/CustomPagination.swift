/// A pagination style of the user's own. Two are equal if their names are.
public struct CustomPagination: Sendable, Hashable {
    /// Distinguishes it: in messages, and from other styles.
    public var name: String
    /// What the closure looks at, beside `Link` and the number of records.
    public var wants: PageWants
    /// What comes after a page: its request, what it says, and which page it was, from 1. What it throws ends the walk with an error.
    public var next: @Sendable (PageRequest, PageFacts, Int) throws -> NextPage

    public init(
        name: String, wants: PageWants = PageWants(), next: @escaping @Sendable (PageRequest, PageFacts, Int) throws -> NextPage
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
