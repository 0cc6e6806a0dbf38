// Lists whose first answer says nothing about others: what a second request answers.

import Tarn

extension Sampler {
    /// The answer to a request for another page, compared with the first one.
    enum Answer: Equatable {
        case refused
        /// The server says that there is no such page.
        case missing
        /// The server says that the request is wrong: it has no such page, or no such parameter.
        case invalid
        case page(PageRelation)

        static let empty = Answer.page(.empty), other = Answer.page(.other)
        /// Whether the records are those of the first page. The list may have moved by a record.
        var isSame: Bool { [.page(.same), .page(.reordered), .page(.overlapping)].contains(self) }
    }

    /// Looks for records behind a page whose style is unknown.
    ///
    /// A page of any size may be full, or be it tomorrow. The parameters that are tried are the
    /// declared ones; without a specification, those that most servers have.
    ///
    /// - Parameters:
    ///   - moved: the parameters that have led to new records among known ones so far.
    ///   - isLikely: whether the answer says that there is more, or other lists may be longer.
    func lookBehind(
        _ sample: inout Sample, _ lists: [FoundList], _ facts: PageFacts, _ declared: CountedStyle?,
        _ bounds: inout PageSequence.Bounds, _ moved: inout [MovedRecords], isLikely: Bool
    ) async {
        let count = facts.recordCount, size = StyleGuess.size(in: sample.origin)
        let isFull = size.map { count >= $0.value } ?? (count % 12 == 0) || MainList.isPageSize(count)
        defer { if sample.style.text == "single_page" { sample.style.doubtMoved(moved, facts, lists) } }
        guard count > 0 else { return }
        var tried: [String] = []
        let all = candidates(sample.origin, declared, size, hasSign: isLikely, facts)
        for candidate in all where options.pages > 1 || declared != nil {
            tried.append(candidate.parameter)
            guard var counted = await confirmed(candidate, sample.pages[0], lists, count, &moved) else { continue }
            counted.size = size
            var trial = sample
            var isComplete = await follow(counted.pagination, &trial, lists, &bounds)
            if trial.pages.count == 1, let status = trial.refusal {
                // A sign of more contradicts the refusal; a full page, that of an invalid number.
                guard !isLikely, !isFull || Sampler.missing.contains(status) else { continue }
                trial.endStatus = status
                trial.notes = sample.notes
                isComplete = true
            }
            let isUsual = !Sampler.otherNames.contains(candidate.parameter)
            // An empty page behind a short list: a longer list has others.
            guard trial.pages.count > 1 || isUsual || declared != nil else { continue }
            if counted.count.isEmpty {
                counted.count = StyleGuess.end(facts, pages: Sampler.facts(trial.pages, lists))
            }
            counted.endsRepeated = trial.repeatsLast
            counted.observe(Sampler.facts(trial.pages, lists).map(\.recordCount))
            trial.style = counted.sampled(
                trial.pages.count > 1
                    ? "the parameter \(counted.parameter) leads to other records"
                    : "the server answers to the parameter \(counted.parameter)")
            trial.isComplete = isComplete
            sample = trial
            return
        }
        guard moved.isEmpty else { return }
        if isFull || isLikely, declared == nil, options.pages > 1,
            let trial = await byRecords(sample, lists, &bounds)
        {
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
            styles: tried.isEmpty ? StyleGuess.likely(facts, lists) : [])
    }

    /// Returns why a link to the second page is no way to it; nil if it is one.
    static func problem(ofLink sample: Sample, _ lists: [FoundList]) -> String? {
        if sample.pages.count == 1, sample.refusal != nil { return "the server refuses the page of its own link" }
        // CKAN names a next page behind the last one, without end.
        guard sample.pages.count > 1, let last = sample.pages.last,
            ListFinder.lists(in: last.json, like: lists).allSatisfy({ ListFinder.objects(last.json, $0).isEmpty })
        else { return nil }
        return "the server's links have no end"
    }

