// Storage of whole responses and of parts of responses.

import Foundation
import Locking
import TarnHTTP
import TarnStore

final class ResponseStore: Sendable {
    /// The endpoint name in entries of whole responses: no endpoint has this name.
    static let endpoint = "*"
    /// The endpoint name in entries of parts: lookups of whole responses do not find them.
    static let partEndpoint = "*part"

    private let store: Store
    private let options: CachedTransport.Options
    /// The transport that adds fields to requests; nil if it adds none.
    private let completing: CurlTransport?
    private let uses = CacheUses()
    /// The snapshot of the reader because of which evictions have made no room; nil without one.
    private let pinned = Guarded<Int?>(nil)
    /// The store's ``StoreReader/responseOrigin``, once it was read.
    private let knownOrigin = Guarded<String?>(nil)
    /// The URLs whose entries could not be invalidated, because the store takes no writes.
    private let outdated = Guarded(OutdatedURLs())
    private let timed: TimedWrites
    /// The maximum number of entries of a URL in a scope: whole responses and parts.
    static let variantLimit = 64

    init(_ store: Store, _ options: CachedTransport.Options, completing: CurlTransport? = nil) {
        self.store = store
        self.options = options
        self.completing = completing
        timed = TimedWrites(wait: options.longestWrite)
    }

    private var now: Timestamp { Timestamp(options.time.now()) }

    /// The number of URLs whose entries could not be invalidated, for tests.
    var outdatedCount: Int { outdated.withLock { $0.attempts.count } }

    private var origin: String {
        get throws {
            if let known = knownOrigin.withLock(\.self) { return known }
            let read = try store.read { try $0.responseOrigin }
            knownOrigin.withLock { $0 = read }
            return read
        }
    }

    /// The scope of a request; nil if the request bypasses the cache.
    func scope(_ request: TransportRequest) throws -> CacheScope? {
        var rules = options.rules
        let fields: TransportHeaders
        var headers = request.headers
        if ResponseStore.namesOwnHost(request) { headers["Host"] = nil }
        switch rules.audience(of: headers, scopedBy: options.scopeFields) {
        case .nobody: return nil
        case .everyone(let target): fields = target
        case .user(let user):
            fields = user
            rules.isShared = false
        }
        guard !fields.fields.isEmpty || !options.scope.isEmpty else { return CacheScope(rules: rules, digest: "") }
        // Sorted by name: the order of different fields has no meaning.
        let lines = fields.fields.map { "\($0.name): \($0.value)" }.sorted()
        let text = try ([origin, options.scope, rules.isShared ? "shared" : "user"] + lines).joined(
            separator: "\n")
        return CacheScope(rules: rules, digest: String(SHA256.hexadecimal(text).prefix(32)))
    }

    /// Whether the `Host` of a request is the server of its URL.
    private static func namesOwnHost(_ request: TransportRequest) -> Bool {
        guard let host = request.headers["Host"], request.headers.all("Host").count == 1,
            let url = try? HTTPURL(request.url).normalized,
            let other = try? HTTPURL("\(url.scheme)://\(host)").normalized
        else { return false }
        return other.hasSameOrigin(as: url)
    }

    /// The URL of an entry, followed by the scope: entries of a URL are adjacent for all scopes.
    ///
    /// Entries without a scope are of an older version that did not distinguish all users. They are
    /// not used.
    private static func url(_ url: String, _ scope: CacheScope) -> String { url + "#" + scope.digest }

    private static func key(_ url: String, _ scope: CacheScope, _ variant: String, isPart: Bool) -> RequestKey {
        RequestKey(url: ResponseStore.url(url, scope), endpoint: isPart ? partEndpoint : endpoint, variant: variant)
    }

