import Foundation

/// The style `json_link`: the next page is a URL in the body.
struct JSONLinkPagination: LastingStyle, PromisingStyle {
    static let syntax = PaginationSyntax(
        "json_link",
        keys: [.path("path", required: true, example: "meta.next"), .path("has_more"), .path("is_last")],
        bare: JSONLinkPagination(path: "next"), make: JSONLinkPagination.init(values:))

    /// The path of the URL, of an object with `href` or `url`, or of a list of links.
    var path: String
    /// The flag that tells whether another page follows; nil without one.
    var hasMore: MoreFlag?

    var name: String { "json_link" }
    var isCounted: Bool { false }
    var wants: PageWants {
        var wants = PageWants(values: places + previousPlaces + flags)
        wants.scalars = [path]
        return wants
    }
    // Responses that were stored before previous pages were known stay valid.
    var storedWants: PageWants { PageWants(values: places + flags) }

    private var flags: [String] { hasMore.map { [$0.path] } ?? [] }
    private var places: [String] { [path, path + ".href", path + ".url"] }

    /// The usual paths of the previous page's URL beside that of the next one.
    private var previousPlaces: [String] {
        var keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let last = keys.popLast(), let range = last.range(of: "next", options: .caseInsensitive) else {
            return []
        }
        let isCapital = last[range].first?.isUppercase ?? false
        return ["previous", "prev"].flatMap { name -> [String] in
            let name = last.replacingCharacters(in: range, with: isCapital ? name.capitalized : name)
            let path = (keys + [name]).joined(separator: ".")
            return [path, path + ".href", path + ".url"]
        }
    }

    func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        if hasMore?.value(page.facts) == false { return .end }
        let values = places.compactMap { page.facts.values[$0] }
        guard let link = values.first(where: { $0 != PageFacts.container }) else {
            if let list = LinkList(at: path, page.facts) { return try next(in: list) }
            guard values.isEmpty else {
                throw .refused(
                    by: name,
                    reason: "`\(path)` is an object or a list without `href` or `url`: name the member that is the URL")
            }
            return .end
        }
        // In place of a URL, some servers write false or 0 on the last page.
        return ["", "false", "0"].contains(link) ? .end : .next(link)
    }

    func isDeclaredLast(_ facts: PageFacts) -> Bool { hasMore?.value(facts) == false }

    func promise(_ facts: PageFacts, _ rule: PageEvidence.Rule) -> PageEvidence? {
        guard let hasMore, hasMore.value(facts) == true, !rule.ignores(hasMore.path) else { return nil }
        return hasMore.promise(lacking: "\(path) has no URL")
    }

    /// Returns the link with the relation `next` of a list.
    private func next(in list: LinkList) throws(PaginationError) -> NextPage {
        guard list.mayHave("next") else { return .end }
        guard let link = list.target("next") else {
            throw .refused(
                by: name,
                reason: "the links at `\(path)` may lead to a next page, but none with the relation next can be read: "
                    + "name another place of the next URL")
        }
        return link.isEmpty ? .end : .next(link)
    }
}

extension JSONLinkPagination: ReversiblePagination {
    func previous(before page: FetchedPage) -> PreviousPage {
        let link =
            (previousPlaces + AutomaticPagination.previousLinks).lazy.compactMap { page.facts.values[$0] }.first
            ?? LinkList(at: path, page.facts)?.target("prev", "previous")
        guard let link, !link.isEmpty else { return .unknown("the response links no previous page") }
        return .previous(link)
    }
}

extension JSONLinkPagination {
    init(values: PaginationValues) throws(PaginationProblem) {
        path = try values.required("path")
        hasMore = try values.moreFlag()
    }
}

extension JSONLinkPagination: CustomStringConvertible {
    // The text is stored with the progress of scans. Without a flag, it is that of older stores.
    var description: String {
        "JSONLinkPagination(path: \(path.debugDescription)"
            + (hasMore.map { ", hasMore: \($0.debugDescription)" } ?? "")
            + ")"
    }
}

extension Pagination {
    /// The next page is a URL in the body: a text, `href` or `url` of an object, or the link with
    /// the relation `next` of a list.
    ///
    /// - Parameters:
    ///   - path: the path of the URL, of the object or of the list.
    ///   - hasMore: the path of a flag for more records; false ends the scan.
    ///   - isLast: in place of `hasMore`, the path of a flag that marks the last page.
    public static func jsonLink(
        path: String = "next", hasMore: String? = nil, isLast: String? = nil
    ) -> Pagination {
        Pagination(JSONLinkPagination(path: path, hasMore: MoreFlag(hasMore: hasMore, isLast: isLast)))
    }
}
