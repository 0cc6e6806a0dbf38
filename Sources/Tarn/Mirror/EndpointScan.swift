// The scan of one endpoint: its pages in sequence, committed one by one or several together.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

struct EndpointScan {
    let mirror: APIMirror
    let endpoint: Endpoint
    let pipeline: ImportPipeline
    let authScope: String
    let fingerprint: String
    let progress: @Sendable (SyncProgress) -> Void
    var report: SyncReport.Endpoint
    /// The URL of the current request, as errors report it.
    var shownURL = ""
    /// The prefetch of the next page, under way while the current one is imported.
    var ahead: PageFetch?
    /// The JSON paths that pagination reads from every page.
    var questions = DocumentQuestions()
    let transport: RetryingTransport
    /// The pages that one commit contains.
    private let unit: Endpoint.CommitUnit
    /// Whether the current scan has stopped at a limit of its endpoint.
    private(set) var isCutOff = false
    /// The pages that are not committed yet.
    var batch = Batch()
    /// The batch that is being committed while the next one is fetched and drafted.
    private var underWay: Batch?
    /// Whether the batch waits for other scans, to be committed with theirs as one change.
    var holdsCommits = false
    /// The import hooks of the endpoint.
    private(set) var hooks = ImportHooks()
    /// The part of the checkpoint's name that distinguishes scans of one endpoint; nil for its own.
    var variant: String?
    /// Whether all pages are requested without conditions.
    var isUnconditional = false
    /// Requests whose 304 is void: another request has replaced the stored entry meanwhile.
    ///
    /// They are repeated without a condition.
    private(set) var overtakenRequests: Set<RequestKey> = []
    /// Indexes of the scans, among those of all parents, that lost pages to such a 304.
    private(set) var overtaken: Set<Int> = []
    /// The index of the current scan among those of all parents.
    private var target = 0
    /// Whether the current scan is repeated in this sync.
    private var isRepeated = false
    /// The sync that the scan belongs to; nil for a scan of a group or a cache.
    var syncRun: SyncRun?
    /// Whether the endpoint is the last one of the sync, and no earlier one was interrupted.
    var isLastOfSync = false
    private var isLastTarget = false
    /// The progress of the current scan, with the name of its checkpoint.
    private var position: (name: String, checkpoint: Checkpoint)?
    /// The progress at the beginning of the current scan, with the name of its checkpoint.
    private var beginning: (name: String, checkpoint: Checkpoint)?
    /// The failures that have stopped scans of single parents.
    var passedBy = PassedByParents()
    /// Whether the failure concerns the remaining parents, too.
    private var endsWalks = false

    init(
        mirror: APIMirror, endpoint: Endpoint, pipeline: ImportPipeline, authScope: String, fingerprint: String,
        progress: @escaping @Sendable (SyncProgress) -> Void, retry: RetryPolicy? = nil
    ) {
        self.mirror = mirror
        self.endpoint = endpoint
        self.pipeline = pipeline
        self.authScope = authScope
        self.fingerprint = fingerprint
        self.progress = progress
        report = SyncReport.Endpoint(name: endpoint.name)
        unit = mirror.options.commitUnit ?? endpoint.commitUnit
        transport = mirror.transport(for: endpoint, retry: retry)
    }

    /// The importer that drafts the next batch.
    private var importer: Importer { pipeline.importer }
    private var now: Timestamp { Timestamp(mirror.options.time.now()) }

    /// Scans the endpoint, once or for every parent. Failures are in the report.
    mutating func run() async {
        hooks = mirror.options.hooks?(endpoint) ?? ImportHooks()
        pipeline.configure { $0.hooks = hooks }
        defer { pipeline.configure { $0.hooks = ImportHooks() } }
        do {
            var targets: [Parent?] = [nil]
            if let forEach = endpoint.forEach { (targets, report.skippedParents) = try parents(forEach) }
            defer {
                if let forEach = endpoint.forEach {
                    report.failures.insert(contentsOf: passedBy.failures(of: forEach.entity), at: 0)
                }
            }
            var next = 0, again: [Int] = []
            while true {
                if !again.isEmpty || next < targets.count {
                    isRepeated = !again.isEmpty
                    target = isRepeated ? again.removeFirst() : next
                    if !isRepeated { next += 1 }
                    isLastTarget = again.isEmpty && next == targets.count
                    await walk(parent: targets[target])
                } else {
                    await end()
                    if overtaken.isEmpty { break }
                }
                if endsWalks || report.failures.contains(where: \.endsEverything) {
                    overtaken = []
                    await end()
                    break
                }
                // Voided scans are repeated from their last committed page on.
                again = (overtaken.union(again)).sorted()
                overtaken = []
            }
        } catch {
            report.failures.append(APIMirror.mirrorError(error, url: "", place: endpoint.place))
        }
    }