    /// Finds the stored response that a request selects.
    ///
    /// - Parameter isPart: whether to search the stored parts instead of the whole responses.
    func find(_ request: TransportRequest, _ url: String, _ scope: CacheScope, now: Int, isPart: Bool = false) throws
        -> StoredMessage?
    {
        let outdatedUntil = outdated.withLock { $0.end(of: url) }, added = addedFields(to: request)
        return try store.read { reader in
            var found: [StoredMessage] = [], usedAt: [Timestamp] = [], other: StoredMessage?
            try reader.access.responses.forEach(to: ResponseStore.url(url, scope), scope: "") { view in
                guard var message = StoredMessage(view, isPart: isPart) else { return true }
                message.response.addSelecting(added)
                let isSelected = scope.rules.selects(message.response, for: request)
                guard isSelected || other == nil, scope.rules.permits(message.response, for: request) else {
                    return true
                }
                if let outdatedUntil, message.confirmedAt <= outdatedUntil { message.response.isInvalidated = true }
                guard isSelected else {
                    other = message
                    return true
                }
                found.append(message)
                usedAt.append(view.usedAt)
                return true
            }
            // If no response is selected, another one lets the rules explain why.
            guard let index = scope.rules.select(found.map(\.response), for: request, at: now) else { return other }
            uses.note(found[index].id, usedAt: usedAt[index], now: self.now)
            return found[index]
        }
    }

    /// The fields of a request that the transport adds, or would add if they were not there.
    ///
    /// Earlier versions stored a response without those that had selected it.
    private func addedFields(to request: TransportRequest) -> [TransportHeaders.Field] {
        guard let completing else { return [] }
        var bare = request
        bare.headers.fields.removeAll { !TransportHeaders.same($0.name, "Range") }
        return completing.addedFields(to: bare)
    }

    /// The unsafe requests that other processes have noted.
    var unsafeRequests: UnsafeRequests { get throws { try store.read { try $0.access.settings.unsafeRequests } } }

    /// Bytes of a representation; nil if they are not, or no longer, stored.
    func body(_ message: StoredMessage, _ range: Range<Int>) throws -> [UInt8]? {
        guard let places = message.places(of: range) else { return nil }
        return try store.read { reader in
            // Header fields and body must be of the same response.
            guard let view = try reader.access.responses.view(id: message.id), view.validatedAt == message.confirmedAt
            else { return nil }
            var bytes: [UInt8]?
            for place in places {
                guard let piece = try reader.access.responses.body(of: message.id, place) else { return nil }
                if bytes == nil { bytes = piece } else { bytes?.append(contentsOf: piece) }
            }
            return bytes ?? []
        }
    }

    /// Stores a whole response.
    ///
    /// - Returns: nil if an unsafe request has changed the resource since the transfer began, or if
    ///   the stored response is more recent: that of a slow transfer arrives late.
    func keep(
        _ message: CachedResponse, _ response: TransportResponse, _ url: String, _ scope: CacheScope
    ) async throws -> StoredMessage? {
        let variant = CacheRules.variant(of: message), received = now, taken = uses.take(), known = uses.all,
            options = options
        let entry = ResponseEntry(
            message, ResponseStore.key(url, scope, variant, isPart: false), received, bodySize: response.body.count,
            redirectedTo: response.redirectedTo)
        let body = response.body, digest = entry.request.digest,
            partDigest = ResponseStore.key(url, scope, variant, isPart: true).digest
        let id = try await write(alone: body.count > 1 << 20, adding: body.count) { writer -> UInt64? in
            // In the transaction: an unsafe request that ends the state now invalidates the entry.
            guard try scope.isCurrent(writer) else { return nil }
            if let view = try writer.access.responses.view(digest) {
                let stored = CachedResponse(view)
                if !stored.isInvalidated, stored.isLater(than: message, at: received.seconds) { return nil }
            }
            try writer.putResponse(entry, body: body)
            if let part = try writer.access.responses.view(partDigest) { try writer.removeResponse(id: part.id) }
            try writer.responses.noteUses(taken)
            let id = try writer.access.responses.view(digest)?.id ?? 0
            try ResponseStore.limitVariants(ResponseStore.url(url, scope), uses: known, kept: id, &writer)
            _ = try writer.responses.evict(
                options.limits, uses: known, kept: id, atMost: 32, now: received, random: options.time.random)
            return id
        }
        guard let id else { return nil }
        return StoredMessage(
            id: id, confirmedAt: received, response: message, size: body.count, redirectedTo: response.redirectedTo)
    }

