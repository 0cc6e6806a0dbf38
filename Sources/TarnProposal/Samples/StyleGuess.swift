// Styles of pagination that only the parameters of a URL, or the next request, reveal.

import Tarn

/// A pagination that the query parameters of a URL, or a sign in an answer, suggest.
struct StyleGuess {
    static let pageNames =
        [
            "page", "_page", "p", "page_number", "pageNumber", "pageno", "pageNo", "page_no", "pageIndex", "page_index",
            "currentPage",
        ] + CountingParameters.pages
    static let offsetNames =
        ["offset", "skip", "start", "startAt", "start_index", "startIndex", "_start", "from", "$skip"]
        + CountingParameters.offsets
    static let sizeNames =
        [
            "per_page", "perPage", "per-page", "limit", "_limit", "page_size", "pageSize", "pagesize", "size", "count",
            "maxResults", "max_results", "take", "rows", "num",
        ] + CountingParameters.sizes
    /// The parameter of OData that limits the whole list, and not a page of it (OData 4.01 part 1,
    /// 11.2.6.3): it is never sent.
    static let limitOfAll = "$top"

    /// The cursors that name the first page. Others are those of a later one.
    static let firstCursors: Set = ["*", "0", "-1", "start", "first", "initial"]

    /// The style to follow.
    var pagination: Pagination
    var style: SampledStyle
    /// Whether only the name of the parameter is guessed. Then the next page must have none of the
    /// records of the first one.
    var isByName = false
    /// The style in parts, if parameters of the URL suggest it.
    var counted: CountedStyle?

    /// Returns the styles to try.
    static func guesses(
        url: String, _ facts: PageFacts, _ lists: [FoundList], _ records: [JSONValue]
    ) -> [StyleGuess] {
        [guess(url: url), byRecord(facts, lists, records, url), search(facts, lists, url), byPosition(facts, url)]
            .compactMap(\.self) + byName(facts, url) + byOwnName(facts, url)
    }

    /// Returns the style that sends the id of the last record, as Stripe's API does: for a flag of
    /// more records.
    private static func byRecord(
        _ facts: PageFacts, _ lists: [FoundList], _ records: [JSONValue], _ url: String
    ) -> StyleGuess? {
        guard let flag = StyleGuess.flag(facts), let path = lastID(lists) else { return nil }
        let ids = records.compactMap { $0["id"]?.scalarText }
        guard !ids.isEmpty, ids.count == records.count, Set(ids).count == ids.count else { return nil }
        var guess = StyleGuess(
            PaginationChoice(
                pagination: .cursor(path: path, sends: .query("starting_after"), hasMore: flag),
                style: lastRecord(path, flag),
                reason: "\(flag) is true, and the id of the last record leads to other records"), url)
        guess.isByName = true
        return guess
    }

    /// Returns the path of the id of the last record; nil if it is not one list in an envelope.
    private static func lastID(_ lists: [FoundList]) -> String? {
        guard let list = lists.first, list.isList, !list.steps.isEmpty else { return nil }
        var steps: [JSONPath.Step] = []
        for step in list.steps {
            guard case .key(let key) = step else { return nil }
            steps.append(.key(key))
        }
        return JSONPath(.record, steps: steps + [.index(-1), .key("id")]).description
    }

    /// Returns the style that sends the id of the last record, as a description writes it.
    private static func lastRecord(_ path: String, _ flag: String) -> String {
        "{ cursor: { path: \(YAMLText.scalar(path)), param: starting_after, has_more: \(YAMLText.scalar(flag)) } }"
    }

    /// Returns the style that sends a token under its own name: `offset` of Airtable's API.
    private static func byPosition(_ facts: PageFacts, _ url: String) -> StyleGuess? {
        let path = facts.values.keys.sorted().first { path in
            PageEvidence.isPosition(path) && facts.values[path].map { Int($0) == nil && !$0.isEmpty } == true
        }
        guard let path, let name = JSONPath(path)?.keys.last else { return nil }
        return StyleGuess(
            PaginationChoice(
                pagination: .cursor(path: path, sends: .query(name)),
                style: "{ cursor: { path: \(YAMLText.scalar(path)), param: \(YAMLText.scalar(name)) } }",
                reason: "the parameter \(name) takes the value at \(path), and leads to other records"), url)
    }

