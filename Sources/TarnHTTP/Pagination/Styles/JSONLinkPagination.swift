import Foundation

/// The style `json_link`: the next page is a URL in the body.
struct JSONLinkPagination: PaginationStyle {
    static let syntax = PaginationSyntax(
        "json_link", keys: [.path("path", required: true, example: "meta.next")],
        bare: JSONLinkPagination(path: "next"), make: JSONLinkPagination.init(values:))

    /// The path of the URL, or of an object with `href` or `url`.
    var path: String

    var name: String { "json_link" }
    var isCounted: Bool { false }
    var wants: PageWants { PageWants(values: places + previousPlaces) }
    // Responses that were stored before previous pages were known stay valid.
    var storedWants: PageWants { PageWants(values: places) }

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

    func next(after page: FetchedPage) -> NextPage {
        let link = places.lazy.compactMap { page.facts.values[$0] }.first
        return link.flatMap { $0.isEmpty ? nil : .next($0) } ?? .end
    }
}

extension JSONLinkPagination: ReversiblePagination {
    func previous(before page: FetchedPage) -> PreviousPage {
        let link = (previousPlaces + AutomaticPagination.previousLinks).lazy.compactMap { page.facts.values[$0] }.first
        guard let link, !link.isEmpty else { return .unknown("the response links no previous page") }
        return .previous(link)
    }
}

extension JSONLinkPagination {
    init(values: PaginationValues) throws(PaginationProblem) { path = try values.required("path") }
}

extension Pagination {
    /// The next page is a URL in the body: a text, or `href` or `url` of an object.
    public static func jsonLink(path: String) -> Pagination { Pagination(JSONLinkPagination(path: path)) }
}