    /// Stores a part of a representation, together with its other stored parts (RFC 9111 §3.4).
    ///
    /// Once the parts cover the whole representation, they become a whole response.
    ///
    /// - Parameter message: the 206, which must have a strong validator.
    /// - Returns: whether the part was stored. It is not if an unsafe request has changed the
    ///   resource, or if a stored response of another representation is more recent.
    func keep(
        _ part: ContentRange, _ body: [UInt8], _ message: CachedResponse, _ url: String, _ scope: CacheScope,
        now seconds: Int
    ) async throws -> Bool {
        guard let validator = message.strongValidator(at: seconds) else { return false }
        let variant = CacheRules.variant(of: message), received = now, taken = uses.take(), known = uses.all,
            options = options
        let key = ResponseStore.key(url, scope, variant, isPart: true),
            wholeKey = ResponseStore.key(url, scope, variant, isPart: false)
        let rules = scope.rules
        let part = ReceivedPart(
            message: message, validator: validator, content: part, body: body, received: received, seconds: seconds)
        return try await write(alone: body.count > 1 << 20, adding: body.count) { writer in
            guard try scope.isCurrent(writer), try !part.isOvertaken([wholeKey, key], writer.access) else {
                return false
            }
            // The current entries: another transfer may have changed them.
            if try part.confirmWhole(wholeKey, rules, &writer) { return true }
            let union = try part.union(key, rules, writer.access)
            let id: UInt64?
            if let places = union.wholePlaces {
                guard try part.putWhole(union, places, wholeKey, &writer) else { return false }
                id = try writer.access.responses.view(wholeKey.digest)?.id
            } else {
                guard union.parts.size <= options.maximumBodySize else { return false }
                try part.putParts(union, key, &writer)
                id = try writer.access.responses.view(key.digest)?.id
            }
            try writer.responses.noteUses(taken.filter { $0.key != id && $0.key != union.old?.id })
            try ResponseStore.limitVariants(ResponseStore.url(url, scope), uses: known, kept: id, &writer)
            _ = try writer.responses.evict(
                options.limits, uses: known, kept: id, atMost: 32, now: received, random: options.time.random)
            return true
        }
    }

    /// Removes the least recently used entries of a URL in a scope above the limit.
    ///
    /// A lookup examines all of them, and clients choose their number by the fields that `Vary`
    /// names.
    private static func limitVariants(
        _ url: String, uses: [UInt64: Timestamp], kept: UInt64?, _ writer: inout StoreWriter
    ) throws {
        var entries: [(id: UInt64, usedAt: Timestamp)] = []
        try writer.access.responses.forEach(to: url, scope: "") { view in
            entries.append((view.id, max(view.usedAt, uses[view.id] ?? view.usedAt)))
            return true
        }
        guard entries.count > variantLimit else { return }
        entries.sort { ($0.usedAt, $0.id) < ($1.usedAt, $1.id) }
        for entry in entries.filter({ $0.id != kept }).prefix(entries.count - variantLimit) {
            try writer.removeResponse(id: entry.id)
        }
    }

    /// Updates header fields and times after a 304; nil if the entry has changed since it was read.
    ///
    /// If the 304 has changed the fields that select the response, the entry gets another key.
    func confirm(_ message: StoredMessage, _ fresh: CachedResponse, _ scope: CacheScope) async throws -> StoredMessage?
    {
        let received = now, taken = uses.take()
        let id = try await write { writer -> UInt64? in
            // Replaced, confirmed or invalidated meanwhile: the 304 is not about the current entry.
            guard try scope.isCurrent(writer), let view = try writer.access.responses.view(id: message.id),
                view.validatedAt == message.confirmedAt, var entry = view.entry
            else { return nil }
            var current = CachedResponse(view)
            // Those of the message may have been completed.
            current.selecting = message.response.selecting
            guard current == message.response else { return nil }
            entry.update(fresh.headers, fresh, received)
            try writer.responses.noteUses(taken.filter { $0.key != message.id })
            return try ResponseStore.put(entry, message.id, fresh, &writer)
        }
        guard let id else { return nil }
        var kept = message
        (kept.id, kept.response, kept.confirmedAt) = (id, fresh, received)
        return kept
    }

    /// Stores a confirmed entry under the key of the fields that select it now.
    ///
    /// - Returns: its id; nil if the body is not stored.
    private static func put(
        _ entry: ResponseEntry, _ id: UInt64, _ fresh: CachedResponse, _ writer: inout StoreWriter
    ) throws -> UInt64? {
        var entry = entry
        entry.caching?.selecting = fresh.selecting.flat
        let key = RequestKey(
            url: entry.request.url, endpoint: entry.request.endpoint, variant: CacheRules.variant(of: fresh))
        guard key.digest != entry.request.digest else {
            try writer.putResponse(entry)
            return id
        }
        guard let size = entry.caching?.bodySize, let body = try writer.access.responses.body(of: id, 0..<size) else {
            return nil
        }
        entry.request = key
        try writer.removeResponse(id: id)
        try writer.putResponse(entry, body: body)
        return try writer.access.responses.view(key.digest)?.id
    }

