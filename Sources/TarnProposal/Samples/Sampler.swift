// Fetches the first pages of lists, and one record of each.

import Foundation
import Tarn

/// Looks at live answers.
package struct Sampler: Sendable {
    /// The options of a sampler.
    package struct Options: Sendable {
        /// The maximum number of pages of a list.
        package var pages = 3
        /// Header fields of every request.
        package var headers = TransportHeaders()
        /// Whether one record of each list is requested by its own URL.
        var looksAtDetails = true

        /// Creates the default options.
        package init() {}
    }

    private let transport: RetryingTransport
    var options: Options
    /// Called after every response, with its URL and the number of records.
    private let onPage: @Sendable (String, Int) -> Void

    /// Creates a sampler over a transport.
    package init(
        _ transport: any Transport, options: Options = Options(),
        onPage: @escaping @Sendable (String, Int) -> Void = { _, _ in }
    ) {
        var policy = RetryPolicy()
        policy.attempts = 2
        var retrying = RetryingTransport(transport, policy: policy)
        // The person waits for the proposal.
        retrying.answerWait.longest = .seconds(60)
        self.transport = retrying
        self.options = options
        self.onPage = onPage
    }

    /// Returns the first pages of a URL.
    ///
    /// - Parameters:
    ///   - declared: the style that a specification suggests for the list.
    ///   - isOneOfMany: whether other lists are like it, of which some may be longer.
    /// - Throws: `SampleError` if the first page cannot be fetched, or has no records.
    func sample(
        _ url: String, declared: CountedStyle? = nil, isOneOfMany: Bool = false
    ) async throws(SampleError) -> Sample {
        let first = try await page(url)
        let lists = MainList.first(first.lists, first)
        guard !lists.isEmpty else { throw .noRecords(Redaction.url(url)) }
        if let error = Sampler.statedError(first, lists, isFirst: true) { throw error }
        var sample = Sample(origin: first.url, isURL: true, pages: [first])
        sample.gaps = Sampler.gaps(first.json, lists, url: first.url)
        if lists.contains(where: \.isList) { await follow(&sample, lists, declared, isOneOfMany) }
        sample.mainList = MainList.ofPages(sample.pages, lists)
        if options.looksAtDetails, lists.count == 1, lists[0].isList { await lookAtDetail(&sample, lists[0]) }
        return sample
    }

    // MARK: Requests

    /// Fetches a document, which may be at another server.
    ///
    /// - Parameter isTrusted: whether the server gets the header fields of the options.
    func document(_ url: String, isTrusted: Bool) async throws(SampleError) -> TransportResponse {
        try await response(url, documentHeaders(isTrusted))
    }

    /// Fetches the body of a document that another document refers to.
    ///
    /// - Throws: `SampleError.unreadable` if the document redirects to another server.
    func referencedBody(_ url: String, isTrusted: Bool) async throws(SampleError) -> [UInt8] {
        try await response(url, documentHeaders(isTrusted), through: RedirectGuard(transport, RedirectScope())).body
    }

    private func documentHeaders(_ isTrusted: Bool) -> TransportHeaders {
        isTrusted ? options.headers : TransportHeaders([.init("Accept", "application/json, */*")])
    }

    private func response(
        _ url: String, _ headers: TransportHeaders, through guarded: (any Transport)? = nil
    ) async throws(SampleError) -> TransportResponse {
        let response: TransportResponse
        do throws(TransportError) {
            var request = TransportRequest(url: url, headers: headers)
            request.isRead = true
            response = try await (guarded ?? transport).send(request)
        } catch {
            guard !error.isRefusedRedirect else {
                throw .unreadable(url, reason: "it redirects to another server: bundle the documents into one")
            }
            throw .transport(error)
        }
        guard (200..<300).contains(response.status) else {
            // The decision and the words of a sync.
            let error = MirrorError.refusal(
                response, method: "GET", url: Redaction.url(url), message: response.refusalMessage)
            guard !error.isLimited else { throw .limited(error.description) }
            throw .status(response.status, url: url, message: withoutCredentials(response.refusalMessage))
        }
        return response
    }

    /// Conceals the values of the options' header fields in a message of the server.
    private func withoutCredentials(_ message: String) -> String {
        let values = options.headers.fields.filter { !TransportHeaders.same($0.name, "Accept") }.map(\.value)
        let secrets = values + values.flatMap { $0.split(separator: " ").map(String.init) }
        return secrets.filter { $0.utf8.count >= 4 && $0 != "Bearer" && $0 != "Basic" }
            .reduce(message) { $0.replacing($1, with: "***") }
    }

    /// Fetches one page.
    ///
    /// - Parameter first: the lists of the first page.
    func page(_ url: String, like first: [FoundList] = []) async throws(SampleError) -> Sample.Page {
        let response = try await response(url, options.headers)
        if let target = response.redirectedTo, !Sampler.isSameServer(target, url) { throw .redirected(url, to: target) }
        let (body, hasLines) = Sampler.document(of: response, url)
        let json = try Sampler.parse(body, name: Redaction.url(url))
        // A result, or its monitor, has another URL each time.
        let answered = response.cameLater ? url : response.redirectedTo ?? url
        var found = Sample.Page(url: answered, headers: response.headers, body: body, json: json)
        found.hasLines = hasLines
        let page = ColumnSearch.page(found, like: first)
        let lists = first.isEmpty ? page.lists : ListFinder.lists(in: page.json, like: first)
        onPage(url, lists.reduce(0) { $0 + ListFinder.objects(page.json, $1).count })
        return page
    }

    /// Returns the document of a response, and whether only its text shows that it has lines.
    private static func document(of response: TransportResponse, _ url: String) -> ([UInt8], hasLines: Bool) {
        guard BodyForm.looksLikeLines(response.body),
            let lines = try? response.document(as: .lines, of: TransportRequest(url: url))
        else { return (response.body, false) }
        return (lines.body, true)
    }

    /// Whether two URLs have one origin, or the first is the secure form of the second.
    static func isSameServer(_ url: String, _ other: String) -> Bool {
        guard let a = try? HTTPURL(url), let b = try? HTTPURL(other) else { return false }
        return a.hasSameOrigin(as: b) || a.host == b.host && a.scheme == "https" && a.port == 443 && b.port == 80
    }

    /// Returns the error of a page without records that states an error; nil for other pages.
    static func statedError(_ page: Sample.Page, _ lists: [FoundList], isFirst: Bool) -> SampleError? {
        guard lists.allSatisfy({ ListFinder.objects(page.json, $0).isEmpty }),
            let error = StatedError.find(in: page.json, around: lists.map(\.path))
        else { return nil }
        return .statedError(Redaction.url(page.url), path: error.path, text: error.text, isFirst: isFirst)
    }

    // MARK: Pages

    /// Fetches the further pages of a list.
    private func follow(
        _ sample: inout Sample, _ lists: [FoundList], _ declared: CountedStyle?, _ isOneOfMany: Bool
    ) async {
        let first = sample.pages[0], url = first.url
        let facts = PageReader.facts(first, lists)
        let records = lists.first.map { ListFinder.objects(first.json, $0) } ?? []
        let own = records.prefix(3).flatMap { record in
            ["url", "self", "href", "uri", "@id"].compactMap { record[$0]?.scalarText }
        }
        guard var bounds = bounds(url, facts, own: own) else { return }
        let request = PageRequest(url: url)
        guard var choice = Pagination.automatic.style.choice(at: request, facts) else { return }
        if choice.pagination != .singlePage {
            choice = await confirmed(choice, facts, first, lists)
            sample.style = StyleGuess.completed(choice, url: url, recordCount: facts.recordCount)
            let plain = sample
            sample.isComplete = await follow(choice.pagination, &sample, lists, &bounds)
            if sample.style.isLink, !sample.isComplete, let problem = Sampler.problem(ofLink: sample, lists) {
                _ = await replace(&sample, plain, lists, facts, &bounds, problem)
            }
            let style = choice.pagination.style, isGuessed = !style.parameters.isEmpty
            let isAlone = Sampler.isAlone(sample.pages, lists, orEmpty: isGuessed)
            // The answer says that there is more, and the next page by this style has none.
            if isAlone, isGuessed, sample.pages.count > 1 || style.isCounted { sample.isComplete = false }
            let checked = StyleGuess.withoutRefutedTotal(choice, Sampler.facts(sample.pages, lists))
            if checked.style != choice.style {
                sample.style = StyleGuess.completed(checked, url: url, recordCount: facts.recordCount)
                sample.isComplete = false
            }
            if sample.repeatsLast { sample.style.endAtRepeatedPage() }
            if let cursor = sample.lastCursor { sample.style.end(atCursor: cursor) }
            if !sample.isComplete, options.pages > 1, isAlone {
                await doubt(&sample, plain, choice, lists, facts, &bounds)
            }
        } else {
            var moved: [MovedRecords] = []
            for guess in StyleGuess.guesses(url: url, facts, lists, records) {
                guard let trial = await trial(guess, sample, lists, facts, &bounds, &moved) else { continue }
                sample = trial
                break
            }
            if sample.pages.count == 1, sample.style.text == "single_page" {
                var noted = sample
                Sampler.noteSign(&noted, lists, facts, PageRequest(url: noted.origin), bounds)
                let hasSign = noted.style.unreached != nil
                await lookBehind(
                    &sample, lists, facts, declared, &bounds, &moved, isLikely: hasSign || isOneOfMany)
                if hasSign, sample.style.text == "single_page" { sample = noted }
                if sample.style.text == "single_page", sample.style.doubt == nil, sample.style.unreached == nil {
                    sample.style.doubtParameter(of: url, records: facts.recordCount)
                    sample.style.doubtRemaining(facts, lists)
                    sample.style.doubtSign(first, facts, lists)
                }
            }
        }
        await confirmTotal(&sample, lists)
        await confirmEnd(&sample, lists)
        sample.aliases = bounds.aliases
    }

    /// The facts about the pages of a list.
    static func facts(_ pages: [Sample.Page], _ lists: [FoundList]) -> [PageFacts] {
        pages.map { PageReader.facts($0, like: lists) }
    }

    /// Looks for another style if the one that an answer suggests leads to no other records.
    ///
    /// - Parameters:
    ///   - plain: the sample before the style was followed.
    ///   - followed: the style that was followed.
    private func doubt(
        _ sample: inout Sample, _ plain: Sample, _ followed: PaginationChoice, _ lists: [FoundList],
        _ facts: PageFacts, _ bounds: inout PageSequence.Bounds
    ) async {
        for other in StyleGuess.bracketed(followed) {
            var trial = plain
            trial.style = StyleGuess.completed(other, url: sample.origin, recordCount: facts.recordCount)
            trial.isComplete = await follow(other.pagination, &trial, lists, &bounds)
            guard trial.pages.count > 1, !Sampler.isAlone(trial.pages, lists, orEmpty: true) else { continue }
            sample = trial
            return
        }
        var guesses = StyleGuess.byName(facts, sample.origin) + StyleGuess.byOwnName(facts, sample.origin)
        if let own = StyleGuess.guess(url: sample.origin), own.style.parameters != sample.style.parameters {
            guesses.insert(own, at: 0)
        }
        var moved: [MovedRecords] = []
        for guess in guesses where guess.pagination != followed.pagination {
            guard let trial = await trial(guess, plain, lists, facts, &bounds, &moved) else { continue }
            sample = trial
            return
        }
        if await replace(&sample, plain, lists, facts, &bounds, "the style that the answer suggests leads to no others")
        {
            return
        }
        sample.style.isGuess = true
        sample.pages.removeSubrange(1...)
        // The second page was fetched, and is empty or has the records of the first.
        guard sample.gaps.count == plain.gaps.count, sample.notes.count == plain.notes.count else { return }
        sample.style.doubt = StyleDoubt(
            remark:
                "The second page by this style has no other records than the first one: the server seems not to know the parameter. Name the style of the API under `paginate`."
        )
    }

    /// Returns a sample by a guessed style; nil if the guess is wrong.
    ///
    /// - Parameter moved: gets the parameter of a guess that leads to new records among known ones.
    private func trial(
        _ guess: StyleGuess, _ sample: Sample, _ lists: [FoundList], _ facts: PageFacts,
        _ bounds: inout PageSequence.Bounds, _ moved: inout [MovedRecords]
    ) async -> Sample? {
        var trial = sample, style = guess.style
        let isComplete = await follow(guess.pagination, &trial, lists, &bounds)
        if var counted = guess.counted {
            // Another page, or an empty one behind the first.
            let isRefused = trial.pages.count == 1 && trial.notes.count > sample.notes.count
            let isShort = counted.size.map { facts.recordCount < $0.value } ?? false
            let isMissing = isRefused && [404, 410].contains(trial.refusal ?? 0)
            if trial.pages.count == 1, !isComplete, !isRefused, let next = guess.countedFromOne,
                await answer(counted.parameter, 2, sample.pages[0], lists) == .other
            {
                return await self.trial(next, sample, lists, facts, &bounds, &moved)
            }
            guard trial.pages.count > 1 || isComplete || options.pages == 1 || isRefused && isShort || isMissing else {
                return nil
            }
            if trial.pages.count > 1,
                PageReader.relation(of: trial.pages[1], to: trial.pages[0], like: lists) == .overlapping
            {
                moved.note(counted.parameter, trial.pages[1], behind: trial.pages[0], lists)
                return nil
            }
            if isMissing, !isShort {
                trial.endStatus = trial.refusal
                trial.notes = sample.notes
            }
            if !isRefused { counted.observe(Sampler.facts(trial.pages, lists).map(\.recordCount)) }
            // The URL may name the second page of a server that counts from 0.
            if counted.unit == .pages, counted.start == 1, trial.pages.count > 1 || isComplete || isMissing,
                await answer(counted.parameter, 0, sample.pages[0], lists) == .other
            {
                counted.start = 0
                style.reason = "the URL has the parameter \(counted.parameter), and 0 is the first page"
            }
            counted.endsRepeated = trial.repeatsLast
            style.text = counted.text
            if trial.pages.count == 1, !isComplete {
                style.reason =
                    isRefused ? "the server refuses the next number" : "a guess: only one page was looked at"
            }
        } else {
            guard trial.pages.count > 1 else { return nil }
            let relation = PageReader.relation(of: trial.pages[1], to: trial.pages[0], like: lists)
            guard relation != .same, relation != .reordered else { return nil }
            if guess.isByName, relation != .other {
                if relation == .overlapping, let name = style.parameters.sorted().first {
                    moved.note(name, trial.pages[1], behind: trial.pages[0], lists)
                }
                return nil
            }
        }
        if let cursor = trial.lastCursor { style.end(atCursor: cursor) }
        trial.style = style
        trial.isComplete = isComplete || trial.endStatus != nil
        return trial
    }

    /// Notes a sign of more records than the page has.
    static func noteSign(
        _ sample: inout Sample, _ lists: [FoundList], _ facts: PageFacts, _ request: PageRequest,
        _ bounds: PageSequence.Bounds
    ) {
        guard var sequence = try? PageSequence(.singlePage, request, bounds) else { return }
        do throws(PaginationError) { _ = try sequence.advance(facts) } catch {
            guard case .more(let evidence, let listed, _, _, _) = error else { return }
            sample.isComplete = false
            sample.style.reason = "UNCERTAIN: the server has more, and its parameter is unknown"
            sample.style.unreached = UnreachedRecords(
                sign: evidence.description, name: evidence.name, listed: listed, styles: StyleGuess.likely(facts, lists)
            )
        }
    }

    /// The beginning of a remark about a page that was not fetched.
    static let unfetched = "The page after"

    /// Follows the pages of a style.
    ///
    /// - Returns: whether the last page was reached.
    func follow(
        _ pagination: Pagination, _ sample: inout Sample, _ lists: [FoundList], _ bounds: inout PageSequence.Bounds
    ) async -> Bool {
        guard var sequence = try? PageSequence(pagination, PageRequest(url: sample.origin), bounds) else {
            return false
        }
        while let page = sample.pages.last {
            let facts = PageReader.facts(page, like: lists, pagination.style.wants)
            do throws(PaginationError) {
                guard try sequence.advance(facts, answeredBy: page.url) else { return true }
            } catch {
                sample.gaps.append("\(Sampler.unfetched) \(Redaction.url(page.url)) was not fetched: \(error)")
                return false
            }
            // Behind a page that is shorter than the first one, the server shows how its lists end.
            let cursor = Sampler.lastCursor(facts, pagination)
            let mayEnd =
                sample.pages.count == options.pages
                && (cursor != nil || pagination.style.isCounted && Sampler.isShort(sample.pages, lists))
            guard sample.pages.count < options.pages || mayEnd else { return false }
            do throws(SampleError) {
                let next = try await self.page(sequence.url, like: lists)
                let found = PageReader.lists(next, like: lists)
                if let error = Sampler.statedError(next, found, isFirst: false) {
                    sample.notes.append("\(error)")
                    return false
                }
                let isEmpty = found.allSatisfy { ListFinder.objects(next.json, $0).isEmpty }
                if isEmpty || PageReader.identities(next, like: lists).count == 0, pagination.style.isCounted {
                    sample.endPage = next
                    return true
                }
                if let cursor, isEmpty || Sampler.isBeginning(next, of: sample, lists) {
                    sample.lastCursor = cursor
                    return true
                }
                // A server that ignores the parameter answers with the same page for ever; others
                // repeat the last one. The rest of the answer may differ.
                if pagination.style.isCounted, Sampler.isRepeated(next, behind: sample, lists) {
                    sample.repeatsLast = sample.pages.count > 1
                    return sample.repeatsLast
                }
                sample.pages.append(next)
            } catch {
                if case .status(let code, _, _) = error, [400, 404, 410, 416, 422].contains(code) {
                    sample.lastCursor = cursor
                    // A page that is not there is behind the last one, also behind a full page.
                    let isEnd = Sampler.isShort(sample.pages, lists) || code != 400 && code != 422
                    if pagination.style.isCounted, sample.pages.count > 1, isEnd { sample.endStatus = code }
                    if cursor != nil || sample.endStatus != nil { return true }
                    (sample.refusal, sample.refusalNote) = (code, error.remark)
                }
                sample.notes.append(error.remark)
                return false
            }
        }
        return false
    }

    /// Returns the cursor of a page that may mark the end of the list; nil for other pages.
    private static func lastCursor(_ facts: PageFacts, _ pagination: Pagination) -> String? {
        let style = pagination.style
        // A flag says where the list ends.
        guard style.name == "cursor", style.wants.values.count == 1, let cursor = facts.values[style.wants.values[0]]
        else { return nil }
        return PageEvidence.maySayEnd(cursor) ? cursor : nil
    }

    /// Whether the last of several pages has fewer records than the first one.
    private static func isShort(_ pages: [Sample.Page], _ lists: [FoundList]) -> Bool {
        guard pages.count > 1, let first = pages.first, let last = pages.last else { return false }
        return PageReader.identities(last, like: lists).count < PageReader.identities(first, like: lists).count
    }

    /// Returns the servers to which links may lead.
    ///
    /// A link to the same path at another address is one to the API's other base URL: it is
    /// followed at the address that a person has named.
    private func bounds(_ url: String, _ facts: PageFacts, own: [String]) -> PageSequence.Bounds? {
        guard let home = try? HTTPURL(url) else { return nil }
        var bounds = PageSequence.Bounds(base: home.origin, pageLimit: max(1, options.pages) + 1)
        var links = facts.values.values.filter { $0.hasPrefix("http") }
        links += facts.headers.all("Link").flatMap { field in
            field.split(separator: "<").compactMap { $0.split(separator: ">").first.map(String.init) }
        }
        links += own
        for text in links.sorted() {
            guard let link = try? HTTPURL(text), !link.hasSameOrigin(as: home) else { continue }
            if link.path == home.path || link.path.hasPrefix(home.path.hasSuffix("/") ? home.path : home.path + "/") {
                bounds.aliases.append(link.origin)
            } else if link.path.hasSuffix(home.path) {
                bounds.aliases.append(link.origin + link.path.dropLast(home.path.count))
            }
        }
        bounds.aliases = Array(Set(bounds.aliases)).sorted()
        return bounds
    }
}
