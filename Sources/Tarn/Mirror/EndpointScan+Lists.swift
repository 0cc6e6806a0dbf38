// The lists of a scan: several at once, each page by page, with the failures of single parents.

import TarnHTTP
import TarnImport
import TarnStore

extension EndpointScan {
    /// Scans the lists of all partitions and parents; those that lost pages to a void 304 again.
    func scan() async {
        while true {
            measured.listsDone = queue.finished.count
            repeatOvertaken()
            if endsScans || report.failures.contains(where: \.endsEverything) {
                cancelLists()
                return await end()
            }
            if lists.isEmpty, queue.isEmpty {
                await end()
                guard overtaken.isEmpty else { continue }
                if await addNewParents() { continue }
                return await lookForHeldOrphans()
            }
            if Task.isCancelled {
                cancelLists()
                return await fail(MirrorError.cancelled, isOfParent: false)
            }
            if stop?.isRequested == true {
                report.wasStopped = true
                cancelLists()
                return await end()
            }
            if lists.count < width, let next = queue.take() {
                await begin(parents.list(at: next.index, of: request), next.index, isRepeated: next.isRepeated)
            } else if let position = await arrival() {
                await advance(position)
            }
        }
    }

    /// Ends the requests of all lists. The lists continue in a later sync.
    private func cancelLists() {
        for list in lists { list.cancel() }
        lists = []
        queue.removeAll()
        overtaken = []
    }

    /// Queues lists that lost pages: they continue behind their last committed page.
    private func repeatOvertaken() {
        guard !overtaken.isEmpty else { return }
        for list in lists where overtaken.contains(list.index) { list.cancel() }
        lists.removeAll { overtaken.contains($0.index) }
        queue.repeat(overtaken)
        for index in overtaken { forgetEnd(ofList: index) }
        overtaken = []
    }

    /// Begins the scan of a list, and requests its first page.
    private func begin(_ request: EndpointRequest, _ index: Int, isRepeated: Bool) async {
        shownURL = Redaction.url(client.requestURL(client.api.base + endpoint.path))
        defer { current = nil }
        do {
            guard let list = try await list(request, index, isRepeated: isRepeated) else {
                queue.finished.insert(index)
                return
            }
            current = list
            try ask(list)
            lists.append(list)
        } catch {
            queue.finished.insert(index)
            await fail(error, isOfParent: endpoint.hasSeveralLists, notBegun: (request, index))
        }
    }

    /// Requests the current page of a list, unless the request is under way already.
    private func ask(_ list: ListScan) throws {
        // A prefetch from before the scan may be for another page than the first one here.
        if let first, list.ahead == nil { list.ahead = first }
        first = nil
        if let ahead = list.ahead, ahead.page != list.pages.request {
            ahead.cancel()
            list.ahead = nil
        }
        list.fetch = try list.ahead ?? ask(list.pages.request, of: list)
        list.ahead = nil
    }

    /// Waits for the response to a request of a list, and commits pages meanwhile.
    ///
    /// - Returns: the position of the list; nil if the scan is to be stopped or to repeat lists.
    private func arrival() async -> Int? {
        while overtaken.isEmpty, !Task.isCancelled, stop?.isRequested != true {
            if sharesCommits, underWay == nil ? isSharedDue : pipeline.hasEnded {
                do {
                    try await settle()
                    try await commitIfDue()
                } catch {
                    await fail(error, isOfParent: false)
                    return nil
                }
                continue
            }
            // If a list is one change, the pages of others must not come between its own.
            let most = unit == .scan ? min(1, lists.count) : lists.count
            for position in 0..<most where lists[position].fetch?.hasArrived ?? true { return position }
            await arrivals.wait()
        }
        return nil
    }

    /// Processes the page of a list, and requests the next one.
    private func advance(_ position: Int) async {
        let list = lists.remove(at: position)
        current = list
        defer { current = nil }
        do {
            if try await processPage(of: list) {
                lists.insert(list, at: min(position, lists.count))
            } else {
                queue.finished.insert(list.index)
                if list.hasFurtherWindow { try await beginNextWindow(list) }
            }
        } catch {
            list.cancel()
            queue.finished.insert(list.index)
            await fail(error, isOfParent: endpoint.hasSeveralLists)
        }
    }