    /// Removes an entry, unless another response has replaced it.
    ///
    /// If the store takes no writes, this process uses the entry only after a confirmation.
    func remove(_ message: StoredMessage, _ url: String) async throws {
        do {
            try await write { writer in
                guard let view = try writer.access.responses.view(id: message.id),
                    view.validatedAt == message.confirmedAt
                else { return }
                try writer.removeResponse(id: message.id)
            }
        } catch {
            markOutdated([url])
            throw error
        }
    }

    /// Invalidates the entries of URLs in all scopes and caches after an unsafe request.
    ///
    /// The resource may have changed (RFC 9111 §4.4). Entries of whole responses are adjacent,
    /// however many users there are. Only the scopes of record caches are searched one by one.
    ///
    /// If the store takes no writes, this process uses the entries only after a confirmation.
    ///
    /// - Parameter resources: the resources with transfers in other processes, whose responses will
    ///   not be stored.
    func invalidate(_ urls: [String], overtaking resources: [UInt64] = []) async throws {
        do {
            try await write { writer in
                try ResponseStore.invalidate(urls, &writer)
                try writer.access.settings.noteUnsafeRequests(resources)
            }
        } catch {
            // Without a transfer in another process, nothing is stored later than this.
            let urls = resources.isEmpty ? storedURLs(among: urls) : urls
            markOutdated(urls.map { (try? HTTPURL($0).normalized.description) ?? $0 })
            throw error
        }
    }

    /// The URLs that have entries; all of them if the store cannot be read.
    private func storedURLs(among urls: [String]) -> [String] {
        let stored = try? store.read { reader in
            let responses = reader.access.responses, scopes = try responses.scopes()
            return try urls.filter { try !ResponseStore.ids(of: $0, scopes, responses).isEmpty }
        }
        return stored ?? urls
    }

    private func markOutdated(_ urls: [String]) {
        let now = now
        outdated.withLock { $0.add(urls, at: now) }
    }

    /// Waits for the writes that are late, unless the task is cancelled.
    func finishLateWrites() async { await timed.finish() }

    /// Writes to the store. If it is full, older entries make room for an added one.
    ///
    /// - Throws: also `TimedWrites.Late`.
    private func write<Value: Sendable>(
        alone: Bool = false, adding size: Int? = nil, _ body: @escaping @Sendable (inout StoreWriter) throws -> Value
    ) async throws -> Value {
        try await timed.run(size ?? 0) { [self] in
            guard let size else { return try await writeOnce(alone: alone, body) }
            return try await store.makingRoom(for: size, options, uses: uses.all, pinned: pinned) {
                try await writeOnce(alone: alone, body)
            }
        }
    }

    /// Writes to the store, after the invalidations that an earlier write could not make.
    private func writeOnce<Value: Sendable>(
        alone: Bool, _ body: @escaping @Sendable (inout StoreWriter) throws -> Value
    ) async throws -> Value {
        let urls = outdated.withLock(\.attempts)
        guard !urls.isEmpty else { return try await store.write(alone: alone, body) }
        let value = try await store.write(alone: alone) { writer in
            try ResponseStore.invalidate(Array(urls.keys), &writer)
            return try body(&writer)
        }
        outdated.withLock { $0.remove(urls) }
        return value
    }

    /// Invalidates the entries of URLs within a write.
    static func invalidate(_ urls: [String], _ writer: inout StoreWriter) throws {
        let responses = writer.access.responses, scopes = try responses.scopes()
        for id in try urls.flatMap({ try ids(of: $0, scopes, responses) }) { try writer.responses.invalidate(id: id) }
    }

    /// The ids of the entries of a URL in all scopes and caches.
    private static func ids(
        of url: String, _ scopes: Set<String>, _ responses: ResponseTable
    ) throws -> [UInt64] {
        var ids: [UInt64] = []
        let normalized = (try? HTTPURL(url).normalized.description) ?? url
        for url in Set([url, normalized]) {
            try responses.forEachWhole(to: url) {
                ids.append($0.id)
                return true
            }
            for scope in scopes {
                try responses.forEach(to: url, scope: scope) {
                    ids.append($0.id)
                    return true
                }
            }
        }
        return ids
    }
}