    /// Commits the rest of the batch, and waits for the commit.
    mutating func end() async {
        do {
            try await flush()
            try await settle()
        } catch is RevalidationConflict {
            // The pages are requested again: see `overtaken`.
        } catch {
            report.failures.append(APIMirror.mirrorError(error, url: shownURL, place: place))
        }
    }

    private mutating func walk(parent: Parent?) async {
        (beginning, position) = (nil, nil)
        shownURL = Redaction.url(mirror.requestURL(mirror.description.api.base + endpoint.path))
        do {
            try await walk(from: try firstRequest(parent), parent)
        } catch {
            ahead?.task.cancel()
            ahead = nil
            if error is RevalidationConflict { return discard() }
            let error = APIMirror.mirrorError(error, url: shownURL, place: place)
            // The outcome of the batch under way does not depend on this error.
            do {
                try await settle()
            } catch is RevalidationConflict {
                // This scan is one of those that are repeated, unless the task is cancelled.
                if case .cancelled = error { report.failures.append(error) }
                return discard()
            } catch let other {
                let other = APIMirror.mirrorError(other, url: shownURL, place: place)
                // Cancelling the task also cancels the wait for the commit.
                if case .cancelled = other {} else { report.failures.append(other) }
            }
            report.failures.append(error)
            if parent != nil, error.isOfParent {
                report.failures.removeLast()
                // Pages of earlier parents are kept. If the scan is one change, nothing is kept.
                if unit == .walk || importer.hasFailed {
                    discard()
                    position = beginning
                }
                if holdsCommits { return report.failures.append(error) }
                return await passBy(error)
            }
            endsWalks = parent != nil
            // After a cancellation nothing is kept. Nothing is kept either if the scan is one
            // change, or if a record without a key has failed the unit. Otherwise pages that were
            // fetched before are kept.
            if case .cancelled = error { return discard() }
            if holdsCommits { return discard() }
            if unit == .walk || batch.isEmpty || importer.hasFailed { return discard() }
            await end()
            // The repeated scan reports the error if it meets it again.
            if !overtaken.isEmpty { report.failures.removeLast() }
        }
    }

    /// Notes that the scan for a parent has failed: a continuing sync does not request it again.
    private mutating func passBy(_ error: MirrorError) async {
        let ends = passedBy.add(error, wasKnown: beginning?.checkpoint.failure?.kind == error.kind)
        if let run = syncRun, let position {
            var checkpoint = position.checkpoint
            checkpoint.sync = run.id
            checkpoint.failure = Checkpoint.Failure(kind: error.kind, text: error.description)
            batch.add(checkpoint, position.name)
        }
        if ends {
            endsWalks = true
            report.failures.append(error)
        }
        await end()
        // The repeated scan counts the failure.
        if !ends, !overtaken.isEmpty { passedBy.removeLast(error) }
    }

    private mutating func discard() {
        pipeline.discard()
        batch = Batch()
    }

    var place: String { "\(endpoint.place), endpoint \(endpoint.name)" }