    /// Returns styles that send a cursor under the name that the answer gives it, or under one that
    /// goes with it.
    ///
    /// Examples: `marker` for `next_marker`, `starting_after` for `next.starting_after`, `after`
    /// for `endCursor`.
    static func byName(_ facts: PageFacts, _ url: String) -> [StyleGuess] {
        var guesses: [StyleGuess] = []
        for path in facts.values.keys.sorted() {
            guard isCursor(facts.values[path]), let keys = JSONPath(path)?.keys else { continue }
            guesses += (inBrackets(keys, url) + parameters(keys)).compactMap { byName(path, $0, facts, url) }
        }
        return Array(guesses.prefix(4))
    }

    /// Returns styles that send a text under its own name, if the name has a word for what comes
    /// next.
    static func byOwnName(_ facts: PageFacts, _ url: String) -> [StyleGuess] {
        let words: Set = ["cursor", "token", "marker", "after", "continue", "continuation", "scroll", "bookmark"]
        var guesses: [StyleGuess] = []
        for path in facts.values.keys.sorted() {
            guard let text = facts.values[path], isCursor(text), let keys = JSONPath(path)?.keys, let name = keys.last,
                parameters(keys).isEmpty, !PageEvidence.isPosition(path),
                !words.isDisjoint(with: EnglishName.words(of: name)),
                let guess = byName(path, name, facts, url)
            else { continue }
            guesses.append(guess)
        }
        return Array(guesses.prefix(3))
    }

    private static func byName(_ path: String, _ name: String, _ facts: PageFacts, _ url: String) -> StyleGuess? {
        let more = flag(facts).map { ", has_more: \(YAMLText.scalar($0))" } ?? ""
        var guess = StyleGuess(
            PaginationChoice(
                pagination: .cursor(path: path, sends: .query(name), hasMore: flag(facts)),
                style: "{ cursor: { path: \(YAMLText.scalar(path)), param: \(YAMLText.scalar(name))\(more) } }",
                reason: "the parameter \(name) takes the cursor at \(path)"), url)
        guess.isByName = true
        return guess.style.text == "auto" ? nil : guess
    }

    /// Whether a value may be a cursor, and is no URL and no flag.
    private static func isCursor(_ value: String?) -> Bool {
        guard let value, !["", "true", "false", "0"].contains(value) else { return false }
        return !["http://", "https://", "/", "?"].contains(where: value.hasPrefix)
    }

    /// Returns the parameter that may take a cursor beside a page size in brackets: `page[after]`
    /// beside `page[size]`.
    private static func inBrackets(_ keys: [String], _ url: String) -> [String] {
        guard let last = keys.last, ["after", "cursor", "next", "nextCursor", "next_cursor"].contains(last) else {
            return []
        }
        let names = QueryParameters.values(in: url).map(\.name)
        guard names.contains(where: { $0 == "page[size]" || $0 == "page[limit]" }) else { return [] }
        return last == "after" ? ["page[after]"] : ["page[cursor]", "page[after]"]
    }

    /// Returns the parameters that may take the cursor at a path of these keys.
    private static func parameters(_ keys: [String]) -> [String] {
        guard let last = keys.last else { return [] }
        let words = EnglishName.words(of: last)
        if words == ["end", "cursor"] { return ["after", last] }
        if words == ["cursor"] { return [last, "after"] }
        if words.first == "next", words.count > 1 {
            let rest = String(last.dropFirst("next".count).drop { !$0.isLetter })
            let name = EnglishName.uncapitalized(rest)
            if ["page", "url", "uri", "href", "link"].contains(name) { return [] }
            return [name, last] + (name == "cursor" ? ["start_cursor", "after"] : [])
        }
        guard keys.dropLast().last.map({ EnglishName.words(of: $0).contains("next") }) == true else { return [] }
        return ["href", "url", "uri", "page", "limit", "per_page"].contains(last) ? [] : [last]
    }

    /// Returns the style of Elasticsearch's search.
    private static func search(_ facts: PageFacts, _ lists: [FoundList], _ url: String) -> StyleGuess? {
        let paths: [String] = ["hits.total.value", "hits.total"]
        guard lists.first?.steps == [.key("hits"), .key("hits")],
            let total = paths.first(where: { facts.number($0) ?? 0 > facts.recordCount })
        else { return nil }
        let isLimit = isRefuted(total: total, [facts])
        return StyleGuess(
            PaginationChoice(
                pagination: isLimit ? .offset(.query("from")) : .offset(.query("from"), total: total),
                style: isLimit ? "{ offset: { param: from } }" : "{ offset: { param: from, total: \(total) } }",
                reason:
                    "the answer lists \(facts.recordCount) of \(facts.number(total) ?? 0) hits, and `from` leads to others"
            ), url)
    }

