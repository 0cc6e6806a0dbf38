// Totals that are limits: servers that count up to 100 or 10,000 records, and have more.

import Tarn

extension Sampler {
    /// Requests the page behind the last one by a round total, and removes the total from the style
    /// if there are records.
    ///
    /// Nothing in an answer tells a limit from a number of records: a sync by the total would end
    /// at it without an error.
    func confirmTotal(_ sample: inout Sample, _ lists: [FoundList]) async {
        guard options.pages > 1, sample.style.parameters.count == 1, let parameter = sample.style.parameters.first,
            let start = sample.style.firstNumber
        else { return }
        let first = PageReader.facts(sample.pages[0], lists), size = first.recordCount
        guard size > 0, let count = sample.style.count(first) else { return }
        let (total, isOverflowing) = count.value.multipliedReportingOverflow(by: count.isOfPages ? size : 1)
        guard !isOverflowing, total > size, Sampler.isRound(total) || count.isOfPages && count.value % 10 == 0 else {
            return
        }
        let isPages = sample.style.numbersPages
        func page(behind records: Int) async -> Sample.Page? {
            let request = PageRequest(url: sample.origin)
                .setting(.query(parameter), to: String(start + (isPages ? records / size : records)), isNumber: true)
            return try? await self.page(request.url, like: lists)
        }
        guard let behind = await page(behind: total) else { return }
        let facts = PageReader.facts(behind, like: lists), expected = isPages ? total % size : 0
        // The list may have grown since the first page.
        guard facts.recordCount > expected, facts.number(count.path).map({ $0 <= count.value }) ?? true else { return }
        if expected == 0 {
            // A server may answer with its last page, or with the first one, to larger numbers.
            guard let last = await page(behind: total - size) else { return }
            let repeated = [last, sample.pages[0]].contains { known in
                [.same, .reordered].contains(PageReader.relation(of: behind, to: known, like: lists))
            }
            guard !repeated else { return }
        }
        sample.style.removeCount(at: count.path)
        sample.isComplete = false
        sample.notes.append(
            "`\(YAMLText.comment(count.path, limit: 60))` is \(count.value), but there are records behind it: it is a limit, and not written."
        )
    }

    /// Whether a number of records may be a limit: 100, 250, 999, 1,000, 65,536 and so on.
    private static func isRound(_ number: Int) -> Bool {
        number % 50 == 0 || number % 100 == 99 || number >= 64 && number & (number - 1) == 0
    }
}

extension SampledStyle {
    /// Whether the style numbers pages, and does not count records.
    var numbersPages: Bool { text.hasPrefix("{ page_number:") }

    /// Whether the style follows links.
    var isLink: Bool { text == "header_link" || text.hasPrefix("{ json_link:") }

    /// Returns the name of the evidence in the links that the style follows, as a description
    /// writes it; nil without one.
    ///
    /// A style that reads `_links.next` also follows a link in `_links.next.href`.
    func linkSign(_ facts: PageFacts) -> String? {
        guard text != "header_link" else { return "Link" }
        guard isLink, let start = text.firstRange(of: "path: "), text.hasSuffix(" } }") else { return nil }
        let path = text[start.upperBound...].dropLast(4)
        return facts.values.keys.sorted().first { name in
            ["", ".href", ".url"].contains { ending in
                let inner = String(name.dropLast(ending.count))
                return name.hasSuffix(ending) && [inner, "'\(inner)'", YAMLText.scalar(inner)].contains { $0 == path }
            }
        }.map(YAMLText.scalar)
    }

    /// Whether the style numbers pages or records.
    var isNumbered: Bool { numbersPages || text.hasPrefix("{ offset:") }

    /// The number of the first page, or of the first record; nil for other styles.
    var firstNumber: Int? {
        guard isNumbered else { return nil }
        guard let start = text.firstRange(of: ", start: ") else { return numbersPages ? 1 : 0 }
        return Int(text[start.upperBound...].prefix { $0.isNumber })
    }

    /// Returns the number of records or of pages by which the style ends, as an answer has it; nil
    /// without one.
    func count(_ facts: PageFacts) -> (path: String, value: Int, isOfPages: Bool)? {
        for path in facts.values.keys.sorted() {
            for (key, isOfPages) in [("total", false), ("total_pages", true)] where has(key, path) {
                return facts.number(path).map { (path, $0, isOfPages) }
            }
        }
        return nil
    }

    private func has(_ key: String, _ path: String) -> Bool {
        SampledStyle.forms(of: key, path).contains { text.contains($0) }
    }

    /// Returns the texts that name a path in a style, each with the character behind it.
    private static func forms(of key: String, _ path: String) -> [String] {
        [YAMLText.scalar(path), path, "'\(path)'"].flatMap { [", \(key): \($0) }", ", \(key): \($0),"] }
    }

    /// Removes the location of the number by which the style ends.
    mutating func removeCount(at path: String) {
        for form in ["total", "total_pages"].flatMap({ SampledStyle.forms(of: $0, path) }) {
            text = text.replacing(form, with: form.hasSuffix(",") ? "," : " }")
        }
    }
}
