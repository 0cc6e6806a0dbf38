/// A style that a closure of the program defines. Descriptions cannot name it.
///
/// Two styles are equal if their names and their wants are equal.
struct CustomPagination: PaginationStyle {
    var name: String
    var wants: PageWants
    var successor: @Sendable (PageRequest, PageFacts, Int) throws -> NextPage

    func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        do {
            return try successor(page.request, page.facts, page.ordinal)
        } catch {
            throw .refused(by: name, reason: "\(error)")
        }
    }

    static func == (a: CustomPagination, b: CustomPagination) -> Bool { a.name == b.name && a.wants == b.wants }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(wants)
    }
}

extension Pagination {
    /// A closure determines the next page.
    ///
    /// - Parameters:
    ///   - name: the name in messages; it distinguishes the style from others.
    ///   - wants: the facts that the closure reads, besides `Link` and the number of records.
    ///   - next: returns the successor of a page from its request, its facts and its ordinal,
    ///     counted from 1. If it throws, the scan fails with `PaginationError.refused`.
    public static func custom(
        name: String, wants: PageWants = PageWants(),
        next: @escaping @Sendable (PageRequest, PageFacts, Int) throws -> NextPage
    ) -> Pagination {
        Pagination(CustomPagination(name: name, wants: wants, successor: next))
    }
}
