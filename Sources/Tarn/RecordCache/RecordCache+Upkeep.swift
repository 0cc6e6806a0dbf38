// Cache maintenance: purging, limits, and the responses that list a record.

import Foundation
import TarnHTTP
public import TarnStore

extension RecordCache {
    /// A selection of entries to be purged.
    public enum Purge: Sendable, Hashable {
        /// The entries of one URL, in any notation, in every auth scope.
        case url(String)
        /// The entries of all URLs with this prefix.
        case prefix(String)
        /// The entries that list a record of this entity.
        case entity(String)
        /// The entries that the server confirmed more than so many seconds ago, and those of a time
        /// that is more than a day ahead: their age is unknown.
        case olderThan(seconds: Int)
        /// All entries of caches.
        case all
    }

    /// Removes entries, in steps between which other writers run; readers never wait.
    ///
    /// Records stay: see ``collect(roots:through:isDryRun:)``. Entries of an ``APIMirror`` are
    /// removed only by a URL or a prefix: they determine which records the server lists. The lists
    /// of a ``ListLoader`` are no responses, and stay.
    ///
    /// - Returns: the number of removed entries.
    /// - Throws: `StoreError`, `StoreWriteError`.
    @discardableResult
    public func purge(_ purge: Purge) async throws -> Int {
        switch purge {
        case .url(let url):
            // Whole responses are stored under the normalized URL, others under the requested one.
            let parsed = try? HTTPURL(url)
            var count = 0
            for url in Set([url, parsed?.description, parsed?.normalized.description].compactMap(\.self))
            where !url.isEmpty {
                count += try await removePrefixed(url) { $0.url == url || $0.requestURL == url }
            }
            return count
        case .prefix(let prefix): return try await removePrefixed(prefix) { $0.url.hasPrefix(prefix) }
        case .entity(let name):
            guard let entity = store.catalog.entity(name) else {
                throw StoreError.unknownEntity(name: name, known: store.catalog.entities.map(\.name))
            }
            return try await removeScanned { view, access in
                var lists = false
                try view.forEachListed { root, key in
                    lists = try root == entity.root && access.lending { try access.records.row(entity, key) != nil }
                    return !lists
                }
                return lists
            }
        case .olderThan(let seconds):
            let now = Timestamp(seconds: now)
            return try await removeScanned { view, _ in view.validatedAt.isOlder(thanSeconds: seconds, at: now) }
        case .all: return try await removeScanned { _, _ in true }
        }
    }

    /// Removes expired entries, then the least recently used ones, until the limits are met.
    ///
    /// - Returns: the number of removed entries.
    /// - Throws: `StoreError`, `StoreWriteError`.
    @discardableResult
    public func trim() async throws -> Int {
        var count = 0
        let limits = options.limits, uses = uses.all, random = client.options.time.random
        let now = Timestamp(seconds: now)
        if let age = limits.age {
            var next: UInt64? = 0
            while let start = next {
                let step = try await store.write {
                    try $0.responses.removeExpired(age, at: now, from: start, looking: RecordCache.step)
                }
                (count, next) = (count + step.removed, step.next)
            }
        }
        while true {
            let removed = try await store.write {
                try $0.responses.evict(limits, uses: uses, atMost: RecordCache.step, now: now, random: random).count
            }
            count += removed
            if removed < RecordCache.step { return count }
        }
    }

    /// The entries of the responses that list a record, oldest first. A temporary key that the
    /// server's key has replaced leads to the record.
    public func entries(listing entity: String, _ key: RecordKey) throws -> [ResponseEntry] {
        try store.read { reader in
            guard let entity = reader.catalog.entity(entity) else {
                throw StoreError.unknownEntity(name: entity, known: reader.catalog.entities.map(\.name))
            }
            let present = try reader.outbox.resolvedKey(entity.name, key)
            let record = ListedRecord(entity: entity.root, storageKey: present.storageKey)
            return try reader.access.responses.ids(listing: record).compactMap {
                try reader.access.responses.view(id: $0)?.entry
            }
        }
    }

    /// The number and the size of the entries that caches have in the store.
    public var totals: CacheTotals {
        get throws { try store.read { try $0.cacheTotals } }
    }

    /// The number of entries that one commit removes or examines.
    private static let step = 500

    private func removePrefixed(_ prefix: String, _ isMeant: @escaping @Sendable (ResponseView) -> Bool) async throws
        -> Int
    {
        var count = 0
        for scope in try store.read({ try $0.access.responses.scopes() }).sorted() {
            var removed = RecordCache.step
            while removed == RecordCache.step {
                removed = try await store.write { writer in
                    var ids: [UInt64] = []
                    try writer.access.responses.forEachID(withPrefix: prefix, scope: scope) { id in
                        if let view = try writer.access.responses.view(id: id), !view.isOfList, isMeant(view) {
                            ids.append(id)
                        }
                        return ids.count < RecordCache.step
                    }
                    for id in ids { try writer.removeResponse(id: id) }
                    return ids.count
                }
                count += removed
            }
        }
        return count
    }

    private func removeScanned(_ isMeant: @escaping @Sendable (ResponseView, StoreAccess) throws -> Bool) async throws
        -> Int
    {
        var count = 0, next: UInt64? = 0
        while let start = next {
            let step = try await store.write { writer -> (removed: Int, next: UInt64?) in
                var ids: [UInt64] = [], seen = 0, next: UInt64?
                let access = writer.access
                try access.responses.forEach(from: start) { view in
                    guard seen < RecordCache.step else {
                        next = view.id
                        return false
                    }
                    seen += 1
                    if view.isCaches, try isMeant(view, access) { ids.append(view.id) }
                    return true
                }
                for id in ids { try writer.removeResponse(id: id) }
                return (ids.count, next)
            }
            (count, next) = (count + step.removed, step.next)
        }
        return count
    }
}

extension ResponseView {
    /// Whether the entry is a list that several responses make up.
    package var isOfList: Bool { method == StoredList.method }
}
