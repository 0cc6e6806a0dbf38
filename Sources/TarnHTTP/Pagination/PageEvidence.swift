// Evidence in a page of records that a scan does not reach. Pure.

/// Evidence of records beyond the end of a scan.
public struct PageEvidence: Sendable, Hashable, CustomStringConvertible {
    /// The header field, or the path in the body, with the evidence.
    package var name: String
    /// The meaning of the value, in words: `says that there are 100 records`.
    var meaning: String
    /// Whether it is on a page before the one at which the scan ends.
    var isBefore = false
    /// Whether the page at which the scan ends has no records, and is the last one by its number.
    var isEmptyPage = false

    public var description: String { "\(name) \(meaning)" }

    /// The treatment of evidence of more records than a scan has listed.
    public enum Rule: Sendable, Hashable {
        /// The scan fails.
        case fail
        /// All evidence is ignored: the pages that the style reaches are the whole result.
        case ignore
        /// Evidence at these paths, and in these header fields, is ignored.
        case ignoring(Set<String>)

        package func ignores(_ name: String) -> Bool {
            switch self {
            case .fail: false
            case .ignore: true
            case .ignoring(let names): names.contains { TransportHeaders.same($0, name) }
            }
        }
    }

    /// Header fields with evidence. A stored response keeps them.
    package static let fields = totalFields + pageCountFields + nextFields + ["Content-Range"]
    static let totalFields = [
        "X-Total-Count", "X-Total", "X-WP-Total", "X-Pagination-Total-Count", "X-Total-Results", "Total-Count",
    ]
    static let pageCountFields = ["X-Total-Pages", "X-WP-TotalPages", "X-Pagination-Page-Count"]
    static let nextFields = [
        "X-Next-Page", "X-Next-Cursor", "X-Next-Token", "X-MS-ContinuationToken", "X-MS-Continuation", "Next-Range",
        "X-MS-Continuation-NextPartitionKey", "X-MS-Continuation-NextRowKey", "OPC-Next-Page", "X-Next-Row-Number",
    ]

    /// The names of members that are read around the list of records.
    ///
    /// Case and punctuation are ignored.
    ///
    /// - `scalars`: read in the objects around the list and in the objects that are entered.
    /// - `nested`: read only in objects that are entered.
    /// - `objects`: the objects that are entered.
    /// - `open`: the objects that are entered, and whose scalars are all read.
    package static let memberNames: (scalars: [String], nested: [String], objects: [String], open: [String]) = (
        Array(meanings.keys) + ["limit", "number", "start", "after", "before", "bookmark"]
            + AutomaticPagination.offsetNames,
        [
            "href", "url", "uri", "rel", "relation", "value", "token", "id", "key", "pk", "sk", "s", "n", "current",
            "continue",
        ],
        [
            "meta", "metadata", "pagination", "pager", "paging", "page", "pageInfo", "pagingInfo", "paginationInfo",
            "paginator", "links", "link", "info",
            "response", "responseMetadata", "cursors", "cursor", "next", "nextPage", "resultInfo", "resultSet",
            "searchMetadata", "searchInfo", "total", "properties",
            "hydra:view", "view", "summary", "pageable", "lastEvaluatedKey", "id", "key", "pk", "sk",
        ],
        ["continue"]
    )

    /// The kinds of members that matter to pagination.
    enum Meaning: Sendable {
        case link, cursor
        /// A cursor that also repeats the one of the request in some APIs: `cursor`, `offset`,
        /// `scroll_id`, `after`, `next_batch`.
        case position
        /// The key of the last record, behind which the list goes on. Its parameter is unknown.
        case lastKey
        /// The number or the URL of the next page.
        case nextPage
        /// A flag: `more` is true if there are more records, `last` if there are none.
        case more, last
        case total, count, pages, pageNumber
        /// The number of the last page, or a flag that this page is the last one.
        case lastPage
    }