    private mutating func walk(from first: PageRequest, _ parent: Parent?) async throws {
        let own = variant.map { "\(endpoint.name) #\($0)" } ?? endpoint.name
        let name = parent.map { "\(own) \($0.key)" } ?? own
        isCutOff = false
        var pages = try PageSequence(endpoint.pagination, first, bounds, deep: endpoint.deep)
        questions = try questions(pages.wants)
        let plan = SHA256.hexadecimal(EndpointScan.text(of: first) + "\n" + fingerprint)
        let identity = WalkIdentity(name: name, endpoint, authScope: authScope, plan: plan)
        let old = try mirror.store.read { try $0.checkpoint(name) }
        if let run = syncRun, run.hasFinished(old, plan: plan) {
            try await finishOrphans(old, identity, name, plan, parent: parent?.key)
            if parent != nil { report.finishedParents += 1 } else { report.wasFinished = true }
            if let failure = old?.failure { passedBy.add(failure) }
            return
        }
        try await finishOrphans(old, identity, name, plan, parent: parent?.key)
        var checkpoint = Checkpoint(
            state: .underWay, plan: plan, nextURL: pages.position, scan: (old?.scan ?? 0) + 1, startedAt: now,
            completedAt: old?.completedAt)
        checkpoint.members = endpoint.orphans == nil ? nil : identity.members
        let begins =
            (mirror.options.restarts || mirror.options.refetches) && (syncRun == nil || old?.sync != syncRun?.id)
        if let old, old.state == .underWay, old.plan == plan, let next = old.nextURL, !begins {
            // Members that are noted under another name, or not at all, are unknown at the end.
            let members = old.members == checkpoint.members ? old.members : nil
            checkpoint = old
            checkpoint.members = members
            if next != pages.position { try pages.resume(at: next, ordinal: old.pages + 1, listed: old.records) }
            report.isResumed = report.isResumed || old.pages > 0 && !isRepeated
        }
        // The earlier failure: it tells whether the parent was passed by before.
        checkpoint.failure = old?.failure
        beginning = (name, checkpoint)
        checkpoint.sync = syncRun?.id
        checkpoint.failure = nil
        position = (name, checkpoint)
        var goesOn = true
        while goesOn {
            try Task.checkCancellation()
            // A prefetch from before the scan may be for another page than the first one here.
            if let ahead, ahead.request != pages.request { ahead.task.cancel() }
            let fetch = try ahead.flatMap { $0.request == pages.request ? $0 : nil } ?? ask(pages.request)
            ahead = nil
            goesOn = try await page(fetch, &pages, &checkpoint, checkpointName: name, identity, parent)
            position = (name, checkpoint)
            if case .pages(let limit) = unit, batch.pages.count >= limit { try await flush() }
        }
        passedBy.succeeded()
        if unit == .walk { try await flush() }
    }

    /// Processes a response and adds its page to the batch.
    ///
    /// - Returns: false if it was the last page.
    private mutating func page(
        _ fetch: PageFetch, _ pages: inout PageSequence, _ checkpoint: inout Checkpoint, checkpointName: String,
        _ identity: WalkIdentity,
        _ parent: Parent?
    ) async throws -> Bool {
        shownURL = fetch.shownURL
        let response = try await fetch.answer()
        let answeredBy = response.redirectedTo.map(mirror.canonicalURL)
        var entry: ResponseEntry
        var asked: ResponseEntry?
        switch try verdict(response, &pages) {
        case .notModified:
            guard let stored = fetch.stored else {
                throw MirrorError.status(
                    code: 304, method: endpoint.method, url: shownURL,
                    message: "not modified, but the request had no condition")
            }
            if case .mismatched = CacheRules().validate(CachedResponse(stored), with: response) {
                // RFC 9111 §4.3.4: the 304 confirms another representation than the stored one.
                overtakenRequests.insert(fetch.key)
                return true
            }
            entry = stored
            asked = stored
            entry.validation.isInvalidated = false
            entry.validation.headers = TransportHeaders(flat: stored.validation.headers).confirmed(
                byNotModified: response.headers
            ).kept(
                also: pages.wants.fields)
            entry.validation.validatedAt = now
        case .records(let isEmpty):
            if mirror.options.prefetches, !isEmpty,
                let next = pages.next(byHeaders: response.headers, answeredBy: answeredBy)
            {
                ahead = try ask(next)
            }
            let added =
                try isEmpty
                ? Importer.Added(listed: [], count: 0)
                : draft(response, parent, fetch.request.url, from: checkpoint.records)
            entry = ResponseEntry(
                request: fetch.key,
                validation: .init(
                    status: response.status, headers: response.headers.kept(also: pages.wants.fields), fetchedAt: now,
                    validatedAt: now),
                listing: .init(
                    added.listed, count: added.count, skipped: added.skipped,
                    metadata: PageMetadata(added.facts, pages.wants, endpoint.metadata)?.text, scan: checkpoint.scan))
        case .again: return true
        case .ignored:
            report.ignored += 1
            return false
        case .last:
            complete(&checkpoint, checkpointName, identity, parent)
            batch.add(checkpoint, checkpointName)
            return false
        }
        entry.listing.scan = checkpoint.scan
        entry.listing.walk = identity.responses
        entry.validation.answeredBy = answeredBy
        entry.listing.position = pages.listPosition
        let page = Batch.Page(
            entry: entry, asked: asked, target: target, members: endpoint.orphans == nil ? nil : identity.members)
        let before = checkpoint
        checkpoint.pages += 1
        checkpoint.records += entry.listing.count
        checkpoint.skipped += entry.listing.skipped
        let hasNext: Bool
        do {
            hasNext = try pages.advance(entry.pageFacts, answeredBy: answeredBy)
        } catch {
            // The page itself is sound and is kept. The next scan resumes with it: counted now, it
            // would count twice, and the number of the next page would be one too high.
            var before = before
            if case .more = error {
                // The next scan begins anew: the description may name another pagination style by
                // then, or records have moved between pages.
                before.nextURL = nil
                position?.checkpoint.nextURL = nil
            }
            batch.add(page, before, checkpointName)
            throw error
        }
        if let choice = pages.choice { report.pagination = choice }
        checkpoint.nextURL = hasNext ? pages.position : nil
        if hasNext {
            try prepare(pages.request)
        } else {
            isCutOff = pages.isCutOff
            complete(&checkpoint, checkpointName, identity, parent)
        }
        batch.add(page, checkpoint, checkpointName)
        return hasNext
    }

