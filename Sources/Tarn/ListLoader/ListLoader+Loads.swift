// The loads of a list: pages from the client, then one change of the stored list.

import Foundation
import Locking
import TarnHTTP
import TarnImport
import TarnStore

extension ListLoader {
    /// Performs a load.
    ///
    /// - Returns: the result, and the failure in whose place the store has answered.
    func perform(_ job: Job) async throws -> (ListLoadResult, (any Error)?) {
        let known = try client.store.read { try entry($0.access) }, stored = known?.loaded
        switch job.load {
        case .first: return try await replace(known, pages: 1, at: job.url)
        case .refresh:
            let start = stored?.pages.first?.position.text, own = try position(ofFirstPageAt: nil).text
            return try await replace(
                known, pages: stored?.pages.count ?? 1, at: start == own ? nil : start, isRefresh: true)
        case .next:
            guard let stored else { return try await replace(known, pages: 1, at: nil) }
            guard let next = stored.next else { return (.noPage, nil) }
            return try await extend(stored, at: next, .next)
        case .previous:
            guard let stored, let previous = stored.previous else { return (.noPage, nil) }
            return try await extend(stored, at: previous, .previous)
        }
    }

    /// The list as the store has it; nil if it was never loaded.
    func storedList() throws -> StoredList? { try client.store.read { try entry($0.access)?.loaded } }

    /// The entry of the list, loaded or not.
    private func entry(_ access: StoreAccess) throws -> StoredList? {
        try access.responses.entry(of: key).flatMap { StoredList($0) }
    }

    // MARK: Pages

    /// Loads pages that replace the list.
    private func replace(
        _ known: StoredList?, pages count: Int, at url: String?, isRefresh: Bool = false
    ) async throws -> (ListLoadResult, (any Error)?) {
        let stored = known?.loaded
        var list = StoredList(loadedAt: client.client.now), session = Session(), reports: [ImportReport] = []
        var listed = client.beginList(), failure: CacheError?
        var asked = request
        if isRefresh, request.options.policy != .cacheOnly, request.options.policy != .networkOnly {
            asked = request.policy(.networkFirst)
        }
        var position = try position(ofFirstPageAt: url), next = try url.map { _ in try nextPage(at: position) }
        for number in 1...max(1, count) {
            let page = try await load(asked, at: next)
            if let problem = page.failure {
                // Pages of the store are older than the list.
                guard stored == nil, problem.isUnreachable else { throw problem }
                failure = failure ?? problem
            }
            if let report = page.report { reports.append(report) }
            listed.add(page)
            list.append(.init(position: position, records: page.distinct))
            list.hasUnknown = list.hasUnknown || page.listing.skipped > 0 || page.listing.isCutOff
            if number == 1 { list.setPrevious(page, false) }
            next = page.next
            list.next = next.map { $0.position }
            guard let following = list.next, following.problem == nil else { break }
            position = following
        }
        session.next = next
        // A list that the server was asked for as a whole, and what it may have dropped by then.
        let judged = list.isComplete && listed.refusal == nil ? known?.known ?? [] : nil
        guard try await save(list, over: stored, isNew: true, judging: judged, session) else {
            return (.skipped, failure)
        }
        let orphans = list.isFromStart && list.next == nil ? try await removeOrphans(listed) : nil
        return (.loaded(reports, orphans: orphans), failure)
    }

    /// Loads the page after or before the list.
    private func extend(
        _ stored: StoredList, at position: StoredList.Position, _ load: ListLoad
    ) async throws -> (ListLoadResult, (any Error)?) {
        if let problem = position.problem {
            throw MirrorError.endpoint(place: request.endpoint.place, message: problem)
        }
        if stored.pages.contains(where: { $0.position.text.hasSameBytes(as: position.text) }) {
            throw MirrorError.endpoint(
                place: request.endpoint.place,
                message: "page loop: the \(load) page is a page that the list has: \(Redaction.url(position.text))")
        }
        var session = session.withLock { $0.revision == stored.revision ? $0 : Session() }
        if session.next?.position != stored.next { session = Session() }
        let known = load == .next ? session.next : nil
        let page = try await self.load(request, at: try known ?? nextPage(at: position, load))
        // Offline, what the store has is better than nothing; a server that fails has another page.
        if let problem = page.failure, !problem.isUnreachable { throw problem }
        var list = stored
        list.loadedAt = client.client.now
        list.hasUnknown = list.hasUnknown || page.listing.skipped > 0 || page.listing.isCutOff
        let new = StoredList.Page(position: position, records: page.distinct)
        if load == .next {
            list.append(new)
            session.next = page.next
            list.next = page.next.map { $0.position }
        } else {
            list.prepend(new)
            list.setPrevious(page, true)
        }
        // Its pages are of different times: a record may have moved from one that was yet to come
        // to one that was loaded before, so that none has it. They prove no loss.
        guard try await save(list, over: stored, isNew: false, judging: nil, session) else {
            return (.skipped, page.failure)
        }
        return (.loaded(page.report.map { [$0] } ?? [], orphans: nil), page.failure)
    }

