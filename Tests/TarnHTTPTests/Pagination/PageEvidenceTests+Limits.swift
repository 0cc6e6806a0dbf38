// Limits and numbers beside the signs of more pages.

import Testing

@testable import TarnHTTP

extension PageEvidenceTests {
    @Test("a limit that the user sets is no truncation")
    func limits() throws {
        let pages = Array(
            repeating: Self.page(2, ["total": "20", "next": "?p=2"], ["Link": "</y>; rel=next"]), count: 3)
        #expect(
            try PaginationStyleTests.walk(.pageNumber(parameter: "p"), pages) {
                ($0.pageLimit, $0.stopsAtLimit) = (2, true)
            }.count == 2)
        #expect(
            try PaginationStyleTests.walk(.pageNumber(parameter: "p"), pages) {
                ($0.recordLimit, $0.stopsAtLimit) = (2, true)
            }.count == 1)
    }

    @Test("numbers from outside do not trap", arguments: [Int.max, Int.min, Int.max - 1])
    func largeNumbers(_ number: Int) throws {
        let text = String(number)
        let page = Self.page(
            2, ["total": text, "pages": text, "next_page": text, "page": text, "count": text],
            ["X-Total": text, "Content-Range": "items 0-1/\(text)"], ids: [text])
        for style in [
            Pagination.singlePage, .automatic,
            .offset(.query("o"), start: max(0, number), size: .init(parameter: "n", value: 5)),
            .pageNumber(.query("p"), start: max(0, number)),
            .recordCursor(.backward, sends: .query("m"), includesNamed: true),
            .recordCursor(.forward, sends: .query("m"), includesNamed: true),
        ] {
            for url in ["http://h/", "http://h/?o=\(text)&p=\(text)&page=\(text)&offset=\(text)"] {
                var sequence = try PageSequence(style, PageRequest(url: url), .init(base: "http://h"))
                for _ in 0..<3 { guard (try? sequence.advance(page)) == true else { break } }
                if (try? sequence.resume(at: url, ordinal: 2, listed: Int.max)) != nil {
                    _ = try? sequence.advance(page)
                }
            }
        }
    }
}