    private init(_ choice: PaginationChoice, _ url: String) {
        self.init(pagination: choice.pagination, style: StyleGuess.completed(choice, url: url, recordCount: 0))
    }

    private init(pagination: Pagination, style: SampledStyle) {
        self.pagination = pagination
        self.style = style
    }

    /// Returns the path of a flag of more records that is true; nil without one.
    private static func flag(_ facts: PageFacts) -> String? {
        facts.values.keys.sorted().first { PageEvidence.isMore($0) && facts.flag($0) == true }
    }

    /// Returns the location of a flag of more records, or of their number, as a style writes it;
    /// empty without one.
    ///
    /// - Parameter pages: the facts about the pages that were looked at, the first page included.
    static func end(_ facts: PageFacts, pages: [PageFacts] = []) -> String {
        if let flag = flag(facts) { return "has_more: \(YAMLText.scalar(flag))" }
        let total = facts.values.keys.sorted().first { PageEvidence.isTotal($0) && !isRefuted(total: $0, pages) }
        return total.map { "total: \(YAMLText.scalar($0))" } ?? ""
    }

    /// Whether the pages show that a number is not that of all records: it is declared a lower
    /// limit, the first page alone has as many, or it falls by the size of each page.
    static func isRefuted(total path: String, _ pages: [PageFacts]) -> Bool {
        // Elasticsearch counts up to 10,000 hits, and reports a lower limit (`gte`) beyond.
        let relation = (path.split(separator: ".").dropLast() + ["relation"]).joined(separator: ".")
        if pages.first?.values[relation] == "gte" { return true }
        guard pages.count > 1, let total = pages[0].number(path) else { return false }
        let count = pages[0].recordCount
        if total <= count, pages[1].recordCount > 0 { return true }
        return pages[1].number(path).map { (total - $0) * 2 > count } ?? false
    }

    /// Returns styles with their usual parameters for a list that goes on, each with its condition.
    static func likely(_ facts: PageFacts, _ lists: [FoundList]) -> [(text: String, condition: String)] {
        let flag = flag(facts), found = end(facts, pages: [facts, facts]), end = found.isEmpty ? "" : ", " + found
        var styles: [(text: String, condition: String)] = []
        if let path = facts.values.keys.sorted().first(where: PageEvidence.isPosition),
            let name = path.split(separator: ".").last.map(String.init)
        {
            styles.append(
                (
                    "{ cursor: { path: \(YAMLText.scalar(path)), param: \(YAMLText.scalar(name)) } }",
                    "if a parameter takes that value: write its name"
                ))
        }
        styles.append(("{ page_number: { param: page\(end) } }", "if ?page=2 lists the next records"))
        styles.append(
            (
                "{ offset: { param: offset\(end) } }",
                "if ?offset=\(facts.recordCount) lists them; other names: skip, start, startAt, from"
            ))
        if let flag, let path = lastID(lists) {
            styles.append((lastRecord(path, flag), "if the id of the last record lists those behind it"))
        }
        return styles
    }

    /// Returns the page size that a URL has.
    static func size(in url: String) -> (name: String, value: Int)? { number(in: url, sizeNames) }

    private static func number(in url: String, _ names: [String]) -> (name: String, value: Int)? {
        let parameters = QueryParameters.values(in: url)
        for name in names {
            if let found = parameters.first(where: { $0.name == name }), let value = Int(found.value) {
                return (name, value)
            }
        }
        return nil
    }

    /// Returns the style that parameters suggest; nil without such parameters.
    static func guess(url: String) -> StyleGuess? {
        var counted: CountedStyle, reason: String
        if let page = number(in: url, pageNames) {
            guard (0...1).contains(page.value) else { return nil }
            counted = CountedStyle(unit: .pages, parameter: page.name, start: page.value)
            reason = "the URL has the parameter \(page.name), and the next number leads to other records"
        } else if let offset = number(in: url, offsetNames), offset.value == 0 {
            counted = CountedStyle(unit: .records, parameter: offset.name)
            reason = "the URL has the parameter \(offset.name), and a larger one leads to other records"
        } else {
            return nil
        }
        counted.size = size(in: url)
        var guess = StyleGuess(pagination: counted.pagination, style: counted.sampled(reason))
        guess.counted = counted
        return guess
    }