    /// Loads one page, whose records the list knows as soon as they are stored.
    private func load(
        _ request: RecordRequest<Value>, at next: ResponsePage<Value>.NextPage?
    ) async throws -> ResponsePage<Value> {
        let isNoted = Guarded(false)
        var request = request
        request.options.transfer.onImport = { [self] listed, writer in
            try note(listed, &writer)
            isNoted.withLock { $0 = true }
        }
        let page = try await client.page(request, at: next)
        // A page that the store has answered brings nothing new.
        let isServers = page.isStored && (page.source == .fetched || page.source == .revalidated)
        if isServers, !isNoted.withLock(\.self) { try await noteUnknown(page.listing.records) }
        try Task.checkCancellation()
        guard page.isStored else {
            throw MirrorError.endpoint(
                place: request.endpoint.place,
                message: "the server forbids to store the response: a list is kept in the store")
        }
        return page
    }

    // MARK: Records of pages

    /// Notes the records of a page in the entry of the list, whatever becomes of the load.
    ///
    /// Otherwise records would stay as items that no list ever had, and that none could lose.
    private func note(_ records: [ListedRecord], _ writer: inout StoreWriter) throws {
        var list = try entry(writer.access) ?? unloaded
        if list.note(records) { try writer.putResponse(list.entry(key)) }
        guard let members else { return }
        // A complete list that is under way does not decide about them.
        let scan = try writer.access.checkpoints.checkpoint(request.scanName)?.scan ?? 0
        try writer.noteListed(records, of: members, scan: scan + 1)
    }

    /// Notes the records of a page that was not imported for this load.
    private func noteUnknown(_ records: [ListedRecord]) async throws {
        let isKnown = try client.store.read { reader in
            var list = try entry(reader.access) ?? unloaded
            if list.note(records) { return false }
            guard let members else { return true }
            return try records.allSatisfy { try reader.access.scans.member($0, of: members) != nil }
        }
        guard !isKnown else { return }
        try await client.store.write { [self] in try note(records, &$0) }
    }

    /// The entry of a list that was not loaded yet.
    private var unloaded: StoredList {
        var list = StoredList(loadedAt: client.client.now)
        list.isLoaded = false
        list.variant = variant
        return list
    }

    // MARK: Positions

    private func position(ofFirstPageAt url: String?) throws -> StoredList.Position {
        if let url { return .init(text: url, ordinal: 1, listed: 0) }
        return .init(text: try target.pages().position, ordinal: 1, listed: 0)
    }

    /// The page at a stored position.
    ///
    /// - Parameter load: `next` if the ordinal of the page is known.
    private func nextPage(
        at position: StoredList.Position, _ load: ListLoad = .previous
    ) throws -> ResponsePage<Value>.NextPage {
        do {
            var pages = try target.pages()
            try pages.resume(at: position.text, ordinal: position.ordinal, listed: position.listed)
            guard target.endpoint.method == "GET", target.endpoint.body == nil else {
                return .init(place: .sequence(pages))
            }
            var request = CacheRequest(target.endpoint.name, parameters: target.endpoint.parameters, url: pages.url)
            if load == .next { request.continuation = .page(pages) }
            return .init(place: .cached(request))
        } catch {
            throw CacheError(error, url: position.text, place: request.endpoint.place)
        }
    }

    // MARK: The store