    /// Meanings by name, in lower case and without punctuation.
    static let meanings: [String: Meaning] = {
        var meanings: [String: Meaning] = [:]
        func add(_ meaning: Meaning, _ names: String) {
            for name in names.split(separator: " ") { meanings[String(name)] = meaning }
        }
        add(
            .link,
            "next nexturl nexturi nexthref nextlink nextpageurl nextpageuri nextpagelink nextpath nextresults nextrecordsurl odatanextlink hydranext"
        )
        // Of Discourse.
        add(.link, "moretopicsurl loadmoredirectoryitems loadmorenotifications loadmoregroups")
        add(
            .cursor,
            "nextcursor nexttoken nextpagetoken continuationtoken nextcontinuationtoken nextmarker nextkey nextoffset nextstart nextpagekey nextpagecursor nextcursormark paginationtoken resumptiontoken"
        )
        add(.position, "cursor scrollid offset nextbatch")
        add(.lastKey, "lastevaluatedkey")
        add(.nextPage, "nextpage nextpagenumber")
        add(
            .more,
            "hasmore hasnext hasnextpage hasmorepages hasmoreitems hasmoreresults morerecords moreresults moreitems moreavailable moreitemsincollection more istruncated truncated exceededtransferlimit"
        )
        add(.more, "havemore havemoreresults hasmoredata hasmorerecords hasmoreentries hasmorerows hasadditionalpages")
        add(.more, "moredata moreentries moredataavailable moreresultsavailable morerecordsavailable hasnextresults")
        add(.last, "islast islastpage last done endofstream endofrecords endofresults endoflist isend")
        add(
            .total,
            "total totalcount totalresults totalitems totalrecords totalelements totalentries totalrows totalsize totalhits totalobjects numbermatched opensearchtotalresults"
        )
        add(.total, "totalavailable numfound nbhits nhits odatacount hydratotalitems recordstotal totalnum")
        add(.total, "resultstotal totalresultcount totalitemcount totalrecordcount hitcount")
        add(.count, "count itemcount")
        add(.pages, "totalpages pages pagecount totalpagecount numpages nbpages pagestotal")
        add(.lastPage, "lastpage")
        add(.pageNumber, "page currentpage pagenumber pageindex currpage")
        return meanings
    }()

    /// The names of objects whose `current` is the number of the page.
    private static let pageObjects: Set = ["pagination", "paging", "pager", "page", "pageinfo", "paginationinfo"]

    /// Returns the meaning of the value at a path.
    ///
    /// The last key decides, or the last two for paths such as `next.href`, `total.value` and
    /// `page.number`.
    static func meaning(of path: String) -> Meaning? {
        var keys: [String] = [""], isEscaped = false, isIndex = false
        for scalar in path.unicodeScalars {
            if isEscaped {
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
                continue
            } else if scalar == "." {
                keys.append("")
                continue
            } else if scalar == "[" || scalar == "]" {
                isIndex = scalar == "["
                continue
            }
            if isIndex { continue }
            switch scalar {
            case "A"..."Z": keys[keys.count - 1].unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
            case "a"..."z", "0"..."9": keys[keys.count - 1].unicodeScalars.append(scalar)
            default: break
            }
        }
        guard let last = keys.last else { return nil }
        let before = keys.dropLast().last
        switch (last, before) {
        case ("href", let before?), ("url", let before?), ("uri", let before?):
            return before.hasPrefix("next") ? .link : nil
        case ("after", "next"), ("cursor", "next"), ("offset", "next"): return .cursor
        case ("page", "next"), ("number", "next"): return .nextPage
        case ("token", "next"), ("token", "pagination"), ("token", "paging"): return .position
        case ("next", "cursors"), ("next", "cursor"): return .cursor
        case ("value", "total"): return .total
        case ("number", "page"): return .pageNumber
        case ("current", let before?) where pageObjects.contains(before): return .pageNumber
        // MediaWiki: the members have the names of their parameters; its own `continue` is none.
        // Other members of an object `continue` may be anything.
        case (let last, "continue"):
            return last != "continue" && (last.hasSuffix("continue") || last.hasSuffix("offset")) ? .cursor : nil
        case ("continue", "metadata"): return .cursor
        // Beside the list, it is often a filter that the server repeats.
        case ("after", "data"): return .position
        default: return keys.dropLast().contains("lastevaluatedkey") ? .lastKey : meanings[last]
        }
    }

    /// The progress of a scan at the page that ends it.
    struct Taken {
        /// The request for the page.
        var request: PageRequest
        /// The number of pages, this one included.
        var pages: Int
        /// The number of records of these pages; `.max` if it is unknown.
        var records: Int
        /// Whether the style stops at a page without records, regardless of the rest of the page.
        var endsAtEmptyPage = false
        /// Whether every page names a next one, also the last one: then its name is no evidence.
        var namesAnyPage = false
        /// The smallest count at each path among the pages of the scan.
        ///
        /// A later count may include records that were inserted during the scan; those are not
        /// missing.
        var counts: [String: Int] = [:]
        /// Returns whether a link leads to a page that was already fetched.
        var isTaken: (String) -> Bool = { _ in false }
        /// Whether a value that the style declares marks this page as the last one.
        var isDeclaredOver = false
        /// Whether the client computes the next request.
        var isCounted = false
        /// Whether the requests have page numbers from 1 on.
        var isNumbered = false
        /// The relation type of the links to next pages.
        var relation = "next"