    /// The style with 1 as the number of the first page, if the URL has 0: servers that count from
    /// 1 often answer to 0 with the first page.
    var countedFromOne: StyleGuess? {
        guard var counted, counted.unit == .pages, counted.start == 0 else { return nil }
        counted.start = 1
        let reason = "the URL has the parameter \(counted.parameter), and 1 is the first page"
        var guess = StyleGuess(pagination: counted.pagination, style: counted.sampled(reason))
        guess.counted = counted
        return guess
    }

    /// Returns styles that send the number of a page, or of records, under a name with brackets or
    /// a prefix: the answers of such APIs name it without them.
    static func bracketed(_ choice: PaginationChoice) -> [PaginationChoice] {
        let styles: [(start: String, unit: CountedStyle.Unit, names: [String])] = [
            ("{ page_number: { param: page", .pages, ["pagination[page]", "page[number]"]),
            ("{ offset: { param: start", .records, ["pagination[start]"]),
            ("{ offset: { param: offset", .records, ["page[offset]", "pagination[start]"]),
        ]
        return styles.flatMap { style -> [PaginationChoice] in
            guard choice.style.hasPrefix(style.start + " ") || choice.style.hasPrefix(style.start + ",") else {
                return []
            }
            let isFromZero = choice.style.contains(", start: 0"), kind = String(style.start.prefix { $0 != ":" })
            return style.names.map { name in
                let counted = CountedStyle(
                    unit: style.unit, parameter: name, start: isFromZero ? 0 : nil)
                return PaginationChoice(
                    pagination: counted.pagination,
                    style: choice.style.replacing(
                        style.start, with: "\(kind): { param: \(YAMLText.scalar(name))"),
                    reason: "\(choice.reason), and the parameter \(name) leads to other records")
            }
        }
    }

    /// The parameter of a URL that numbers pages or records; nil without one.
    static func countingParameter(of url: String) -> String? {
        number(in: url, pageNames)?.name ?? number(in: url, offsetNames)?.name
    }

    /// Returns a style without a total that the pages refute.
    static func withoutRefutedTotal(_ choice: PaginationChoice, _ pages: [PageFacts]) -> PaginationChoice {
        var choice = choice
        for path in pages.first?.values.keys.sorted() ?? [] where isRefuted(total: path, pages) {
            for written in Set([YAMLText.scalar(path), path, "'\(path)'"]) {
                for end in [" }", ","] {
                    choice.style = choice.style.replacing(", total: \(written)\(end)", with: end)
                }
            }
        }
        return choice
    }

    /// Adds the parameters of a URL to a style that numbers pages or records.
    static func completed(_ choice: PaginationChoice, url: String, recordCount: Int) -> SampledStyle {
        var style = SampledStyle()
        style.text = choice.style
        style.reason = choice.reason
        let parameters = QueryParameters.values(in: url)
        for case .query(let name) in choice.pagination.style.parameters { style.parameters.insert(name) }
        let isNumbered = choice.style.hasPrefix("{ page_number:") || choice.style.hasPrefix("{ offset:")
        if isNumbered, choice.style.hasSuffix(" } }"),
            let size = parameters.first(where: { sizeNames.contains($0.name) && Int($0.value) != nil })
        {
            // A page with fewer records than requested is the last one, or the server's maximum.
            let isCounted = choice.style.contains("total") || choice.style.contains("has_more")
            let end = !isCounted && recordCount < Int(size.value) ?? 0 ? ", end: empty" : ""
            style.text =
                choice.style.dropLast(4) + ", per_page: { \(YAMLText.scalar(size.name)): \(size.value) }\(end) } }"
        }
        // Names of members come from the server: odd ones are left to `auto`.
        let isPlain = style.text.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || " {}_.:,'$[]-@#\\".utf8.contains($0)
        }
        guard isPlain else {
            // `auto` sends what is under `with`, also the cursor of the first page.
            style.text = "auto"
            for first in parameters where firstCursors.contains(first.value) { style.parameters.remove(first.name) }
            style.doubt = StyleDoubt(
                remark:
                    "The names that tell of other pages cannot be written here, and `auto` may not find them: compare the number of records with the server's."
            )
            return style
        }
        let isCursor = style.text.hasPrefix("{ cursor:") || style.text.hasPrefix("{ header_cursor:")
        if isCursor, style.text.hasSuffix(" } }"),
            let first = parameters.first(where: { style.parameters.contains($0.name) }),
            firstCursors.contains(first.value)
        {
            style.text = style.text.dropLast(4) + ", start: \(YAMLText.scalar(first.value)) } }"
        }
        return style
    }
}
