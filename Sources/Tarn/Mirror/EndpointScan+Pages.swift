// The pages of one scan: requested, drafted, and added to the batch.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension EndpointScan {
    /// Begins a scan, or continues an interrupted one.
    ///
    /// - Parameters:
    ///   - isRepeated: whether the list lost pages to a void 304.
    ///   - isAnew: whether an interrupted scan is given up.
    /// - Returns: nil if this sync has finished the scan already.
    func list(
        _ request: EndpointRequest, _ index: Int, isRepeated: Bool, isAnew: Bool = false
    ) async throws -> ListScan? {
        let name = checkpointName(of: request)
        // Also if its first request cannot be made, the list is in use.
        scannedLists.insert(ScanIdentity.responses(of: name, request.endpoint, authScope: request.authScope))
        let first = try request.firstPage(), plan = EndpointScan.plan(of: first, request)
        let listing = EndpointScan.listing(of: first, request)
        let identity = ScanIdentity(name: name, request, plan: plan, listing: listing)
        var (old, sequence) = try progress(of: name)
        if hasOtherHeaders(old) {
            try await voidLists()
            (old, sequence) = try progress(of: name)
        }
        if !options.isDryRun { old = try await finishOrphans(old, request, identity, name, plan) }
        if let old, let run = syncRun, run.hasFinished(old, plan: plan), !hasOtherPages(old), !isLacking(old) {
            noteFinished(old)
            noteBeginning(of: old)
            if old.hasOrphans, endpoint.orphans != nil, endpoint.hasSeveralLists, !options.isDryRun {
                heldOrphans.append(
                    Batch.Completed(
                        identity: identity, parent: request.parent?.key, checkpointName: name, scan: old.scan))
            }
            return nil
        }
        if let old, !isAnew, !isRepeated, isUnchanged(request.parent, since: old, plan: plan) {
            report.unchangedParents += 1
            return nil
        }
        if let old, !isAnew, !isRepeated, try isFollowed(old, plan: plan) {
            report.isFollowed = true
            return nil
        }
        let begins = isAnew || options.beginsAnew && (syncRun == nil || old?.sync != syncID)
        let continued = try old.flatMap { try !begins && isContinued($0, plan) && !isOlderThanFeeds($0) ? $0 : nil }
        var request = request
        let known = old.flatMap { $0.plan == plan && !hasOtherPages($0) ? $0.since : nil }
        let token = try await continued == nil ? firstValue(of: request, after: known, old) : nil
        request.since = try continued.map(\.begunSince) ?? token ?? beginning(of: request, after: known, of: old)
        let until = try window(of: &request, after: known, index, continued)
        var pages = try request.since == nil ? request.pages(from: first) : request.pages()
        let importer = try PageImporter(request, pages.wants, like: lastImporter)
        lastImporter = importer
        var checkpoint = try beginning(at: pages.position, after: old, sequence, plan: plan, identity)
        (checkpoint.since, checkpoint.begunSince, checkpoint.hadValue) = (known, request.since, known != nil)
        checkpoint.begunUntil = until
        if let token { note(firstValue: token, sequence, in: &checkpoint, identity) }
        if let continued, let next = continued.nextURL {
            // Members that are noted under another name, or not at all, are unknown at the end.
            let members = continued.members == checkpoint.members ? continued.members : nil
            checkpoint = continued
            checkpoint.members = members
            if continued.pages > 0 { checkpoint.resumedScan = continued.scan }
            if continued.pages > 0, request.endpoint.movesWhileInterrupted {
                checkpoint.heldSince = continued.heldSince ?? continued.seen
            }
            if next != pages.position {
                try pages.resume(at: next, ordinal: continued.pages + 1, listed: continued.records)
            }
            if !isRepeated { noteContinued(continued) }
        }
        report.since = request.since ?? report.since
        if continued == nil, let old {
            try noteOtherCredentials(old, of: name, request, plan: plan, identity)
            noteOtherDescription(old, plan: plan, identity)
        }
        (checkpoint.pagination, checkpoint.headers) = (pagination, headers)
        // Without a rule for orphans, it names the members of the rule before.
        checkpoint.listing = listing ?? old.flatMap { $0.plan == plan ? $0.listing : nil }
        noteBeginning(of: checkpoint)
        // The earlier failure: it tells whether the parent was passed by before.
        checkpoint.failure = old?.failure
        let beginning = checkpoint
        checkpoint.sync = syncID
        checkpoint.failure = nil
        let isOwn = variant == nil && givenParents == nil
        let target = ScanTarget(
            index: index, request: request, pages: importer, name: name, identity: identity, beginning: beginning,
            previous: isOwn && continued == nil ? old?.completed : nil,
            wasEmpty: old.map { old in
                old.isKnownEmpty || old.state == .complete && old.records == 0 && old.since == nil
            } ?? true,
            hadObject: old.map { $0.plan == plan && $0.hasObject } ?? false,
            skippedBefore: old.map { $0.state == .complete && $0.plan == plan ? $0.skipped : 0 } ?? 0,
            checkpoint: checkpoint)
        if let time = target.previous { report.previous = min(report.previous ?? time, time) }
        let different = try listedRecords(before: &pages, identity, scan: checkpoint.scan)
        let list = ListScan(pages: pages, target: target, different: different)
        list.hasFirstValue = token != nil
        return list
    }

    /// The stored progress of a list, and the last commit before it was read.
    private func progress(of name: String) throws -> (Checkpoint?, UInt64) {
        try client.store.read { (try $0.checkpoint(name), try $0.access.settings.sequence) }
    }

    /// Notes when the scan of a list has begun.
    private func noteBeginning(of list: Checkpoint) {
        began = min(began ?? list.startedAt, list.startedAt)
        if let commit = list.begunAfter { begunAfter = min(begunAfter ?? commit, commit) }
    }

    /// Counts the pages of an interrupted scan that goes on.
    private func noteContinued(_ checkpoint: Checkpoint) {
        report.isResumed = report.isResumed || checkpoint.pages > 0
        hasEarlierPages = hasEarlierPages || checkpoint.pages > 0
        measured.resumedPages += checkpoint.pages
        measured.resumedRecords += checkpoint.records
        report.skippedBefore += checkpoint.skipped
    }

    /// The progress of a list at its beginning.
    ///
    /// - Parameter sequence: the last commit before it.
    private func beginning(
        at position: String, after old: Checkpoint?, _ sequence: UInt64, plan: String, _ identity: ScanIdentity
    ) throws -> Checkpoint {
        // A repair removes a damaged checkpoint, but not what its scans have noted. A scan with an
        // earlier number would not find what it misses.
        let last = try old?.scan ?? client.store.read { try $0.access.scans.lastScan(of: identity.members) }
        var checkpoint = Checkpoint(
            state: .underWay, plan: plan, nextURL: position, scan: last + 1,
            startedAt: client.now, completedAt: old?.completedAt)
        checkpoint.members = endpoint.orphans == nil ? nil : identity.members
        if endpoint.incremental != nil || endpoint.forEach?.onlyChanged == true || isListOfFeeds
            || endpoint.orphans.map({ $0.scope != .listed }) ?? false
        {
            // 0 is that of a list that is to be requested: see `Checkpoint.outdated`.
            checkpoint.begunAfter = isListOfFeeds ? max(1, sequence) : sequence
        }
        checkpoint.isCutOff = old?.isCutOff ?? false
        // That of progress that was forgotten is unknown.
        checkpoint.earlierPlan = old.flatMap { $0.plan == plan || $0.plan.isEmpty ? $0.earlierPlan : $0.plan }
        checkpoint.hasReturned = old.map { $0.hasReturned || $0.plan != plan && $0.earlierPlan == plan } ?? false
        checkpoint.earlierMembers = earlierMembers(old, identity)
        // Another plan lists other records.
        checkpoint.wasInDoubt = old.map { $0.plan == plan && $0.wasInDoubt } ?? false
        checkpoint.mayEndAtLimit = old?.mayEndAtLimit ?? false
        checkpoint.knownSince = old?.lastKnown
        if let old, old.plan == plan {
            checkpoint.settledScan = old.settledScan
            (checkpoint.awaitedScan, checkpoint.awaitedSince) = (old.awaitedScan, old.awaitedSince)
            checkpoint.resumedScan = old.resumedScan
            (checkpoint.tokenAfter, checkpoint.tokenAt) = (old.tokenAfter, old.tokenAt)
            // A value from before the description had `start` is older than lists from now on.
            if endpoint.incremental?.start != nil, old.since != nil, old.tokenAfter == nil {
                (checkpoint.tokenAfter, checkpoint.tokenAt) = (max(1, sequence), client.now)
            }
        }
        checkpoint.isKnownEmpty = old?.isKnownEmpty ?? false
        checkpoint.whole = old?.whole
        checkpoint.wholeSince = old.flatMap { $0.plan == plan ? $0.wholeSince : nil }
        checkpoint.scanned = old?.scanned
        checkpoint.hasArrays = !options.beginsAnew && (old.map { $0.plan == plan && $0.hasArrays } ?? false)
        return checkpoint
    }

    /// The name of the checkpoint of a list.
    func checkpointName(of request: EndpointRequest) -> String {
        request.checkpointName(listName ?? variant.map { "\(endpoint.name) #\($0)" } ?? endpoint.name)
    }

    /// The different records of the pages that an interrupted scan has stored, if they are counted.
    ///
    /// The counts of the page before are noted in any case.
    private func listedRecords(
        before pages: inout PageSequence, _ identity: ScanIdentity, scan: UInt64
    ) throws -> DifferentRecords {
        let root = endpoint.envelope.isEmpty ? nil : client.store.catalog.entity(endpoint.entity)?.root
        let before = (pages.ordinal - pages.pagesSinceRestart)..<pages.ordinal
        let unknown = DifferentRecords(root: root, mayRepeat: endpoint.listsContainedRecords)
        guard !before.isEmpty else { return unknown }
        let isCounted = pages.countsRecords
        let (different, last) = try client.store.read { reader in
            var different = unknown, last: ResponseEntry?
            try reader.access.responses.forEach(of: identity.responses, scan: scan) { entry in
                let number = entry.listing.position?.page ?? 1
                guard before.contains(number) else { return }
                if isCounted { different.add(entry.listing) }
                if number == before.upperBound - 1 { last = entry }
            }
            return (different, last)
        }
        if let last { pages.note(pageBefore: last.pageFacts) }
        return different
    }

    // MARK: Requests

    /// Sends the request for a page, with the validators of its stored response.
    ///
    /// A page in which fewer signs of further pages were looked for is requested anew once.
    ///
    /// - Parameters:
    ///   - isObject: whether the response was a single record, not a list of them.
    ///   - isVoid: returns whether a 304 would leave out what an import has to do.
    func ask(
        _ page: PageRequest, _ request: EndpointRequest, ofObject isObject: Bool = false,
        unless isVoid: (ResponseEntry) -> Bool = { _ in false }
    ) throws -> PageFetch {
        let key = request.key(of: page)
        // A matching condition yields a 304 only for GET and HEAD (RFC 9110 §13.1.2).
        let isConditional =
            endpoint.method == "GET" && !options.refetches && !isUnconditional && !overtakenRequests.contains(key)
            && request.sinceField == nil
        var message = request.message(for: page)
        let asked = message, now = client.now
        let (stored, origin) = try client.store.read { reader in
            let stored = try isConditional ? reader.response(to: key) : nil
            let isUsable = stored.map { !mayLackSigns($0, ofObject: isObject) && !isVoid($0) } ?? false
            return (isUsable ? stored : nil, try answers.begin(asked, key, reader, now: now))
        }
        message.monitor = origin.monitor
        progress(snapshot(requesting: Redaction.shown(message.url)))
        return PageFetch(
            page, message, client, key: key, revalidating: stored, outboxRevision: origin.revision,
            requestedAfter: origin.sequence, over: transport, arrivals: arrivals)
    }

    /// Whether a stored response may have had signs of further pages that were not looked for.
    ///
    /// A single record has none: the details of very many records stay as they are.
    private func mayLackSigns(_ stored: ResponseEntry, ofObject isObject: Bool) -> Bool {
        let isRecord = (isObject || requestsByKey) && stored.listing.count <= 1
        return stored.signs != PageMetadata.signs && !isRecord
    }

    /// Prefetches the next page while the current one is committed.
    private func prefetch(_ page: PageRequest, _ list: ListScan) throws {
        if let ahead = list.ahead, ahead.page != page {
            ahead.cancel()
            list.ahead = nil
        }
        if list.ahead == nil, options.prefetches { list.ahead = try ask(page, of: list) }
    }

    // MARK: Responses

    /// Processes a response and adds its page to the batch.
    ///
    /// - Returns: false if it was the last page.
    func take(_ fetch: PageFetch, _ list: ListScan) async throws -> Bool {
        shownURL = fetch.shownURL
        let response = try await fetch.answer()
        if !options.isDryRun, let origin = try await answers.forget(fetch.message) { note(origin, list) }
        var page: Batch.Page
        switch try decision(about: response, list) {
        case .again: return true
        case .expired:
            try await endpoint.incremental?.start == nil ? beginAnew(list) : beginAnewWithFirstValue(list)
            return true
        case .unknownPosition:
            try await giveUpPosition(list)
            return true
        case .ignored:
            try noteIgnored(list, status: response.status)
            return false
        case .last:
            try complete(list, isCutOff: false, doubt: list.pages.doubtBehindTotal ?? list.doubt)
            return false
        case .stopped: return try await stop(list, refusedBy: response)
        case .notModified:
            guard let confirmed = try confirmed(by: response, fetch, list) else { return true }
            page = confirmed
        case .records(let isEmpty):
            let content = isEmpty ? nil : contentDigest(of: response.body, list.pages)
            if repeatsPageBeforeInterruption(content, list) {
                // With a limit, a list that begins anew might never reach its end.
                guard endpoint.limits.part == nil else {
                    try complete(list, isCutOff: false, doubt: .emptyPage)
                    return false
                }
                try await giveUpPosition(list)
                return true
            }
            if list.pages.hasEnded(beforeContent: content) {
                try complete(list, isCutOff: false)
                return false
            }
            page = try imported(response, fetch, list, isEmpty: isEmpty)
            if endpoint.hasOpenEnd(response) { list.doubt = .openEnd }
        }
        try noteNew(fetch, list)
        page.entry.listing.scan = list.target.checkpoint.scan
        page.entry.listing.identity = list.target.identity.responses
        page.list = list.target.name
        page.entry.validation.answeredBy = response.redirectedTo.map(client.canonicalURL)
        page.entry.listing.position = list.pages.listPosition
        page.members = mayListOlder(list.target.request) ? nil : list.target.members
        page.base = try list.target.request.base()
        return try advance(past: page, list)
    }

    /// Notes that a result of work that an earlier sync has begun is of the list at that time.
    private func note(_ origin: AwaitedAnswers.Origin, _ list: ListScan) {
        guard origin.monitor != nil else { return }
        var checkpoint = list.target.checkpoint
        checkpoint.startedAt = min(checkpoint.startedAt, origin.startedAt)
        checkpoint.begunAfter = checkpoint.begunAfter.map { min($0, origin.sequence) }
        list.target.checkpoint = checkpoint
        noteBeginning(of: checkpoint)
    }

    /// Adds a page to the batch, and finds the next one.
    ///
    /// - Returns: false if it was the last page.
    private func advance(past page: Batch.Page, _ list: ListScan) throws -> Bool {
        var checkpoint = list.target.checkpoint
        checkpoint.pages += 1
        checkpoint.records += page.entry.listing.count
        checkpoint.skipped += page.entry.listing.skipped
        checkpoint.partialError = checkpoint.partialError ?? page.partialError
        // A run without a page does not keep a position that the server goes on failing at.
        let begun = list.target.beginning
        if begun.pages > 0 || begun.failure != nil { checkpoint.continuedAt = client.now }
        noteShape(of: page, list, &checkpoint)
        checkpoint.lastContent = list.pages.endsAtRepeatedPage ? page.contentDigest : nil
        list.target.isInOrder = list.target.isInOrder && isLast(page.entry, list.target.request, after: checkpoint.seen)
        checkpoint.seen = seen(
            page.entry, list.target.request, after: checkpoint.seen, began: checkpoint.startedAt,
            until: checkpoint.begunUntil)
        let hasNext: Bool
        do {
            var facts = list.facts(of: page.entry)
            facts.contentDigest = page.contentDigest
            hasNext =
                try list.pages.advance(facts, answeredBy: page.entry.validation.answeredBy)
                && !endsAtValue(page.entry, list.target.request)
            // These records do not share a key with others: they are the same ones.
            if !hasNext, list.pages.isRepetition(facts) { list.takeBack(page.entry) }
        } catch {
            // The next scan begins anew: the description may name another pagination style by then,
            // or records have moved between pages.
            if case .more = error { list.target.checkpoint.nextURL = nil }
            // The page itself is sound and is kept. The next scan resumes with it: counted now, it
            // would count twice, and the number of the next page would be one too high.
            batch.add(page, list.target.checkpoint, list.target.name)
            throw error
        }
        if let choice = list.pages.choice { report.pagination = choice }
        let behindPart = list.pages.positionBehindPart
        if !hasNext, behindPart != nil || list.pages.isCutOff && options.isDryRun {
            report.wasLimited = true
            // The next part goes on with the error: only the run that has met it reports it.
            if list.target.beginning.partialError == nil, let error = partialError(in: checkpoint) {
                report.failures.append(error)
            }
            checkpoint.nextURL = behindPart
            batch.add(page, checkpoint, list.target.name)
            return false
        }
        checkpoint.nextURL = hasNext ? list.pages.position : nil
        batch.add(page, checkpoint, list.target.name)
        list.target.checkpoint = checkpoint
        if hasNext {
            try prefetch(list.pages.request, list)
        } else {
            try complete(list, isCutOff: list.pages.isCutOff, doubt: list.pages.doubt ?? list.doubt)
            if !isSentAgain(list.target) { batch.outdateEmptyPages(of: list.index) }
        }
        return hasNext
    }

    /// Notes whether a page is an array of records or a single one.
    ///
    /// A server may report an error with an object, an `id`, and the status 200.
    private func noteShape(of page: Batch.Page, _ list: ListScan, _ checkpoint: inout Checkpoint) {
        let count = page.entry.listing.count
        guard endpoint.envelope.isEmpty, endpoint.records.steps.isEmpty, count > 0 else { return }
        // A page that was confirmed is what it was.
        let isObject = page.isObject ?? (count == 1 && list.target.hadObject)
        checkpoint.hasObject = checkpoint.hasObject || isObject
        checkpoint.hasArrays = checkpoint.hasArrays || !isObject && (page.isObject != nil || count > 1)
    }

    /// The stored page that a 304 confirms; nil if it has to be requested again.
    private func confirmed(
        by response: TransportResponse, _ fetch: PageFetch, _ list: ListScan
    ) throws -> Batch.Page? {
        guard let stored = fetch.stored else {
            throw MirrorError.status(
                code: 304, method: endpoint.method, url: shownURL,
                message: "not modified, but the request had no condition")
        }
        let headers = TransportHeaders(flat: stored.validation.headers)
        if CacheRules.isMismatched(response.headers, with: headers) {
            // RFC 9111 §4.3.4: the 304 confirms another representation than the stored one.
            overtakenRequests.insert(fetch.key)
            return nil
        }
        if list.pages.mayGoOn(
            stored.pageFacts, confirmedBy: response.headers, answeredBy: stored.validation.answeredBy)
            // A stored page has no elements that the next one could be compared with.
            || list.pages.endsAtRepeatedPage && (comparesContent(list.pages) || stored.hasUnknownElements)
            || importer.takesSurroundings
                && (stored.listing.position?.recordsBefore ?? 0) != list.pages.listed
        {
            // Another page may follow by now, or the records are at other positions of the list.
            overtakenRequests.insert(fetch.key)
            return nil
        }
        var entry = stored
        report.cutLists.merge(list.target.pages.cutLists(entry), uniquingKeysWith: +)
        entry.validation.isInvalidated = false
        entry.validation.headers = headers.confirmed(byNotModified: response.headers)
            .kept(also: list.target.pages.wants.fields)
        entry.validation.validatedAt = client.now
        entry.caching = caching(of: fetch, TransportHeaders(flat: entry.validation.headers), known: entry.caching)
        return Batch.Page(entry: entry, asked: stored, target: list.index)
    }

    /// Drafts the records of a page.
    private func imported(
        _ response: TransportResponse, _ fetch: PageFetch, _ list: ListScan, isEmpty: Bool
    ) throws -> Batch.Page {
        let answeredBy = response.redirectedTo.map(client.canonicalURL)
        if options.prefetches, !isEmpty, !mayEndAtValue(list.target.request),
            let next = list.pages.next(byHeaders: response.headers, answeredBy: answeredBy)
        {
            list.ahead = try ask(next, of: list)
        }
        let target = list.target
        let page = PageImporter.Page(url: fetch.page.url, shownURL: shownURL, position: target.checkpoint.records)
        let started = ContinuousClock.now
        let added =
            try isEmpty
            ? Importer.Added(listed: [], count: 0)
            : target.pages.draft(response, page, known: fetch.stored, into: importer)
        note(added, fetch, target.request)
        var entry = target.pages.entry(
            fetch.key, response, headers: response.headers, added, known: fetch.stored, at: client.now)
        report.cutLists.merge(target.pages.cutLists(entry), uniquingKeysWith: +)
        entry.caching = caching(of: fetch, response.headers, known: nil)
        let stated = isEmpty ? nil : target.pages.partialError(response, page)
        // A 304 would confirm the page without its error, and a cache would answer with a part.
        if stated != nil {
            entry.validation.removeValidators()
            entry.validation.isInvalidated = true
        }
        // A 304 without a condition of a stored response has no changes: see `decision`.
        if response.status == 304 { entry.validation.removeValidators() }
        // Nor would it have the page's doubt.
        if endpoint.hasOpenEnd(response) { entry.validation.removeValidators() }
        // Endpoints of a description that differ in header fields follow one another in each sync.
        if endpoint.isTypedRequest { entry.valueVariant = endpoint.valueVariant(requestHooks) }
        return Batch.Page(
            entry: entry, asked: nil, target: list.index, outboxRevision: fetch.outboxRevision,
            requestedAfter: fetch.requestedAfter, byteCount: response.body.count,
            drafting: ContinuousClock.now - started,
            isObject: response.body.first { $0 > UInt8(ascii: " ") && $0 < 0x80 }.map { $0 == UInt8(ascii: "{") },
            contentDigest: added.count > 0 ? contentDigest(of: response.body, list.pages) : nil, partialError: stated)
    }

    /// The part of a page's entry by which a cache answers with the page; nil if it needs none.
    ///
    /// A cache needs it if the response varies by fields of the request, or is a typed request's.
    private func caching(
        of fetch: PageFetch, _ response: TransportHeaders, known: ResponseCaching?
    ) -> ResponseCaching? {
        let selecting = fetch.message.selecting(response)
        guard known != nil || !selecting.isEmpty || endpoint.isTypedRequest else { return nil }
        return ResponseCaching(requestedAt: client.now, selecting: selecting, usedAt: known?.usedAt ?? client.now)
    }

    /// Counts a response that contains another record than the one whose key its URL ends with.
    private func note(_ added: Importer.Added, _ fetch: PageFetch, _ request: EndpointRequest) {
        guard requestsByKey, let parent = request.parent, added.count == 1, let record = added.listed.first,
            record.storageKey != parent.key.storageKey
        else { return }
        var others =
            report.otherRecords ?? OtherRecords(count: 0, url: fetch.shownURL, asked: parent.key.description)
        others.count += 1
        report.otherRecords = others
    }
}
