// Incremental scans: the value they begin with, and the one they leave to the next scan.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// The value with which a scan begins; nil to list everything.
    ///
    /// - Parameters:
    ///   - known: the value of the last complete scan; nil if there was none.
    ///   - old: the progress of the list before.
    func beginning(of request: EndpointRequest, after known: String?, of old: Checkpoint?) throws -> String? {
        guard let rule = endpoint.incremental else { return nil }
        if let since = options.since { return since }
        guard let known, !options.isFull else { return rule.initial }
        if rule.isWholeDue(old?.wholeSince, at: client.now) {
            report.isPeriodicallyFull = true
            return rule.initial
        }
        guard rule.field != nil else { return known }
        return try request.increments?.sent(known)
    }

    /// The value that a scan has found up to a page.
    ///
    /// A date in the future does not count: what changes until then would never be requested.
    ///
    /// - Parameters:
    ///   - began: the time when the scan began.
    ///   - until: the end of the window that it requests; nil without one.
    func seen(
        _ entry: ResponseEntry, _ request: EndpointRequest, after known: String?, began: Timestamp, until: Timestamp?
    ) -> String? {
        guard let rule = endpoint.incremental else { return nil }
        let found: String? =
            switch rule.source {
            case .field: PageMetadata.increment(entry.listing.metadata)
            case .cursor(let path), .link(let path): PageMetadata.read(entry.listing.metadata).values[path]
            case .header(let name): TransportHeaders(flat: entry.validation.headers)[name]
            case .window: nil
            }
        if case .window = rule.source { return known ?? windowEnd(entry, request, began: began, until: until) }
        guard let increments = request.increments else { return nil }
        guard rule.field != nil else {
            guard let found, !found.isEmpty else { return known }
            return until.map { increments.value(stated: found, until: $0) } ?? found
        }
        let date = TransportHeaders(flat: entry.validation.headers)["Date"].flatMap { HTTPDate.parse($0) }
            .map { Timestamp($0) }
        // `Date` has whole seconds: the server may have changed a record later within that one.
        let now = max(client.now, date?.earlier(bySeconds: -1) ?? client.now)
        var counted = found
        if let found, increments.isLater(found, than: now) {
            report.futureValue = report.futureValue ?? found
            counted = increments.text(of: min(began, date ?? began), like: found)
            report.leavesFutureOut = report.leavesFutureOut || counted == nil
        }
        return increments.largest([known, counted].compactMap(\.self))
    }

    /// The value that a window leaves to the next one: its end, but no time that the server had not
    /// reached when it answered with the first page.
    private func windowEnd(
        _ entry: ResponseEntry, _ request: EndpointRequest, began: Timestamp, until end: Timestamp?
    ) -> String? {
        guard let end, let increments = request.increments else { return nil }
        guard let date = TransportHeaders(flat: entry.validation.headers)["Date"].flatMap({ HTTPDate.parse($0) })
        else { return increments.value(ofWindowEnd: end) }
        // The server may have looked for changes long before it answered.
        let waited = max(0, client.now.elapsed(since: began))
        let (asked, isEarly) = Timestamp(date).microseconds.subtractingReportingOverflow(waited)
        return increments.value(ofWindowEnd: isEarly ? end : min(end, Timestamp(microseconds: asked)))
    }

    /// Whether no value of a page is before one of the pages before.
    func isLast(_ entry: ResponseEntry, _ request: EndpointRequest, after known: String?) -> Bool {
        guard endpoint.incremental?.field != nil, let increments = request.increments,
            let found = PageMetadata.least(entry.listing.metadata)
        else { return false }
        return known.map { increments.largest([found, $0]) == found } ?? true
    }

    /// Whether a scan of changes ends at a page of a list that begins with the latest record: the
    /// records behind it were listed by the last complete scan.
    ///
    /// The value is that of a complete scan. So no interrupted one leaves a gap above it.
    func endsAtValue(_ entry: ResponseEntry, _ request: EndpointRequest) -> Bool {
        guard mayEndAtValue(request), let since = request.since, let increments = request.increments,
            let smallest = PageMetadata.least(entry.listing.metadata),
            let largest = PageMetadata.increment(entry.listing.metadata)
        else { return false }
        // Records with the value may follow one another on several pages.
        return increments.isFrom(since, largest) && increments.isFrom(since, smallest)
            && !increments.isFrom(smallest, since)
    }

    /// Whether only the records of a page tell whether the next one is requested.
    func mayEndAtValue(_ request: EndpointRequest) -> Bool {
        endpoint.incremental?.endsAtValue == true && request.since != nil
    }

    /// The value that a complete scan leaves to the next one.
    func next(after checkpoint: Checkpoint, _ request: EndpointRequest) -> String? {
        guard let rule = endpoint.incremental else { return nil }
        guard let seen = checkpoint.seen, requestsAll(since: checkpoint.since, request) else { return checkpoint.since }
        // A full scan knows best: the stored value may be one that no record has.
        let isWhole = options.isFull || request.since == nil || request.since == rule.initial
        guard rule.field != nil, let known = checkpoint.since, !isWhole else { return seen }
        return request.increments?.largest([known, seen]) ?? seen
    }

    /// Returns whether a scan requests everything that has changed since a stored value.
    ///
    /// A scan from a later `--since` value does not, nor does a sync that continues that scan.
    func requestsAll(since known: String?, _ request: EndpointRequest) -> Bool {
        guard let rule = endpoint.incremental, let since = request.since else { return true }
        if rule.until != nil {
            guard options.since == nil, let increments = request.increments,
                let sent = try? increments.window(from: known ?? rule.initial ?? "", now: client.now).since
            else { return false }
            return increments.isFrom(sent, since)
        }
        guard since != rule.initial else { return true }
        guard let known else { return false }
        guard rule.field != nil, let increments = request.increments else { return since == known }
        guard let sent = try? increments.sent(known) else { return false }
        return increments.isFrom(sent, since)
    }

    /// Whether a list may have records from before the initial value: scans from there have not.
    func mayListOlder(_ request: EndpointRequest) -> Bool {
        guard let rule = endpoint.incremental, let initial = rule.initial else { return false }
        // A token that has expired: everything is listed.
        guard let since = request.since else { return true }
        if since == initial { return false }
        // Tokens that the server has given are later ones.
        guard rule.field != nil else { return options.since != nil }
        return request.increments?.isFrom(since, initial) != true
    }

    /// Whether the next scan begins with the request of a complete one.
    func isSentAgain(_ target: ScanTarget) -> Bool {
        guard target.request.since != nil, let since = target.checkpoint.since, let rule = endpoint.incremental else {
            return true
        }
        if rule.until != nil { return false }
        let next = rule.field == nil ? since : try? target.request.increments?.sent(since)
        return next == target.request.since
    }

    /// The value that an interrupted scan leaves to the next one.
    ///
    /// In a list in the order of the field, what has moved past the scan has no smaller value. A
    /// token from before the interruption names what has changed since.
    func held(by checkpoint: Checkpoint, _ request: EndpointRequest) -> String? {
        guard requestsAll(since: checkpoint.since, request) else { return checkpoint.since }
        if endpoint.incremental?.field == nil { return checkpoint.heldSince ?? checkpoint.since }
        let values = [checkpoint.since, checkpoint.heldSince].compactMap(\.self)
        return request.increments?.largest(values) ?? values.last
    }

    /// Forgets the progress of lists that the endpoint does not have now: their records are no
    /// longer stored or have come back, or the description has no such values.
    ///
    /// The list of a record that comes back is requested as a whole: what it had was deleted. So is
    /// one that the description has again: its responses did not keep its records meanwhile. And so
    /// is one whose records refer to a record that comes back: see ``listsOfReturnedOwners(_:_:)``.
    func forgetLists(butOf parents: [ParentRecord?]) async throws {
        guard variant == nil, !options.isDryRun,
            endpoint.incremental != nil || endpoint.forEach?.onlyChanged == true
        else { return }
        let names = request.listNames(of: parents.map { $0?.key }), known = Set(names.map { ExactText($0) })
        let own = "\(endpoint.name) "
        let mayLackLists =
            endpoint.forEach != nil || client.description.endpoints.contains(where: { $0.orphans != nil })
        var forgotten: [ExactText: Checkpoint] = [:]
        func forget(_ name: String, _ checkpoint: Checkpoint) {
            if let other = checkpoint.outdated { forgotten[ExactText(name)] = other }
        }
        try client.store.read { reader in
            for (name, checkpoint) in try listsOfReturnedOwners(names, reader) { forget(name, checkpoint) }
            guard mayLackLists else { return }
            try reader.access.checkpoints.forEach(withPrefix: own) { name, checkpoint in
                if !known.contains(ExactText(name)), !EndpointScan.isVariant(name.dropFirst(own.count)) {
                    forget(name, checkpoint)
                }
            }
            if !known.contains(ExactText(endpoint.name)), let whole = try reader.checkpoint(endpoint.name) {
                forget(endpoint.name, whole)
            }
            for name in try listsOfReturned(parents.compactMap(\.self), reader) {
                if let checkpoint = try reader.checkpoint(name) { forget(name, checkpoint) }
            }
        }
        guard !forgotten.isEmpty else { return }
        let all = forgotten
        try await client.store.write(alone: true) { writer in
            for (name, checkpoint) in all { try writer.setCheckpoint(name.text, checkpoint) }
        }
    }

    /// The lists of records that were created after the last commit of the list: they were deleted
    /// meanwhile.
    ///
    /// If the log no longer has the changes, a record that has changed counts as one of them.
    private func listsOfReturned(_ parents: [ParentRecord], _ reader: StoreReader) throws -> [String] {
        guard let entity = endpoint.forEach?.entity else { return [] }
        var suspects: [(name: String, key: RecordKey, sequence: UInt64)] = []
        let names = request.listNames(of: parents.map(\.key))
        for (index, name) in names.enumerated() {
            let parent = parents[index % parents.count]
            guard let sequence = try reader.access.checkpoints.sequence(of: name), parent.version >= sequence
            else { continue }
            suspects.append((name, parent.key, sequence))
        }
        guard let first = suspects.map(\.sequence).min(),
            let token = ChangeToken("\(try reader.changeToken.incarnation):\(max(first, 1) - 1)")
        else { return [] }
        var created: [RecordKey: UInt64] = [:]
        do {
            try reader.forEachChange(since: token, of: [entity]) { change in
                if change.operation == .created { created[change.key] = change.sequence }
                return true
            }
        } catch is ChangeLogError {
            return suspects.map(\.name)
        }
        return suspects.filter { list in created[list.key].map { $0 >= list.sequence } ?? false }.map(\.name)
    }

    /// The value that requests everything: a text is sent with the initial value, nothing without.
    var wholeSince: String? { endpoint.incremental.flatMap { $0.text == nil ? nil : $0.initial } }

    /// Begins a list again without its value, which the server no longer accepts.
    func beginAnew(_ list: ListScan) throws {
        var request = list.target.request
        report.expired += 1
        report.since = wholeSince
        request.since = wholeSince
        list.pages = try request.pages()
        list.target.request = request
        list.target.checkpoint.begunSince = request.since
        list.target.checkpoint.nextURL = list.pages.position
    }
}