    /// The decision about a response.
    private enum Verdict {
        case notModified
        case records(isEmpty: Bool)
        /// The scan continues at another page, and this response is dropped.
        case again
        case ignored
        /// The previous page was the last one.
        case last
    }

    private func verdict(_ response: TransportResponse, _ pages: inout PageSequence) throws -> Verdict {
        let rule = mirror.rules(of: endpoint).first(for: response)
        switch rule?.action {
        case .ignore: return .ignored
        case .empty: return .records(isEmpty: true)
        case .stop: return .last
        case .fail, .retry, .refreshToken:
            throw MirrorError.status(
                code: response.status, method: endpoint.method, url: shownURL,
                message: rule?.message ?? EndpointScan.message(of: response))
        case nil: break
        }
        if let reason = response.partReason(askedWith: TransportHeaders(mirror.description.api.headers)) {
            throw MirrorError.status(code: response.status, method: endpoint.method, url: shownURL, message: reason)
        }
        switch response.status {
        case 304: return .notModified
        case 200..<300: return .records(isEmpty: false)
        default:
            if try pages.restart(afterStatus: response.status) { return .again }
            throw MirrorError.refusal(
                response, method: endpoint.method, url: shownURL, message: EndpointScan.message(of: response))
        }
    }

    /// Marks the scan as complete.
    private mutating func complete(
        _ checkpoint: inout Checkpoint, _ checkpointName: String, _ identity: WalkIdentity, _ parent: Parent?
    ) {
        checkpoint.nextURL = nil
        checkpoint.state = .complete
        checkpoint.completedAt = now
        // The sync is complete with its last endpoint, unless an earlier one was interrupted.
        if isLastOfSync, isLastTarget, !holdsCommits, let run = syncRun { batch.add(run.completed(at: now), run.name) }
        guard let rules = endpoint.orphans else { return }
        checkpoint.hasOrphans = mayHaveOrphans(rules, checkpoint)
        if checkpoint.hasOrphans {
            batch.completed.append(
                Batch.Completed(
                    walk: identity, parent: parent?.key, checkpointName: checkpointName, scan: checkpoint.scan))
        }
    }

    /// Drafts the records of a response.
    ///
    /// - Parameters:
    ///   - url: the requested URL, as the API names it.
    ///   - position: the number of records that the previous pages list.
    func draft(
        _ response: TransportResponse, _ parent: Parent?, _ url: String, from position: Int
    ) throws -> Importer.Added {
        // 204 and other empty responses list nothing (RFC 9110 §15.3.5).
        if response.body.isEmpty, response.status != 200 { return Importer.Added(listed: [], count: 0) }
        let reference = endpoint.forEach?.parent.flatMap { relationship in
            parent.map { ParentReference(relationship: relationship, key: $0.key) }
        }
        let context = context(response, parent, url, from: position), known = importer.diagnostics.count
        let added =
            try endpoint.envelope.isEmpty
            ? importer.add(
                response.body, records: endpoint.records, entity: endpoint.entity, parent: reference, context: context,
                asking: questions)
            : importer.add(response.body, envelope: endpoint.envelope, context: context, asking: questions)
        // Only diagnostics of this page: other pages of the batch have their own.
        if added.skipped > 0, added.listed.isEmpty,
            let diagnostic = importer.diagnostics.dropFirst(known).first(where: { $0.code == .keyMissing })
        {
            throw MirrorError.noKeys(diagnostic, url: shownURL, place: place)
        }
        return added
    }