    /// - Returns: false if it was the last page.
    private func processPage(of list: ListScan) async throws -> Bool {
        try Task.checkCancellation()
        if list.fetch == nil { try ask(list) }
        guard let fetch = list.fetch else { return false }
        list.fetch = nil
        let goesOn = try await take(fetch, list)
        try await commitIfDue()
        if goesOn {
            try ask(list)
        } else {
            passedBy.succeeded()
            if unit == .scan { try await flush() }
        }
        return goesOn
    }

    // MARK: Failures

    /// Reports the error that has stopped the current list, and keeps or discards its pages.
    ///
    /// - Parameter list: a list that could not begin, and its index; nil for the current one.
    private func fail(
        _ error: any Error, isOfParent hasParent: Bool, notBegun list: (request: EndpointRequest, index: Int)? = nil
    ) async {
        if error is RevalidationConflict { return discard() }
        let error = MirrorError(error, method: endpoint.method, url: shownURL, place: request.place)
        // The outcome of the batch under way does not depend on this error.
        do {
            try await settle()
        } catch is RevalidationConflict {
            // This list is one of those that are repeated, unless the task is cancelled.
            if let list { overtaken.insert(list.index) }
            if case .cancelled = error { report.failures.append(error) }
            return discard()
        } catch let other {
            let other = MirrorError(other, url: shownURL, place: request.place)
            // Cancelling the task also cancels the wait for the commit.
            if case .cancelled = other {} else { report.failures.append(other) }
        }
        if hasParent, error.isOfParent {
            // Pages of other parents are kept. If the scan is one change, nothing is kept.
            if unit == .scan || importer.hasFailed {
                // The unit is lost with the pages of other parents, which are requested again.
                overtaken.formUnion(batch.targets.filter { $0 != current?.index })
                discard()
                if var beginning = current?.target.beginning {
                    // A position that was given up stays so.
                    if current?.target.checkpoint.nextURL == nil { beginning.nextURL = nil }
                    current?.target.checkpoint = beginning
                }
            }
            if holdsCommits { return report.failures.append(error) }
            return await passBy(error, notBegun: list)
        }
        report.failures.append(error)
        endsScans = endpoint.hasSeveralLists
        // After a cancellation nothing is kept. Nothing is kept either if the scan is one change,
        // or if a record without a key has failed the unit. Otherwise pages that were fetched
        // before are kept.
        if case .cancelled = error, !sharesCommits { return discard() }
        if holdsCommits || unit == .scan || batch.isEmpty || importer.hasFailed {
            discard()
            return await giveUpCheckpoint()
        }
        await end()
        // The repeated scan reports the error if it meets it again.
        if !overtaken.isEmpty, !endsScans { report.failures.removeLast() }
    }

    /// Stores that the position of the current list was given up, if its pages are discarded.
    ///
    /// The list would be continued there again and again.
    private func giveUpCheckpoint() async {
        guard !holdsCommits, !options.isDryRun, let target = current?.target, target.checkpoint.nextURL == nil,
            target.checkpoint.state == .underWay, target.beginning.pages > 0
        else { return }
        var checkpoint = target.beginning
        checkpoint.nextURL = nil
        checkpoint.sync = syncID
        batch.add(checkpoint, target.name, of: target.index)
        await end()
    }

    /// Whether a failure of this kind says that the server has no such list.
    private static func isGone(_ kind: String) -> Bool { ["404", "410"].contains(kind) }

    /// Notes that a list has failed: what the others miss may have moved to it, unless it is gone.
    ///
    /// - Returns: whether the orphans of the others have to wait.
    private func noteFailure(_ kind: String) -> Bool {
        let isGone = EndpointScan.isGone(kind)
        hasNewFailure = hasNewFailure || !isGone
        return !isGone
    }

