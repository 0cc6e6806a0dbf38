// A sample of `tarn init`: the pages of one list, or a file.

import Tarn

/// The pages of one URL, or the content of one file.
package struct Sample: Sendable {
    /// One response.
    package struct Page: Sendable {
        /// The URL of the request; empty for a file.
        package var url: String
        package var headers: TransportHeaders
        package var body: [UInt8]
        /// The parsed body. Records that are rows or columns are objects in it.
        package var json: JSONValue
        /// Whether the body has lines of JSON that its media type does not name.
        var hasLines = false
        /// The lists that have rows or columns.
        var columns: [NamedColumns] = []
        /// Remarks about lists that may be none.
        var doubts: [String] = []
        /// The lists of records: what is found, or those of rows or columns if these would be parts
        /// of a single object.
        var lists: [FoundList] {
            let found = ListFinder.lists(in: json).map(withHeader)
            // Tables inside of records are no lists of the answer.
            let tables = columns.filter { !$0.records.steps.contains(.each) }.map { list in
                found.first { $0.path == list.records } ?? FoundList(list.records)
            }
            return tables.allSatisfy(found.contains) ? found : tables
        }

        /// Adds the names that the first row of a list has.
        private func withHeader(_ list: FoundList) -> FoundList {
            let row = list.path.steps + [.index(0)]
            guard columns.contains(where: { $0.records == list.path && $0.written.isEmpty && $0.names.steps == row })
            else { return list }
            var list = list
            // A shorter row lacks its last values.
            list.header = ListFinder.objects(json, list).map { $0.members.map(\.key) }.max { $0.count < $1.count }
            return list
        }

        /// Creates a page.
        package init(url: String, headers: TransportHeaders = TransportHeaders(), body: [UInt8], json: JSONValue) {
            self.url = url
            self.headers = headers
            self.body = body
            self.json = json
        }
    }

    /// The URL after redirects, or the path of the file.
    package var origin: String
    /// Whether ``origin`` is a URL.
    var isURL: Bool
    package var pages: [Page]
    /// Of several lists, the one that has pages; nil if there is one list.
    var mainList: FoundList?
    /// The style of pagination.
    var style = SampledStyle()
    /// The status with which the server refuses a page behind the last one; nil if it does not.
    var endStatus: Int?
    /// A page without records behind the last one; nil if none was fetched.
    var endPage: Page?
    /// The status with which the server has refused the page behind the last one that was fetched.
    var refusal: Int?
    /// The note of that refusal.
    var refusalNote: String?
    /// The cursor of the last page, if it is a word for nothing; nil if there is none.
    var lastCursor: String?
    /// Whether the server answers with the last page to larger numbers.
    var repeatsLast = false
    /// Whether the last page of the list was fetched.
    package var isComplete = true
    /// Other base URLs of the API that links begin with.
    var aliases: [String] = []
    /// The response to the request for one record, and its URL.
    var detail: Page?
    /// The responses to requests for other records, if the first one leaves types open.
    var furtherDetails: [Page] = []
    /// Remarks for the endpoint.
    package var notes: [String] = []
    /// Remarks about records that the proposal does not reach: `tarn init` prints them.
    var gaps: [String] = []

    /// Creates a sample.
    package init(origin: String, isURL: Bool, pages: [Page]) {
        self.origin = origin
        self.isURL = isURL
        self.pages = pages
    }
}

/// A style of pagination that was detected in a sample.
struct SampledStyle: Sendable {
    /// The style as a description writes it.
    var text = "single_page"
    var reason = "nothing in the answer speaks of another page"
    /// Query parameters that the style sends: they do not belong under `with`.
    var parameters: Set<String> = []
    /// The sign of more records that ``text`` does not reach; nil without one.
    var unreached: UnreachedRecords?
    /// The reason why the style may miss records; nil if it is certain.
    var doubt: StyleDoubt?

    /// The path of a link to a next page that every page has, also the last one; nil without one.
    var ignoredSign: String?

    /// Whether the answers leave open that the style leads to other records.
    var isGuess = false

    /// Writes that a page with the records of the page before is the end, unless a count says where
    /// it is.
    mutating func endAtRepeatedPage() {
        let isCounted = ["total", "has_more", "end: "].contains(where: text.contains)
        guard isNumbered, !isCounted, text.hasSuffix(" } }") else { return }
        text = text.dropLast(4) + ", end: repeated } }"
    }

    /// Whether the records of a page end the list: there are none, or fewer than its size.
    var endsByPages: Bool {
        isNumbered && !["total", "has_more", "end: repeated"].contains(where: text.contains)
    }

    /// Whether a page with fewer records than its size ends the list.
    var endsAtShortPage: Bool {
        endsByPages && !text.contains("end: ") && text.contains("per_page: {") && text.hasSuffix(" } }")
    }

    /// Adds `end: empty`: only a page without records ends the list.
    mutating func endAtEmptyPage() {
        guard endsAtShortPage else { return }
        text = text.dropLast(4) + ", end: empty } }"
    }

    /// Writes that a cursor marks the last page.
    mutating func end(atCursor cursor: String) {
        guard text.hasPrefix("{ cursor:"), text.hasSuffix(" } }"), !text.contains(", last: ") else { return }
        text = text.dropLast(4) + ", last: \(YAMLText.scalar(cursor)) } }"
    }

    /// Notes that the URL has a parameter that may number pages or records, and that no style was
    /// found for it.
    mutating func doubtParameter(of url: String, records: Int) {
        guard records > 0, let name = StyleGuess.countingParameter(of: url) else { return }
        reason = "UNCERTAIN: the answers do not show how \(name) counts"
        doubt = StyleDoubt(
            remark:
                "The URL has the parameter `\(YAMLText.comment(name, limit: 40))`, but the answers do not show how it counts. If it leads to more records, name the style of the API under `paginate`."
        )
    }

    /// Notes that the answer has a number of what remains, and that no style was found.
    mutating func doubtRemaining(_ facts: PageFacts, _ lists: [FoundList]) {
        let path = facts.values.keys.sorted().first { path in
            let words = EnglishName.words(of: String(path.split(separator: ".").last ?? ""))
            return words.first == "remaining" && facts.number(path) ?? 0 > 0
                && Set(EnglishName.words(of: path)).isDisjoint(with: ["rate", "quota", "credits", "requests", "calls"])
        }
        guard let path, doubt == nil, let count = facts.number(path) else { return }
        reason = "UNCERTAIN: the answer has a number of what remains"
        doubt = StyleDoubt(
            remark:
                "`\(YAMLText.comment(path, limit: 60))` is \(count): if so many records follow, name the style of the API under `paginate`.",
            styles: StyleGuess.likely(facts, lists))
    }

    /// Notes that parameters have led to new records among known ones, and that no style was found.
    mutating func doubtMoved(_ moved: [MovedRecords], _ facts: PageFacts, _ lists: [FoundList]) {
        guard !moved.isEmpty, doubt == nil, unreached == nil else { return }
        reason = "UNCERTAIN: another request has led to new records among known ones"
        doubt = StyleDoubt(
            remark:
                "\(moved.map(\.description).joined(separator: ", and ")): the list may have more, or be a window of the latest records that has moved. If it has more, name the style of the API under `paginate`.",
            styles: StyleGuess.likely(facts, lists))
    }

    /// Whether the style sends a query parameter: then it does not belong under `with`.
    func sends(_ name: String) -> Bool {
        let written = YAMLText.scalar(name)
        return parameters.contains(name)
            || ["per_page: { \(written): ", "param: \(written) ", "param: \(written),"].contains(where: text.contains)
    }
}