    /// Looks for a style by numbers instead of one that leads to no other records.
    ///
    /// The links of some servers lack the path under which the API is: Confluence has it beside
    /// the link, in `_links.base`. Others count pages, and tell of an offset.
    ///
    /// - Parameters:
    ///   - plain: the sample before the style was followed.
    ///   - reason: what was wrong with that style.
    /// - Returns: whether a style was found.
    func replace(
        _ sample: inout Sample, _ plain: Sample, _ lists: [FoundList], _ facts: PageFacts,
        _ bounds: inout PageSequence.Bounds, _ reason: String
    ) async -> Bool {
        var trial = plain, moved: [MovedRecords] = []
        trial.style = SampledStyle()
        await lookBehind(&trial, lists, facts, nil, &bounds, &moved, isLikely: true)
        if trial.pages.count == 1 {
            // The links that have no end would contradict the end by a number.
            guard trial.isComplete, trial.style.isNumbered, let link = plain.style.linkSign(facts) else { return false }
            trial.style.ignoredSign = link
            // A server that filters its pages may have records behind one without any.
            let isWhole = facts.values.keys.contains { path in
                PageEvidence.isTotal(path) && facts.number(path).map { $0 <= facts.recordCount } ?? false
            }
            if !isWhole {
                trial.style.reason = "UNCERTAIN: " + trial.style.reason
                trial.style.doubt = StyleDoubt(
                    remark:
                        "every page names a next one, which is ignored: if the server leaves out records of a page, there may be more behind a page without any."
                )
            }
        }
        trial.style.reason += "; \(reason)"
        sample = trial
        return true
    }

    /// The statuses with which a server says that there is no such page.
    static let missing: Set = [404, 410, 416]
    /// The statuses with which a server reports an invalid request.
    static let invalid: Set = [400, 422]

    /// Parameters that are tried only if an answer says that there is more.
    private static let otherNames: Set = ["start", "_page", "from", "skip", "_skip"]

    /// Returns the parameters to try, the likeliest first.
    private func candidates(
        _ url: String, _ declared: CountedStyle?, _ size: (name: String, value: Int)?, hasSign: Bool,
        _ facts: PageFacts
    ) -> [CountedStyle] {
        if let declared { return [declared] }
        let parameters = QueryParameters.values(in: url), names = Set(parameters.map(\.name))
        // A number of the URL was tried already. `from` may also be a date.
        let numbers = Set(parameters.filter { Int($0.value) != nil }.map(\.name))
        guard numbers.isDisjoint(with: StyleGuess.pageNames + StyleGuess.offsetNames),
            !names.contains(StyleGuess.limitOfAll)
        else { return [] }
        if let size, let beside = CountingParameters.beside(size: size.name) {
            return [CountedStyle(unit: beside.countsPages ? .pages : .records, parameter: beside.name)]
        }
        let prefix = size?.name.hasPrefix("_") == true ? "_" : ""
        let pages = CountedStyle(unit: .pages, parameter: prefix + "page")
        let records = CountedStyle(
            unit: .records, parameter: prefix.isEmpty ? size?.name == "take" ? "skip" : "offset" : "_start")
        let others = hasSign ? lessUsual(prefix, isSize: size?.name == "size") : []
        // The paths of Socrata's data sets.
        let path = URLReference(url).path, isSocrata = path.contains("/resource/") && path.hasSuffix(".json")
        let ofSocrata = isSocrata ? [CountedStyle(unit: .records, parameter: "$offset")] : []
        let usual = ["limit", "take"].contains(size?.name) ? [records, pages] : [pages, records]
        // An answer whose first record has the number 1 says so by its offset.
        let named = namedByAnswer(facts).filter { hasSign || $0.unit == .records && $0.start == 1 }
        var seen = names
        return (named + usual + ofSocrata + others).filter { seen.insert($0.parameter).inserted }
    }

    /// Returns the parameters to try behind the usual ones: those of CouchDB (`skip`), of Close
    /// (`_skip`) and others.
    private func lessUsual(_ prefix: String, isSize: Bool) -> [CountedStyle] {
        guard prefix.isEmpty else { return [CountedStyle(unit: .records, parameter: prefix + "skip")] }
        return [
            CountedStyle(unit: .records, parameter: "start"), CountedStyle(unit: .pages, parameter: "_page"),
            CountedStyle(unit: .records, parameter: "skip"),
        ] + (isSize ? [CountedStyle(unit: .records, parameter: "from")] : [])
    }

    /// Returns the parameters whose names and first values an answer has: `pageIndex`,
    /// `start_index`.
    private func namedByAnswer(_ facts: PageFacts) -> [CountedStyle] {
        var members: [String: Int] = [:]
        for (path, value) in facts.values {
            guard let number = Int(value), (0...1).contains(number), let name = JSONPath(path)?.keys.last else {
                continue
            }
            members[name] = min(number, members[name] ?? 1)
        }
        return StyleGuess.pageNames.filter { members[$0] != nil }.map { CountedStyle(unit: .pages, parameter: $0) }
            + StyleGuess.offsetNames.compactMap { name in
                members[name].map { CountedStyle(unit: .records, parameter: name, start: $0 == 1 ? 1 : nil) }
            }
    }

