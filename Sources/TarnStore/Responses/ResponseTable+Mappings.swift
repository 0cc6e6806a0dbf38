// The mappings of the record caches' responses: an import knows by them whether others are stored.

internal import LMDB

extension ResponseTable {
    /// The numbers of the record caches' responses, by the digest of their mapping; the empty text
    /// stands for an unknown one. Nil if they are not counted yet.
    private var cacheMappings: [String: Int]? {
        get throws {
            guard let bytes = try raw.get(state.meta, key: MetaKey.cacheMappings) else { return nil }
            var counts: [String: Int] = [:]
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                guard let space = line.lastIndex(of: " "), let count = Int(line[line.index(after: space)...]) else {
                    continue
                }
                counts[String(line[..<space])] = count
            }
            return counts
        }
    }

    /// Returns whether record caches have responses of another mapping. Uncounted ones may be.
    func hasCaches(butOf mapping: String) throws -> Bool {
        guard try totals.entries > 0 else { return false }
        return try cacheMappings.map { $0.keys.contains { $0 != mapping } } ?? true
    }

    /// Counts the responses that programs have stored since which do not know the numbers: those
    /// responses have no mapping.
    ///
    /// Each response is examined once. In a store from before this was noted, all are counted anew.
    func countMappingsOfEarlierVersions() throws {
        guard try totals.entries > 0, var counts = try cacheMappings else { return }
        let last = try lastID
        let known = try raw.get(state.meta, key: MetaKey.countedResponses).flatMap {
            $0.count == 8 ? $0.loadBigEndian(0, UInt64.self) : nil
        }
        guard known != last else { return }
        if let known {
            var number = 0
            try forEach(from: known &+ 1) { view in
                if view.isCaches, !view.isList, view.bodySize == nil, view.mapping == nil { number += 1 }
                return true
            }
            if number > 0 { counts["", default: 0] += number }
        } else {
            counts = try countedMappings()
        }
        try store(counts, countedUpTo: last)
    }

    private func store(_ counts: [String: Int], countedUpTo last: UInt64?) throws {
        let lines = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        try raw.put(state.meta, key: MetaKey.cacheMappings, text: lines.joined(separator: "\n"))
        if let last { try raw.put(state.meta, key: MetaKey.countedResponses, number: last) }
    }

    /// Whether responses are stored that belong to no cache.
    var hasMirrors: Bool { get throws { try count > totals.entries } }

    /// Updates the numbers of responses by mapping, before an entry is replaced, stored or removed.
    ///
    /// The entries of earlier versions are counted once, at the first change.
    ///
    /// - Parameters:
    ///   - before: the ``ResponseEntry/cachedMapping`` of the replaced or removed entry.
    ///   - after: that of the new entry.
    func countMappings(_ before: String?, _ after: String?) throws {
        guard before != after else { return }
        // It may be one that is not counted yet.
        if before == "" { try countMappingsOfEarlierVersions() }
        let known = try cacheMappings
        var counts = try known ?? countedMappings()
        if let before, let count = counts[before] { counts[before] = count > 1 ? count - 1 : nil }
        if let after { counts[after, default: 0] += 1 }
        try store(counts, countedUpTo: known == nil ? lastID : nil)
    }

    private func countedMappings() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        guard try totals.entries > 0 else { return counts }
        try forEach { view in
            if view.isCaches, view.bodySize == nil { counts[view.mapping ?? "", default: 0] += 1 }
            return true
        }
        return counts
    }
}

extension ResponseEntry {
    /// The digest of the mapping of a record cache's response, empty if it is unknown; nil for
    /// responses of mirrors, and for whole responses.
    var cachedMapping: String? {
        guard let caching, listing.isCaches, caching.bodySize == nil else { return nil }
        return mapping ?? ""
    }
}