        init(_ request: PageRequest, pages: Int, records: Int) {
            self.request = request
            self.pages = pages
            self.records = records
        }

        /// Creates the progress at a page from the style of the scan and its first request.
        ///
        /// - Parameter first: the first request of the scan, as described.
        init(by style: some PaginationStyle, _ page: FetchedPage, first: PageRequest) {
            let passed = first.passedOver, before = style.passedOver
            self.init(
                page.request, pages: page.ordinal.addingClamped(passed.pages).addingClamped(before.pages),
                records: page.listed.addingClamped(passed.records).addingClamped(before.records))
            // The size of the skipped pages is unknown.
            if passed.pages > 0 || before.pages > 0 { records = .max }
            endsAtEmptyPage = style.endsAtEmptyPage
            isDeclaredOver = style.isDeclaredLast(page.facts)
            isCounted = style.isCounted
            isNumbered = (style as? PageNumberPagination).map { $0.start > 0 } ?? false
            if let style = style as? HeaderLinkPagination { relation = style.relation }
        }

        /// Whether the scan ends at a page without records that is the last one by its number.
        ///
        /// If the first page has the number 0, the scan has left out a page.
        func isAtEmptyPage(_ count: Int, _ facts: PageFacts) -> Bool {
            isNumbered && facts.recordCount == 0 && pages > 1 && pages == count
        }
    }

    /// Returns the counts of a page and their paths.
    ///
    /// A total below the number of records of the page is dropped, and so is a number of pages of
    /// 0.
    static func counts(_ facts: PageFacts) -> [(name: String, isPages: Bool, count: Int)] {
        var counts: [(name: String, isPages: Bool, count: Int)] = []
        for field in totalFields {
            if let count = facts.headers[field].flatMap({ Int($0) }) { counts.append((field, false, count)) }
        }
        for field in pageCountFields {
            if let count = facts.headers[field].flatMap({ Int($0) }) { counts.append((field, true, count)) }
        }
        if let size = facts.headers["Content-Range"].flatMap(rangeSize) {
            counts.append(("Content-Range", false, size))
        }
        for path in facts.values.keys.sorted() {
            guard let meaning = meaning(of: path), let count = facts.number(path) else { continue }
            switch meaning {
            case .total, .count: counts.append((path, false, count))
            case .pages, .lastPage: counts.append((path, true, count))
            default: break
            }
        }
        return counts.filter { $0.isPages ? $0.count > 0 : $0.count >= facts.recordCount }
    }

