// Lists whose first answer says nothing about others: what a second request answers.

import Tarn

extension Sampler {
    /// The answer to a request for another page, compared with the first one.
    enum Answer { case refused, same, overlapping, empty, other }

    /// Looks for records behind a page whose style is unknown.
    ///
    /// A page of an unusual size may be full, too: of those with three records or more, the
    /// likeliest parameter is tried. The parameters are the declared ones; without a specification,
    /// those that most servers have.
    ///
    /// - Parameter hasSign: whether the answer says that there is more.
    func lookBehind(
        _ sample: inout Sample, _ lists: [FoundList], _ facts: PageFacts, _ declared: CountedStyle?,
        _ bounds: inout PageSequence.Bounds, hasSign: Bool
    ) async {
        let count = facts.recordCount, size = StyleGuess.size(in: sample.origin)
        let isFull = size.map { count >= $0.value } == true || count >= 10 && (count % 5 == 0 || count % 8 == 0)
        guard count > 0, declared != nil || isFull || hasSign || count >= 3 else { return }
        var tried: [String] = []
        let all = candidates(sample.origin, declared, size), isLikely = isFull || hasSign
        for candidate in isLikely ? all[...] : all.prefix(1) where options.pages > 1 || declared != nil {
            tried.append(candidate.parameter)
            guard var counted = await confirmed(candidate, sample.pages[0], count) else { continue }
            counted.size = size
            var trial = sample
            let isComplete = await follow(counted.pagination, &trial, lists, &bounds)
            guard trial.pages.count > 1 || isLikely || declared != nil else { continue }
            if counted.count.isEmpty { counted.count = StyleGuess.end(facts) }
            counted.observe(firstPage: count, hasMore: trial.pages.count > 1)
            trial.style = counted.sampled(
                trial.pages.count > 1
                    ? "the parameter \(counted.parameter) leads to other records"
                    : "the server answers to the parameter \(counted.parameter)")
            trial.isComplete = isComplete
            sample = trial
            return
        }
        guard isFull else { return }
        let names = tried.map { "`\(YAMLText.comment($0, limit: 40))`" }.joined(separator: " and ")
        let outcome = names.isEmpty ? "" : ", and \(names) \(tried.count == 1 ? "leads" : "lead") to no others"
        sample.style.reason = "UNCERTAIN: \(count) records may be a first page"
        sample.style.doubt = StyleDoubt(
            remark:
                "\(count) records may be a full page, with more behind it: the answer does not say so\(outcome). If the API has a parameter for the next page, name it under `paginate`.",
            styles: tried.isEmpty ? StyleGuess.likely(facts) : [])
    }

    /// Returns the parameters to try, the likeliest first.
    private func candidates(
        _ url: String, _ declared: CountedStyle?, _ size: (name: String, value: Int)?
    ) -> [CountedStyle] {
        if let declared { return [declared] }
        let names = Set(QueryParameters.values(in: url).map(\.name))
        // A parameter of the URL was tried already.
        guard names.isDisjoint(with: StyleGuess.pageNames + StyleGuess.offsetNames),
            !names.contains(StyleGuess.limitOfAll)
        else { return [] }
        let prefix = size?.name.hasPrefix("_") == true ? "_" : ""
        let pages = CountedStyle(unit: .pages, parameter: prefix + "page")
        let records = CountedStyle(
            unit: .records, parameter: prefix.isEmpty ? size?.name == "take" ? "skip" : "offset" : "_start")
        return ["limit", "take"].contains(size?.name) ? [records, pages] : [pages, records]
    }

    /// Returns a style with the number of its first page; nil if the parameter leads to no other
    /// records.
    private func confirmed(_ style: CountedStyle, _ first: Sample.Page, _ count: Int) async -> CountedStyle? {
        var style = style
        func answer(_ number: Int) async -> Answer { await self.answer(style.parameter, number, first) }
        switch style.unit {
        case .records:
            let next = await answer(count + (style.start ?? 0))
            return next == .other || next == .empty ? style : nil
        case .pages:
            let second = await answer(2)
            // A server refuses a page behind the last one, or it does not know the parameter.
            guard second == .other || second == .empty || second == .refused else { return nil }
            switch await answer(1) {
            case .same: style.start = 1
            case .other, .empty:
                guard await answer(0) == .same else { return nil }
                style.start = 0
            case .overlapping, .refused: return nil
            }
            return second == .refused && style.start == 1 ? nil : style
        }
    }

    /// Requests a page of another number.
    func answer(_ parameter: String, _ number: Int, _ first: Sample.Page) async -> Answer {
        let request = PageRequest(url: first.url).setting(.query(parameter), to: String(number), isNumber: true)
        let lists = ListFinder.lists(in: first.json)
        guard let page = try? await page(request.url, like: lists) else { return .refused }
        let known = PageReader.identities(first, like: lists), found = PageReader.identities(page, like: lists)
        if found.isEmpty { return .empty }
        if found == known { return .same }
        return Set(known).isDisjoint(with: found) ? .other : .overlapping
    }
}