    /// Returns a detected style with the number of its first page.
    ///
    /// If neither the request nor the answer has that number, page 1 is requested. The number of
    /// the last page is a count of pages only if the first page has the number 1.
    func confirmed(
        _ choice: PaginationChoice, _ facts: PageFacts, _ first: Sample.Page, _ lists: [FoundList]
    ) async -> PaginationChoice {
        guard var numbering = choice.numbering else { return choice }
        var choice = choice
        let name = numbering.parameter
        if numbering.isAssumed, numbering.start == 1 {
            let second = await answer(name, 1, first, lists)
            guard second == .other || second == .empty, await answer(name, 0, first, lists).isSame else {
                return choice
            }
            let request = PageRequest(url: first.url).setting(.query(name), to: "0", isNumber: true)
            guard let other = Pagination.automatic.style.choice(at: request, facts), let found = other.numbering,
                found.start == 0
            else { return choice }
            choice = other
            choice.reason += ", and the first page has the number 0"
            numbering = found
        }
        guard numbering.start == 0, let path = numbering.totalPages, PageEvidence.isLastPage(path),
            let last = facts.number(path), await answer(name, last, first, lists) == .other
        else { return choice }
        var counted = CountedStyle(unit: .pages, parameter: name, start: 0)
        counted.count = StyleGuess.end(facts)
        return PaginationChoice(
            pagination: counted.pagination, style: counted.text,
            reason: "the answer has the number of the last page at \(path), and the first page has the number 0")
    }

    /// Returns a style with the number of its first page; nil if the parameter leads to no other
    /// records.
    ///
    /// - Parameter moved: gets the parameter if it leads to new records among known ones.
    private func confirmed(
        _ style: CountedStyle, _ first: Sample.Page, _ lists: [FoundList], _ count: Int,
        _ moved: inout [MovedRecords]
    ) async -> CountedStyle? {
        var style = style
        let parameter = style.parameter
        func answer(_ number: Int) async -> Answer { await self.answer(parameter, number, first, lists) }
        switch style.unit {
        case .records:
            let start = style.start ?? 0, next = await page(parameter, count + start, first, lists)
            if next.answer == .page(.overlapping), let page = next.page {
                moved.note(parameter, page, behind: first, lists)
            }
            guard [.other, .empty, .missing, .invalid].contains(next.answer) else { return nil }
            // A sync begins with this number. A server may take any parameter for a filter, or have
            // other records for every request.
            let again = await answer(start)
            // Behind a wrong first number, the first record would be missing.
            if again.isSame, start == 0 || again != .page(.overlapping) { return style }
            if next.answer == .other, let page = next.page { moved.note(parameter, page, behind: first, lists) }
            return nil
        case .pages:
            let next = await page(parameter, 2, first, lists), second = next.answer
            if second == .page(.overlapping), let page = next.page {
                moved.note(parameter, page, behind: first, lists)
            }
            // A server refuses a page behind the last one, or it does not know the parameter.
            guard [.other, .empty, .missing, .invalid, .refused].contains(second) else { return nil }
            let again = await answer(1)
            if again.isSame {
                style.start = 1
            } else {
                guard again != .refused, await answer(0).isSame else {
                    if second == .other, let page = next.page { moved.note(parameter, page, behind: first, lists) }
                    return nil
                }
                style.start = 0
            }
            return second == .refused && style.start == 1 ? nil : style
        }
    }

    /// Requests a page of another number.
    func answer(_ parameter: String, _ number: Int, _ first: Sample.Page, _ lists: [FoundList]) async -> Answer {
        await page(parameter, number, first, lists).answer
    }

    /// Requests a page of another number, and compares it with the first one.
    private func page(
        _ parameter: String, _ number: Int, _ first: Sample.Page, _ lists: [FoundList]
    ) async -> (answer: Answer, page: Sample.Page?) {
        let request = PageRequest(url: first.url).setting(.query(parameter), to: String(number), isNumber: true)
        let page: Sample.Page
        do throws(SampleError) { page = try await self.page(request.url, like: lists) } catch {
            guard case .status(let code, _, _) = error else { return (.refused, nil) }
            if Sampler.missing.contains(code) { return (.missing, nil) }
            return (Sampler.invalid.contains(code) ? .invalid : .refused, nil)
        }
        return (.page(PageReader.relation(of: page, to: first, like: lists)), page)
    }
}
