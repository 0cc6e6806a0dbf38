// Styles of pagination that only the parameters of a URL reveal.

import Tarn

/// The pagination that the query parameters of a URL suggest.
struct StyleGuess {
    static let pageNames = ["page", "_page", "p", "page_number", "pageNumber", "pageno", "page[number]", "currentPage"]
    static let offsetNames = ["offset", "skip", "start", "startAt", "start_index", "startIndex", "_start", "from"]
    static let sizeNames = [
        "per_page", "perPage", "per-page", "limit", "_limit", "page_size", "pageSize", "pagesize", "size", "count",
        "page[size]", "maxResults", "max_results", "take", "rows", "$top", "num",
    ]

    /// The style to follow.
    var pagination: Pagination
    var style: SampledStyle

    /// Returns the style that parameters suggest, if the page is full; nil without such parameters.
    static func guess(url: String, recordCount: Int) -> StyleGuess? {
        let parameters = QueryParameters.values(in: url)
        func find(_ names: [String]) -> (name: String, value: Int)? {
            for name in names {
                if let found = parameters.first(where: { $0.name == name }), let value = Int(found.value) {
                    return (name, value)
                }
            }
            return nil
        }
        let size = find(sizeNames)
        if let size, recordCount < size.value { return nil }
        if let page = find(pageNames) {
            guard (0...1).contains(page.value) else { return nil }
            let size = size.map { ", per_page: { \(YAMLText.scalar($0.name)): \($0.value) }" } ?? ""
            var style = SampledStyle()
            style.text =
                "{ page_number: { param: \(YAMLText.scalar(page.name)), start: \(page.value)\(size) } }"
            style.parameters = [page.name]
            style.reason = "the URL has the parameter \(page.name), and the next number leads to other records"
            return StyleGuess(pagination: .pageNumber(.query(page.name), start: page.value), style: style)
        }
        guard let offset = find(offsetNames), offset.value == 0 else { return nil }
        let sizeText = size.map { ", per_page: { \(YAMLText.scalar($0.name)): \($0.value) }" } ?? ""
        var style = SampledStyle()
        style.text = "{ offset: { param: \(YAMLText.scalar(offset.name))\(sizeText) } }"
        style.parameters = [offset.name]
        style.reason = "the URL has the parameter \(offset.name), and a larger one leads to other records"
        return StyleGuess(pagination: .offset(.query(offset.name)), style: style)
    }

    /// Adds the parameters of a URL to a style that numbers pages or records.
    static func completed(_ choice: PaginationChoice, url: String) -> SampledStyle {
        var style = SampledStyle()
        style.text = choice.style
        style.reason = choice.reason
        let parameters = QueryParameters.values(in: url)
        for name in pageNames + offsetNames where choice.style.contains("param: \(name),") {
            style.parameters.insert(name)
        }
        for name in ["cursor", "after", "page_token", "pageToken", "next_token"]
        where choice.style.contains("param: \(name) ") || choice.style.contains("param: \(name),") {
            style.parameters.insert(name)
        }
        let isNumbered = choice.style.hasPrefix("{ page_number:") || choice.style.hasPrefix("{ offset:")
        if isNumbered, choice.style.hasSuffix(" } }"),
            let size = parameters.first(where: { sizeNames.contains($0.name) && Int($0.value) != nil })
        {
            style.text =
                choice.style.dropLast(4) + ", per_page: { \(YAMLText.scalar(size.name)): \(size.value) } } }"
        }
        // Names of members come from the server: odd ones are left to `auto`.
        let isPlain = style.text.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || " {}_.:,'$[]-".utf8.contains($0)
        }
        if !isPlain { style.text = "auto" }
        return style
    }
}
