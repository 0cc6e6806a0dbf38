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
    private let uses = CacheUses()
    /// The store's ``StoreReader/responseOrigin``, once it was read.
    private let knownOrigin = Guarded<String?>(nil)

    init(_ store: Store, _ options: CachedTransport.Options) {
        self.store = store
        self.options = options
    }

    private var now: Timestamp { Timestamp(options.time.now()) }

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
        switch rules.audience(of: request.headers, scopedBy: options.scopeFields) {
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
        try store.read { reader in
            var found: [StoredMessage] = [], usedAt: [Timestamp] = []
            try reader.access.responses.forEach(to: ResponseStore.url(url, scope), scope: "") { view in
                guard let message = StoredMessage(view, isPart: isPart),
                    scope.rules.permits(message.response, for: request)
                else { return true }
                found.append(message)
                usedAt.append(view.usedAt)
                return true
            }
            // If no response is selected, the first one lets the rules explain why.
            guard let index = scope.rules.select(found.map(\.response), for: request, at: now) else {
                return found.first
            }
            uses.note(found[index].id, usedAt: usedAt[index], now: self.now)
            return found[index]
        }
    }

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

    func keep(
        _ message: CachedResponse, _ response: TransportResponse, _ url: String, _ scope: CacheScope
    ) async throws -> StoredMessage {
        let variant = CacheRules.variant(of: message), received = now, taken = uses.take(), known = uses.all,
            options = options
        let entry = ResponseEntry(
            message, ResponseStore.key(url, scope, variant, isPart: false), received, bodySize: response.body.count,
            redirectedTo: response.redirectedTo)
        let body = response.body, digest = entry.request.digest,
            partDigest = ResponseStore.key(url, scope, variant, isPart: true).digest
        let id = try await store.write(alone: body.count > 1 << 20) { writer in
            try writer.putResponse(entry, body: body)
            if let part = try writer.access.responses.view(partDigest) { try writer.removeResponse(id: part.id) }
            try writer.noteUses(taken)
            let id = try writer.access.responses.view(digest)?.id ?? 0
            _ = try writer.evict(
                options.limits, uses: known, kept: id, atMost: 32, now: received, random: options.time.random)
            return id
        }
        return StoredMessage(
            id: id, confirmedAt: received, response: message, size: body.count, redirectedTo: response.redirectedTo)
    }

    /// Stores a part of a representation, together with its other stored parts (RFC 9111 §3.4).
    ///
    /// Once the parts cover the whole representation, they become a whole response.
    ///
    /// - Parameter message: the 206, which must have a strong validator.
    func keep(
        _ part: ContentRange, _ body: [UInt8], _ message: CachedResponse, _ url: String, _ scope: CacheScope,
        now seconds: Int
    ) async throws {
        guard let validator = message.strongValidator(at: seconds) else { return }
        let variant = CacheRules.variant(of: message), received = now, taken = uses.take(), known = uses.all,
            options = options
        let key = ResponseStore.key(url, scope, variant, isPart: true),
            wholeKey = ResponseStore.key(url, scope, variant, isPart: false)
        let rules = scope.rules
        let part = ReceivedPart(
            message: message, validator: validator, content: part, body: body, received: received, seconds: seconds)
        try await store.write(alone: body.count > 1 << 20) { writer in
            // The current entries: another transfer may have changed them.
            if try part.confirmWhole(wholeKey, rules, &writer) { return }
            let union = try part.union(key, rules, writer.access)
            let id: UInt64?
            if let places = union.wholePlaces {
                guard try part.putWhole(union, places, wholeKey, &writer) else { return }
                id = try writer.access.responses.view(wholeKey.digest)?.id
            } else {
                guard union.parts.size <= options.maximumBodySize else { return }
                try part.putParts(union, key, &writer)
                id = try writer.access.responses.view(key.digest)?.id
            }
            try writer.noteUses(taken.filter { $0.key != id && $0.key != union.old?.id })
            _ = try writer.evict(
                options.limits, uses: known, kept: id, atMost: 32, now: received, random: options.time.random)
        }
    }

    /// Updates header fields and times after a 304; nil if the entry has changed since it was read.
    func confirm(_ message: StoredMessage, _ fresh: CachedResponse) async throws -> StoredMessage? {
        let received = now, taken = uses.take()
        let isThere = try await store.write { writer in
            // Replaced, confirmed or invalidated meanwhile: the 304 is not about the current entry.
            guard let view = try writer.access.responses.view(id: message.id), view.validatedAt == message.confirmedAt,
                CachedResponse(view) == message.response, var entry = view.entry
            else { return false }
            entry.update(fresh.headers, fresh, received)
            try writer.putResponse(entry)
            try writer.noteUses(taken.filter { $0.key != message.id })
            return true
        }
        var kept = message
        (kept.response, kept.confirmedAt) = (fresh, received)
        return isThere ? kept : nil
    }

    /// Removes an entry, unless another response has replaced it.
    func remove(_ message: StoredMessage) async throws {
        try await store.write { writer in
            guard let view = try writer.access.responses.view(id: message.id), view.validatedAt == message.confirmedAt
            else { return }
            try writer.removeResponse(id: message.id)
        }
    }

    /// Invalidates the entries of URLs in all scopes and caches after an unsafe request.
    ///
    /// The resource may have changed (RFC 9111 §4.4). Entries of whole responses are adjacent,
    /// however many users there are. Only the scopes of record caches are searched one by one.
    func invalidate(_ urls: [String]) async throws {
        try await store.write { try ResponseStore.invalidate(urls, &$0) }
    }

    /// Invalidates the entries of URLs within a write.
    static func invalidate(_ urls: [String], _ writer: inout StoreWriter) throws {
        var ids: [UInt64] = []
        let scopes = try writer.access.responses.scopes()
        for url in urls {
            let normalized = (try? HTTPURL(url).normalized.description) ?? url
            for url in Set([url, normalized]) {
                try writer.access.responses.forEachWhole(to: url) {
                    ids.append($0.id)
                    return true
                }
                for scope in scopes {
                    try writer.access.responses.forEach(to: url, scope: scope) {
                        ids.append($0.id)
                        return true
                    }
                }
            }
        }
        for id in ids { try writer.invalidateResponse(id: id) }
    }
}