    /// Returns 100 for `items 0-9/100` (RFC 9110 §14.4) and `0-9/100` (PostgREST); nil for byte
    /// ranges, which are not counts.
    private static func rangeSize(_ value: String) -> Int? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard let range = parts.last, let slash = range.lastIndex(of: "/") else { return nil }
        let isCount =
            parts.count == 2
            ? !TransportHeaders.same(String(parts[0]), "bytes")
            : range[..<slash].allSatisfy { ("0"..."9").contains($0) || $0 == "-" }
        return isCount ? Int(range[range.index(after: slash)...]) : nil
    }

    /// Returns the most reliable evidence of more records than the scan has listed, or nil.
    static func find(_ facts: PageFacts, _ taken: Taken, _ rule: Rule = .fail) -> PageEvidence? {
        if rule == .ignore { return nil }
        let paths =
            facts.values.isEmpty
            ? [] : facts.values.keys.sorted().compactMap { path in meaning(of: path).map { (path, $0) } }
        let isOver = taken.isDeclaredOver ? true : isOver(facts, paths)
        if !(facts.recordCount == 0 && taken.endsAtEmptyPage) {
            if !taken.namesAnyPage, let found = successor(facts, taken, paths, isOver: isOver == true, rule) {
                return found
            }
            for (path, meaning) in paths where !rule.ignores(path) {
                if taken.isDeclaredOver { break }
                if meaning == .more, facts.values[path] == "true" {
                    return PageEvidence(name: path, meaning: "is true")
                }
                if meaning == .last || meaning == .lastPage, facts.values[path] == "false" {
                    return PageEvidence(name: path, meaning: "is false")
                }
            }
        }
        return counted(facts, taken, paths, isOver: isOver == true, rule)
    }

    /// Returns whether a flag declares this page the last one; nil without such a flag.
    private static func isOver(_ facts: PageFacts, _ paths: [(String, Meaning)]) -> Bool? {
        for (path, meaning) in paths {
            switch (meaning, facts.values[path]) {
            case (.more, "false"), (.last, "true"), (.lastPage, "true"): return true
            case (.more, "true"), (.last, "false"), (.lastPage, "false"): return false
            default: break
            }
        }
        return nil
    }

    /// Returns the paths of the flags that state that more records follow, or that none do.
    static func flags(_ facts: PageFacts, ofMore isMore: Bool) -> [String] {
        facts.values.compactMap { path, value in
            guard value == "true" || value == "false" else { return nil }
            switch meaning(of: path) {
            case .more: return (value == "true") == isMore ? path : nil
            case .last, .lastPage: return (value == "false") == isMore ? path : nil
            default: return nil
            }
        }
    }

    /// Returns evidence that names a next page, or nil.
    private static func successor(
        _ facts: PageFacts, _ taken: Taken, _ paths: [(String, Meaning)], isOver: Bool, _ rule: Rule
    ) -> PageEvidence? {
        if !rule.ignores("Link"),
            let link = LinkHeader.target(relation: "next", in: facts.headers, of: taken.request.url),
            !taken.isTaken(link)
        {
            return PageEvidence(name: "Link", meaning: "names a next page, \(Redaction.url(link))")
        }
        if !rule.ignores("Link"),
            Set(["next", taken.relation]).contains(where: { LinkHeader.hasUnreadable(relation: $0, in: facts.headers) })
        {
            return PageEvidence(name: "Link", meaning: "names a next page in a form that cannot be read (RFC 8288)")
        }
        // A page number names a next page only if it is above the current one.
        let current = paths.first { $0.1 == .pageNumber }.flatMap { facts.number($0.0) } ?? taken.pages
        func leads(_ text: String) -> Bool { Int(text).map { $0 > current } ?? !["", "null", "false"].contains(text) }
        for field in nextFields where !rule.ignores(field) {
            guard let next = facts.headers[field], field == "X-Next-Page" || !isNoCursor(next) else { continue }
            if field != "X-Next-Page" || leads(next) { return PageEvidence(name: field, meaning: "is \(shown(next))") }
        }
        if isOver { return nil }
        for (path, meaning) in paths where !rule.ignores(path) {
            guard let text = facts.values[path], !text.isEmpty else { continue }
            switch meaning {
            case .link:
                if PageEvidence.isLink(text) ? !taken.isTaken(text) : leads(text) {
                    return PageEvidence(
                        name: path,
                        meaning: "names a next page, \(PageEvidence.isLink(text) ? Redaction.url(text) : shown(text))")
                }
            case .nextPage:
                if PageEvidence.isLink(text) ? !taken.isTaken(text) : leads(text) {
                    return PageEvidence(name: path, meaning: "is \(shown(text))")
                }
            case .cursor, .lastKey:
                if !isNoCursor(text), !taken.request.hasValue(text) {
                    return PageEvidence(name: path, meaning: "names what comes next, \(shown(text))")
                }
            default: break
            }
        }
        return linkList(facts, taken, rule) ?? position(facts, taken, paths, rule)
    }

    /// Returns evidence from a list of links: `links: [{ rel: next, href: … }]`.
    private static func linkList(_ facts: PageFacts, _ taken: Taken, _ rule: Rule) -> PageEvidence? {
        for path in facts.values.keys.sorted() {
            guard facts.values[path] == "next", path.hasSuffix("].rel") || path.hasSuffix("].relation"),
                let dot = path.lastIndex(of: ".")
            else { continue }
            let element = path[..<dot]
            guard !rule.ignores(String(element)),
                let link = ["href", "url", "uri"].lazy.compactMap({ facts.values["\(element).\($0)"] }).first,
                !taken.isTaken(link)
            else { continue }
            return PageEvidence(name: String(element), meaning: "names a next page, \(Redaction.url(link))")
        }
        return nil
    }

    /// Returns evidence from counts of pages and records, or nil.
    private static func counted(
        _ facts: PageFacts, _ taken: Taken, _ paths: [(String, Meaning)], isOver: Bool, _ rule: Rule
    ) -> PageEvidence? {
        let counts = counts(facts), hasTotal = paths.contains { $0.1 == .total }
        for (name, isPages, count) in counts where isPages && !rule.ignores(name) {
            let pages = min(count, taken.counts[name] ?? count)
            if pages > taken.pages { return PageEvidence(name: name, meaning: "says that there are \(count) pages") }
            if taken.isAtEmptyPage(pages, facts), !hasAll(counts.map { ($0.name, $0.count) }, taken) {
                return PageEvidence(name: name, meaning: "says that there are \(count) pages", isEmptyPage: true)
            }
        }
        // The flag concerns only this page. A gap before it shows only in the total.
        if isOver, taken.pages == 1 { return nil }
        for (name, isPages, count) in counts where !isPages && !rule.ignores(name) {
            guard min(count, taken.counts[name] ?? count) > taken.records else { continue }
            // A single page with several lists may count the records of all of them.
            if taken.pages == 1, count == facts.recordCount.addingClamped(facts.otherRecords) { continue }
            if meaning(of: name) == .count {
                // A `count` may be the count of this page, or repeat the requested size.
                if hasTotal || taken.request.hasValue(count) { continue }
            }
            return PageEvidence(name: name, meaning: "says that there are \(count) records")
        }
        return nil
    }

    /// Returns evidence from counts on pages before an empty page that has none itself, or nil.
    ///
    /// A page that was lost, such as an answer with 204, says nothing about the end of the list.
    static func found(before facts: PageFacts, _ taken: Taken, _ rule: Rule) -> PageEvidence? {
        guard rule != .ignore, facts.recordCount == 0, !taken.isDeclaredOver, counts(facts).isEmpty else { return nil }
        for (name, count) in taken.counts.sorted(by: { $0.key < $1.key }) where !rule.ignores(name) {
            switch pageCountFields.contains(name) ? .pages : meaning(of: name) {
            case .count: continue
            case .pages, .lastPage:
                let isEmptyPage =
                    taken.isAtEmptyPage(count, facts) && !hasAll(taken.counts.map { ($0.key, $0.value) }, taken)
                if count <= taken.pages, !isEmptyPage { continue }
                return PageEvidence(
                    name: name, meaning: "said on a page before that there are \(count) pages", isBefore: true,
                    isEmptyPage: isEmptyPage)
            default:
                if count <= taken.records { continue }
                return PageEvidence(
                    name: name, meaning: "said on a page before that there are \(count) records", isBefore: true)
            }
        }
        return nil
    }

    /// Returns whether a total says that the scan has listed all records.
    ///
    /// Some servers count a page too many if the last one is full.
    private static func hasAll(_ counts: [(name: String, count: Int)], _ taken: Taken) -> Bool {
        counts.contains { name, count in
            (totalFields.contains(name) || meaning(of: name) == .total) && count <= taken.records
        }
    }

    static func isNoCursor(_ text: String) -> Bool { ["", "0", "-1", "null", "false"].contains(text) }

    /// Returns whether a cursor may mark the end of a list: a word for nothing, or a number in
    /// plain text or in Base64 (`LTE=` is -1) behind which no list goes on.
    ///
    /// Some server may mean a page by it: no list ends because of it.
    package static func maySayEnd(_ text: String) -> Bool {
        isNoCursor(text)
            || ["null", "nil", "none", "undefined", "nan", "end", "eof"].contains(text.lowercased())
            || ["LTE=", "LTE", "MA==", "MA"].contains(text)
    }

    static func shown(_ text: String) -> String {
        text.utf8.count > 60 ? String(text.unicodeScalars.prefix(40)) + "…" : text
    }

    /// Returns whether a text is a link: a member named `next` may also hold a number or a cursor.
    static func isLink(_ text: String) -> Bool {
        text.hasPrefix("http://") || text.hasPrefix("https://") || text.hasPrefix("/") || text.hasPrefix("?")
            || isRelativeLink(text)
    }

    /// Returns whether a text is a relative reference with a query, such as
    /// `Products?$skiptoken=20`: no encoding of a cursor has a `?`.
    private static func isRelativeLink(_ text: String) -> Bool {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")), text[mark...].contains("=") else { return false }
        let others = Array("\"<>\\^`{|}".utf8)
        return text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !others.contains($0) }
            && !text[..<mark].prefix { $0 != "/" }.contains(":")
    }
}

extension PageRequest {
    /// Returns whether a query parameter, or a member of the body, has this number.
    fileprivate func hasValue(_ number: Int) -> Bool {
        QueryParameters.values(in: url).contains { Int($0.value) == number }
            || body?.text.contains(":\(number)") == true
    }

    /// The number of records, or of pages, that the request itself skips.
    var passedOver: (records: Int, pages: Int) {
        var passed = (records: 0, pages: 0)
        for (name, value) in QueryParameters.values(in: url) {
            guard let number = Int(value), number > 1 else { continue }
            switch name.lowercased() {
            case "offset", "skip", "$skip", "start", "startindex", "from", "startat", "$offset", "resultoffset",
                "page[offset]", "pagination[start]":
                passed.records = number
            case "page", "page[number]", "page_number", "pagenumber", "p", "_page", "pagination[page]":
                passed.pages = number - 1
            default: break
            }
        }
        return passed
    }
}