    /// Stores the list.
    ///
    /// - Parameters:
    ///   - old: the list before the load.
    ///   - isNew: whether the list replaces the old one; otherwise it extends it.
    ///   - judged: see ``StoredList/noteLack(since:judging:isStored:)``.
    /// - Returns: false if another loader has replaced the list meanwhile, or changed the one to be
    ///   extended, and nothing is stored.
    private func save(
        _ list: StoredList, over old: StoredList?, isNew: Bool, judging judged: Set<ListedRecord>?, _ session: Session
    ) async throws -> Bool {
        var list = list
        list.revision = StoredList.random()
        if isNew { list.generation = list.revision }
        list.variant = variant
        let isSaved = try await client.store.write { [self, list] writer in
            let current = try entry(writer.access), loaded = current?.loaded
            guard isNew ? loaded?.generation == old?.generation : loaded?.revision == old?.revision else {
                return false
            }
            var list = list
            let access = writer.access
            try list.noteLack(since: current, judging: judged) { try access.isStored($0) }
            try writer.removeLists(of: key, variant)
            try writer.putResponse(list.entry(key))
            return true
        }
        guard isSaved else { return false }
        self.session.withLock { [revision = list.revision] in
            $0 = session
            $0.revision = revision
        }
        return true
    }

    /// Looks for orphans after a complete list whose pages one load has fetched.
    private func removeOrphans(_ listed: ListedPages) async throws -> OrphanReport? {
        guard let orphans = request.options.orphans else { return nil }
        return try await client.removeOrphans(of: request, orphans, after: listed).orphans
    }
}

extension StoreAccess {
    /// Whether a record is stored.
    fileprivate func isStored(_ record: ListedRecord) throws -> Bool {
        guard let entity = catalog.entity(id: record.entity) else { return false }
        return try lending { try record.storageKey.withUnsafeBytes { try records.row(entity, $0) != nil } }
    }
}

extension StoreWriter {
    /// Removes the list of the same request under another mapping: its order is out of use.
    ///
    /// Requests with other hooks, header fields or metadata have lists of their own.
    fileprivate mutating func removeLists(of key: RequestKey, _ variant: String) throws {
        guard let name = key.endpoint.split(separator: " ").first else { return }
        var ids: [UInt64] = []
        try access.responses.forEach(to: key.url, scope: key.authScope) { view in
            if view.method == key.method, view.endpoint != key.endpoint, view.endpoint.hasPrefix(name + " "),
                let entry = view.entry, StoredList(entry)?.variant == variant
            {
                ids.append(view.id)
            }
            return true
        }
        for id in ids { try removeResponse(id: id) }
    }
}

extension StoredList {
    /// The list, if it was ever loaded.
    var loaded: StoredList? { isLoaded ? self : nil }

    /// Sets the page before the list from its first page.
    ///
    /// - Parameter isReached: whether the server, or the style, has led to the page from the one
    ///   after it: without a further link it is the first one.
    fileprivate mutating func setPrevious<Value>(_ page: ResponsePage<Value>, _ isReached: Bool) {
        (previous, noPrevious) = (nil, nil)
        switch page.previous {
        case .page(let request):
            previous = Position(text: PageSequence.position(of: request), ordinal: 1, listed: 0)
            isFromStart = false
        case .unknown(let reason) where !isReached:
            noPrevious = reason
            isFromStart = false
        case .none, .unknown:
            noPrevious = "it is the first page"
            isFromStart = true
        }
    }
}

extension ResponsePage {
    /// The listed records, each at its first place.
    fileprivate var distinct: [ListedRecord] {
        var seen = Set<ListedRecord>()
        return listing.records.filter { seen.insert($0).inserted }
    }
}

extension ResponsePage.NextPage {
    /// The position of the page.
    fileprivate var position: StoredList.Position {
        func position(_ pages: PageSequence) -> StoredList.Position {
            .init(text: pages.position, ordinal: pages.ordinal, listed: pages.listed)
        }
        switch place {
        case .sequence(let pages): return position(pages)
        case .cached(let request):
            switch request.continuation {
            case .page(let pages)?: return position(pages)
            case .failure(let error, _)?:
                return .init(text: request.url ?? "", ordinal: 1, listed: 0, problem: "\(error)")
            case nil: return .init(text: request.url ?? "", ordinal: 1, listed: 0)
            }
        }
    }
}