    /// Notes that the scan for a parent has failed: a continuing sync does not request it again.
    private func passBy(
        _ error: MirrorError, notBegun other: (request: EndpointRequest, index: Int)?
    ) async {
        var list = current.map { (name: $0.target.name, known: $0.target.beginning, progress: $0.target.checkpoint) }
        let index = current?.index ?? other?.index
        if list == nil, let other, let (name, known) = unbegun(other.request) {
            list = (name, known, known)
        }
        let wasKnown = list?.known.failure?.kind == error.kind
        let ends = passedBy.add(error, wasKnown: wasKnown)
        let holdsOthers = !wasKnown && noteFailure(error.kind)
        if syncRun != nil, var list {
            list.progress.sync = syncID
            list.progress.holdsOthers = holdsOthers
            if !holdsOthers { list.progress.knownSince = client.now }
            list.progress.failure = Checkpoint.Failure(kind: error.kind, text: error.description)
            batch.add(list.progress, list.name, of: index)
        }
        if ends {
            endsScans = true
            report.failures.append(error)
        }
        await end()
        // The repeated scan counts the failure.
        if !ends, let index, overtaken.contains(index) { passedBy.removeLast(error) }
    }

    /// The name and the progress of a list whose first request could not be made; nil if the store
    /// cannot be read.
    private func unbegun(_ request: EndpointRequest) -> (name: String, checkpoint: Checkpoint)? {
        let name = checkpointName(of: request)
        do {
            let old = try client.store.read { try $0.checkpoint(name) }
            return (name, old ?? Checkpoint(state: .underWay, plan: "", scan: 0, startedAt: client.now))
        } catch {
            return nil
        }
    }

    /// The kind of a failure that is none: a response rule has passed over the list.
    private static let ignored = "ignored "

    /// Notes that a rule for responses has passed over a page: the list ends there.
    ///
    /// The next scan begins with the first page, and with the value of this one. The list is not
    /// known as a whole: the records that the others miss may be there. As with failures, a list
    /// that is gone or that was ignored alike before does not count.
    func noteIgnored(_ list: ListScan, status: Int) throws {
        try checkPartialError(of: list)
        var checkpoint = list.target.checkpoint
        let mayGoOn = list.pages.ordinal > 1 && list.pages.refusedEnd != .end
        note(EndCounts(ignored: 1, doubt: mayGoOn ? .ignored(status: status) : nil), ofList: list.index)
        guard !options.isDryRun, syncRun != nil || checkpoint.pages > 0 else { return }
        if checkpoint.pages == 0 {
            // The known progress of the list stays.
            let old = try client.store.read { try $0.checkpoint(list.target.name) }
            if let old, old.plan == checkpoint.plan { checkpoint = old }
        } else {
            checkpoint.mayEndAtLimit = mayGoOn
            if checkpoint.records > 0 { checkpoint.isKnownEmpty = false }
        }
        (checkpoint.state, checkpoint.nextURL) = (.complete, nil)
        (checkpoint.seen, checkpoint.begunSince, checkpoint.heldSince) = (nil, nil, nil)
        checkpoint.hasOrphans = false
        if syncRun != nil {
            let kind = EndpointScan.ignored + "\(status)", decides = endpoint.hasSeveralLists && endpoint.orphans != nil
            let isKnown = list.target.beginning.failure?.kind == kind
            if isKnown || EndpointScan.isGone("\(status)") { checkpoint.knownSince = client.now }
            checkpoint.holdsOthers = decides && !isKnown && noteFailure("\(status)")
            checkpoint.failure = Checkpoint.Failure(kind: kind, text: "")
            checkpoint.sync = syncID
            if checkpoint.completedAt == nil, checkpoint.whole == nil {
                // No scan has reached all pages: responses of all scans count.
                checkpoint.whole = Checkpoint.WholeScan(identity: list.target.identity.responses, scan: 0)
            }
            checkpoint.completedAt = client.now
        }
        list.target.checkpoint = checkpoint
        batch.add(checkpoint, list.target.name, of: list.index)
    }

    /// Counts a list that the interrupted sync had completed or passed by.
    func noteFinished(_ checkpoint: Checkpoint) {
        hasEarlierPages = true
        hasUnknownList = hasUnknownList || checkpoint.holdsOthers
        if endpoint.hasSeveralLists { report.finishedParents += 1 } else { report.wasFinished = true }
        report.skippedBefore += checkpoint.skipped
        if checkpoint.mayEndAtLimit { report.doubtsBefore += 1 }
        guard let failure = checkpoint.failure else { return }
        if failure.kind.hasPrefix(EndpointScan.ignored) {
            report.ignored += 1
        } else {
            passedBy.add(failure)
        }
    }
}
