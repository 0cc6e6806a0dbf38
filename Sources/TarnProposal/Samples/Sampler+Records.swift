// Lists whose next page is requested by the id of a record: `max_id`, `before`, `since_id`.

import Tarn

extension Sampler {
    /// The parameters that name the record behind which a list goes on, by the order of the list.
    private static let newestFirst = ["max_id", "before", "before_id"]
    private static let oldestFirst = ["since_id", "after", "after_id", "starting_after"]

    /// Returns a sample whose next page is requested by the id of its last record; nil if no usual
    /// parameter leads to the records behind it.
    ///
    /// The ids show it: those of the next page are all behind those of the first one, and behind a
    /// number before its first record the server lists the first page again.
    func byRecords(
        _ sample: Sample, _ lists: [FoundList], _ bounds: inout PageSequence.Bounds
    ) async -> Sample? {
        let first = sample.pages[0]
        guard let ids = Sampler.ids(first, lists), ids.count > 1 else { return nil }
        let isBackward = ids[0] > ids[1], last = ids[ids.count - 1]
        guard zip(ids, ids.dropFirst()).allSatisfy({ isBackward ? $0 > $1 : $0 < $1 }) else { return nil }
        let (start, isOverflowing) = ids[0].addingReportingOverflow(isBackward ? 1 : -1)
        guard !isOverflowing else { return nil }
        let known = Set(QueryParameters.values(in: sample.origin).map(\.name))
        for name in isBackward ? Sampler.newestFirst : Sampler.oldestFirst where !known.contains(name) {
            let request = PageRequest(url: first.url).setting(.query(name), to: String(last), isNumber: true)
            guard let page = try? await self.page(request.url, like: lists), let next = Sampler.ids(page, lists),
                next.allSatisfy({ isBackward ? $0 <= last : $0 >= last }), next.contains(where: { $0 != last }),
                await answer(name, start, first, lists).isSame
            else { continue }
            let style = RecordStyle(
                isBackward: isBackward, parameter: name, size: StyleGuess.size(in: sample.origin),
                includesNamed: next.contains(last))
            var trial = sample
            trial.isComplete = await follow(style.pagination, &trial, lists, &bounds)
            guard trial.pages.count > 1 else { continue }
            trial.style = style.sampled
            return trial
        }
        return nil
    }

    /// Returns the ids of the records of a page, if all of them are integers; nil otherwise.
    private static func ids(_ page: Sample.Page, _ lists: [FoundList]) -> [Int]? {
        guard let list = PageReader.lists(page, like: lists).first, list.isList else { return nil }
        let texts = ListFinder.objects(page.json, list).map { $0["id"]?.scalarText }
        let ids = texts.compactMap { text in text.flatMap { Int($0) }.flatMap { String($0) == text ? $0 : nil } }
        return ids.isEmpty || ids.count < texts.count ? nil : ids
    }
}

/// The style `max_id` or `since_id` before it is written.
private struct RecordStyle {
    var isBackward: Bool
    var parameter: String
    var size: (name: String, value: Int)?
    var includesNamed: Bool

    var pagination: Pagination {
        .recordCursor(isBackward ? .backward : .forward, sends: .query(parameter), includesNamed: includesNamed)
    }

    var sampled: SampledStyle {
        var parts = ["param: \(YAMLText.scalar(parameter))"]
        if let size { parts.append("per_page: { \(YAMLText.scalar(size.name)): \(size.value) }") }
        if includesNamed { parts.append("includes_named: true") }
        var style = SampledStyle()
        style.text = "{ \(isBackward ? "max_id" : "since_id"): { \(parts.joined(separator: ", ")) } }"
        style.reason = "the parameter \(parameter) takes the id of the last record, and leads to those behind it"
        style.parameters = [parameter]
        return style
    }
}