extension Incremental {
    /// The time from which on the whole list is requested again; nil if it is not, by this rule.
    func nextWhole(after last: Timestamp?) -> Timestamp? {
        guard let fullInterval, let last else { return nil }
        return last.earlier(bySeconds: -fullInterval)
    }

    /// Returns whether the whole list is to be requested again.
    ///
    /// - Parameter last: the time when the last scan of the whole list began; nil if it is unknown.
    func isWholeDue(_ last: Timestamp?, at now: Timestamp) -> Bool {
        guard fullInterval != nil else { return false }
        // A time in the future is that of a clock that was wrong.
        guard let last, last <= now, let next = nextWhole(after: last) else { return true }
        return next <= now
    }
}

extension Checkpoint {
    /// The time when the last scan began, if it is complete. Nil also if its progress was
    /// forgotten: it may have been under way.
    var completed: Timestamp? { state == .complete && !plan.isEmpty ? startedAt : nil }
}

extension EndpointRequest {
    /// The first request for the whole list; nil if this one is for it.
    func base() throws -> RequestKey? {
        let initial = endpoint.incremental?.initial
        guard since != nil, since != initial, !endpoint.isTypedRequest else { return nil }
        var whole = self
        whole.since = initial
        return whole.key(of: try whole.pages().request)
    }
}
