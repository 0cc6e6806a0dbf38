// Where whole responses lie: their way into the store and out of it.

import Foundation
import Synchronization
import TarnHTTP
import TarnStore

/// A stored response, without its body.
struct StoredMessage: Sendable {
    var id: UInt64
    /// When it was confirmed last: which of the responses under its id it is.
    var confirmedAt: Timestamp
    var response: CachedResponse
    /// Bytes of its body.
    var size: Int
    /// Where redirects had led to.
    var redirectedTo: String?
}

final class ResponseShelf: Sendable {
    /// Marks the entries of whole responses: no endpoint has this name.
    static let endpoint = "*"

    private let store: Store
    private let options: CachedTransport.Options
    private let uses = CacheUses()
    /// Of the store, once it was needed.
    private let knownIncarnation = Mutex<String?>(nil)

    init(_ store: Store, _ options: CachedTransport.Options) {
        self.store = store
        self.options = options
    }

    private var now: Timestamp { Timestamp(options.time.now()) }

    private var incarnation: String {
        get throws {
            if let known = knownIncarnation.withLock(\.self) { return known }
            let read = try store.read { try $0.incarnation }
            knownIncarnation.withLock { $0 = read }
            return read
        }
    }

    /// Who asks, as a keyed hash. In a shared cache everybody is the same: what is not for all is not stored there.
    private func scope(_ request: HTTPRequest) throws -> String {
        let who = ([options.scope] + (options.rules.isShared ? [] : request.headers.all("Authorization"))).filter { !$0.isEmpty }
        return who.isEmpty ? "" : String(try SHA256.hexadecimal(([incarnation] + who).joined(separator: "\n")).prefix(32))
    }

    /// The response that a request selects.
    func find(_ request: HTTPRequest, _ url: String, now: Int) throws -> StoredMessage? {
        let scope = try scope(request)
        return try store.read { reader in
            var found: [StoredMessage] = [], usedAt: [Timestamp] = []
            try reader.access.forEachResponse(to: url, scope: scope) { view in
                guard view.endpoint == ResponseShelf.endpoint, let size = view.bodySize else { return true }
                found.append(
                    StoredMessage(
                        id: view.id, confirmedAt: view.validatedAt, response: CachedResponse(view), size: size, redirectedTo: view.metadata))
                usedAt.append(view.usedAt)
                return true
            }
            // Where nothing is selected, the first one tells why.
            guard let index = options.rules.select(found.map(\.response), for: request, at: now) else { return found.first }
            uses.note(found[index].id, usedAt: usedAt[index], now: self.now)
            return found[index]
        }
    }

    /// Nil if it is not there any more.
    func body(_ message: StoredMessage, _ range: Range<Int>) throws -> [UInt8]? {
        try store.read { reader in
            // The header fields and the body are of one response.
            guard let view = try reader.access.responseView(id: message.id), view.validatedAt == message.confirmedAt else { return nil }
            return try reader.access.body(of: message.id, range)
        }
    }

    func keep(_ message: CachedResponse, _ response: HTTPResponse, _ request: HTTPRequest, _ url: String) async throws -> StoredMessage {
        let variant = CacheRules.variant(of: message), received = now, taken = uses.take(), known = uses.all, options = options
        let entry = ResponseEntry(
            request: RequestKey(url: url, endpoint: ResponseShelf.endpoint, authScope: try scope(request), variant: variant), status: message.status,
            headers: message.headers.flat, fetchedAt: received, validatedAt: received, scan: 0, count: 0, listed: [],
            metadata: response.redirectedTo,
            caching: ResponseCaching(
                requestedAt: Timestamp(seconds: message.requestTime), selecting: message.selecting.flat, usedAt: received,
                bodySize: response.body.count))
        let body = response.body, digest = entry.request.digest
        let id = try await store.write(alone: body.count > 1 << 20) { writer in
            try writer.putResponse(entry, body: body)
            try writer.noteUses(taken)
            let id = try writer.access.responseView(digest)?.id ?? 0
            _ = try writer.evict(options.limits, uses: known, kept: id, atMost: 32, now: received, random: options.time.random)
            return id
        }
        return StoredMessage(id: id, confirmedAt: received, response: message, size: body.count, redirectedTo: response.redirectedTo)
    }

    /// Brings the header fields and the times up to date. Nil if it is not there any more.
    func confirm(_ message: StoredMessage, _ fresh: CachedResponse) async throws -> StoredMessage? {
        let received = now, taken = uses.take()
        let isThere = try await store.write { writer in
            guard let view = try writer.access.responseView(id: message.id), view.validatedAt == message.confirmedAt, var entry = view.entry else {
                return false
            }
            entry.headers = fresh.headers.flat
            entry.validatedAt = received
            entry.isInvalidated = false
            entry.caching?.requestedAt = Timestamp(seconds: fresh.requestTime)
            try writer.putResponse(entry)
            try writer.noteUses(taken.filter { $0.key != message.id })
            return true
        }
        var kept = message
        (kept.response, kept.confirmedAt) = (fresh, received)
        return isThere ? kept : nil
    }

    func remove(_ message: StoredMessage) async throws {
        try await store.write { try $0.removeResponse(id: message.id) }
    }

    /// Whoever asked, and of whatever cache the entries are: the resource may have changed (RFC 9111 §4.4).
    func invalidate(_ urls: [String]) async throws {
        try await store.write { writer in
            var ids: [UInt64] = []
            for scope in try writer.access.responseScopes() {
                for url in urls {
                    let normalized = (try? HTTPURL(url).normalized.description) ?? url
                    for url in Set([url, normalized]) {
                        try writer.access.forEachResponse(to: url, scope: scope) {
                            ids.append($0.id)
                            return true
                        }
                    }
                }
            }
            for id in ids { try writer.invalidateResponse(id: id) }
        }
    }
}
