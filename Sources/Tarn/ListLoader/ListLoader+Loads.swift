// The loads of a list: pages from the client, then one change of the stored list.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension ListLoader {
    /// Performs a load.
    ///
    /// - Returns: the result, and the failure in whose place the store has answered.
    func perform(_ job: Job) async throws -> (ListLoadResult, (any Error)?) {
        let stored = try storedList()
        switch job.load {
        case .first: return try await replace(stored, pages: 1, at: job.url)
        case .refresh:
            let start = stored?.pages.first?.position.text, own = try position(ofFirstPageAt: nil).text
            return try await replace(
                stored, pages: stored?.pages.count ?? 1, at: start == own ? nil : start, isRefresh: true)
        case .next:
            guard let stored else { return try await replace(nil, pages: 1, at: nil) }
            guard let next = stored.next else { return (.noPage, nil) }
            return try await extend(stored, at: next, .next)
        case .previous:
            guard let stored, let previous = stored.previous else { return (.noPage, nil) }
            return try await extend(stored, at: previous, .previous)
        }
    }

    /// The list as the store has it; nil if it was never loaded.
    func storedList() throws -> StoredList? {
        try client.store.read { try $0.access.responses.entry(of: key).flatMap { StoredList($0) } }
    }

    // MARK: Pages

    /// Loads pages that replace the list.
    private func replace(
        _ stored: StoredList?, pages count: Int, at url: String?, isRefresh: Bool = false
    ) async throws -> (ListLoadResult, (any Error)?) {
        var list = StoredList(loadedAt: client.client.now), session = Session(), reports: [ImportReport] = []
        var listed = ListedPages(startedAt: client.client.now), failure: CacheError?
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
        session.listed = list.isFromStart ? listed : nil
        guard try await save(list, over: nil, &session) else { return (.skipped, failure) }
        return (.loaded(reports, orphans: try await removeOrphans(list, session)), failure)
    }

    /// Loads the page after or before the list.
    private func extend(
        _ stored: StoredList, at position: StoredList.Position, _ load: ListLoad
    ) async throws -> (ListLoadResult, (any Error)?) {
        if let problem = position.problem {
            throw MirrorError.endpoint(place: request.endpoint.place, message: problem)
        }
        if stored.pages.contains(where: { $0.position.text == position.text }) {
            throw MirrorError.endpoint(
                place: request.endpoint.place,
                message: "page loop: the \(load) page is a page that the list has: \(Redaction.url(position.text))")
        }
        var session = session.withLock { $0.revision == stored.revision ? $0 : Session() }
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
            session.listed?.add(page)
        } else {
            list.prepend(new)
            list.setPrevious(page, true)
            session.listed = nil
        }
        guard try await save(list, over: stored, &session) else { return (.skipped, page.failure) }
        let orphans = load == .next ? try await removeOrphans(list, session) : nil
        return (.loaded(page.report.map { [$0] } ?? [], orphans: orphans), page.failure)
    }

    /// Loads one page.
    private func load(
        _ request: RecordRequest<Value>, at next: ResponsePage<Value>.NextPage?
    ) async throws -> ResponsePage<Value> {
        let page = try await client.page(request, at: next)
        try Task.checkCancellation()
        guard page.isStored else {
            throw MirrorError.endpoint(
                place: request.endpoint.place,
                message: "the server forbids to store the response: a list is kept in the store")
        }
        return page
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
    /// - Parameter old: the list that was extended; nil if the list replaces whatever is stored.
    /// - Returns: false if another loader has changed the list meanwhile, and nothing is stored.
    private func save(_ list: StoredList, over old: StoredList?, _ session: inout Session) async throws -> Bool {
        let key = key
        let revision = try await client.store.write { writer -> Int? in
            let current = try writer.access.responses.entry(of: key).flatMap { StoredList($0) }
            if let old, current?.revision != old.revision { return nil }
            var list = list
            list.revision = (current?.revision ?? 0) &+ 1
            let access = writer.access
            try list.noteLack(since: current) { try access.record($0) != nil }
            try writer.removeLists(of: key)
            try writer.putResponse(try list.entry(key))
            return list.revision
        }
        guard let revision else { return false }
        session.revision = revision
        self.session.withLock { [session] in $0 = session }
        return true
    }

    /// Looks for orphans after a complete list whose pages this process has loaded one by one.
    private func removeOrphans(_ list: StoredList, _ session: Session) async throws -> OrphanReport? {
        guard list.next == nil, list.isFromStart, let listed = session.listed, let orphans = request.options.orphans
        else { return nil }
        return try await client.removeOrphans(of: request, orphans, after: listed).orphans
    }
}

extension StoreWriter {
    /// Removes the list of the same request under another mapping: its order is out of use.
    fileprivate mutating func removeLists(of key: RequestKey) throws {
        guard let name = key.endpoint.split(separator: " ").first else { return }
        var ids: [UInt64] = []
        try access.responses.forEach(to: key.url, scope: key.authScope) { view in
            if view.method == key.method, view.endpoint != key.endpoint, view.endpoint.hasPrefix(name + " ") {
                ids.append(view.id)
            }
            return true
        }
        for id in ids { try removeResponse(id: id) }
    }
}

extension StoredList {
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