    /// The values that the mapping may read from outside the body.
    ///
    /// In increasing precedence: values of the parent record, parameters of the description,
    /// parameters of the query that was sent.
    private func context(_ response: TransportResponse, _ parent: Parent?, _ url: String, from position: Int)
        -> ImportContext
    {
        var parameters = parent?.values ?? [:]
        // A path may name an attribute of the parent without its variable: {+url} is {+list.url}.
        if let forEach = endpoint.forEach {
            for (name, value) in parent?.values ?? [:] where name.hasPrefix(forEach.variable + ".") {
                parameters[String(name.dropFirst(forEach.variable.count + 1))] = value
            }
        }
        for parameter in endpoint.parameters { parameters[parameter.name] = parameter.value }
        // If the query repeats a parameter, its first value counts.
        for (name, value) in QueryParameters.values(in: url).reversed() { parameters[name] = value }
        return ImportContext(
            headers: response.headers.fields.map { ($0.name, $0.value) }, parameters: parameters,
            firstPosition: position)
    }

    /// Begins to commit the batch as one change.
    ///
    /// Waits for the previous commit and, without prefetching, also for this one.
    private mutating func flush() async throws {
        guard !batch.isEmpty, !holdsCommits else { return }
        try await settle()
        await mirror.pause()
        if let pending = syncRun?.pending, batch.checkpoints[pending.name] == nil {
            batch.add(pending.checkpoint, pending.name)
        }
        let done = batch
        batch = Batch()
        let mirror = mirror
        underWay = done
        await pipeline.start(
            to: mirror.store, responses: done.pages.filter(\.isImported).map(\.entry),
            revalidated: done.pages.compactMap { page in
                page.asked.map { RevalidatedResponse(asked: $0, entry: page.entry) }
            },
            checkpoints: done.checkpoints,
            trains: done.pages.contains(where: \.isImported)
        ) { report, writer in
            let dropped = Set(report.dropped)
            for page in done.pages {
                guard let members = page.members else { continue }
                try writer.noteListed(
                    page.entry.listing.listed.filter { !dropped.contains($0) }, walk: members,
                    scan: page.entry.listing.scan)
            }
            try mirror.saveBudgets(&writer)
        }
        // Without prefetching, the next page is requested only after the previous commit.
        if !mirror.options.prefetches { try await settle() }
    }

    /// Waits for the commit under way, then looks for the orphans of the scans it has completed.
    private mutating func settle() async throws {
        guard let done = underWay else { return }
        underWay = nil
        await mirror.pause()
        do {
            // A cancellation keeps pages that were handed over. A scan that is one change may take
            // long, and is rolled back.
            if let imported = try await pipeline.finish(isCancellable: unit == .walk) { report.report.add(imported) }
        } catch {
            if let conflict = error as? RevalidationConflict {
                overtakenRequests.formUnion(conflict.requests)
                overtaken.formUnion((done.pages + batch.pages).map(\.target) + [target])
            }
            // Later pages are not stored either: a resumed scan would skip the missing ones.
            batch = Batch()
            throw error
        }
        if let failure = pipeline.trainingFailure {
            report.failures.append(APIMirror.mirrorError(failure, url: shownURL, place: place))
        }
        syncRun?.committed(done.checkpoints)
        for page in done.pages { count(page.entry, isImported: page.isImported) }
        for walk in done.completed { try await lookForOrphans(walk) }
    }

    mutating func count(_ entry: ResponseEntry, isImported: Bool) {
        report.pages += 1
        report.listed += entry.listing.count
        if !isImported { report.notModified += 1 }
        progress(snapshot(requesting: nil))
    }

    func snapshot(requesting url: String?) -> SyncProgress {
        SyncProgress(
            endpoint: endpoint.name, pages: report.pages, notModified: report.notModified, listed: report.listed,
            requesting: url)
    }
}
