// The sizes of caches, and the choice of the entry to evict.

internal import LMDB
import Synchronization

extension ResponseTable {
    var totals: CacheTotals {
        get throws {
            CacheTotals(
                entries: Int(clamping: try raw.number(state.meta, key: MetaKey.cacheEntries)),
                bytes: Int(clamping: try raw.number(state.meta, key: MetaKey.cacheBytes)))
        }
    }

    /// Updates the totals of caches. Nothing is written if neither entry is a cache's.
    ///
    /// - Parameters:
    ///   - before: the cost of the replaced or removed entry; nil if it is no cache's.
    ///   - after: the cost of the new entry; nil if it is no cache's.
    func count(_ before: Int?, _ after: Int?) throws {
        guard before != after else { return }
        var totals = try self.totals
        if let before { (totals.entries, totals.bytes) = (totals.entries - 1, totals.bytes - before) }
        if let after { (totals.entries, totals.bytes) = (totals.entries + 1, totals.bytes + after) }
        try put(totals)
    }

    func put(_ totals: CacheTotals) throws {
        try raw.put(state.meta, key: MetaKey.cacheEntries, number: UInt64(max(0, totals.entries)))
        try raw.put(state.meta, key: MetaKey.cacheBytes, number: UInt64(max(0, totals.bytes)))
    }

    static let samples = 8
    /// The maximum number of entries that one sample reads: those of mirrors may be many.
    private static let longestSample = 16

    /// An entry of a cache that may be evicted.
    struct Candidate {
        var id: UInt64
        var usedAt: Timestamp
        var validatedAt: Timestamp
    }

    /// Chooses the entry to evict: of a few random ones, the least recently used.
    ///
    /// Samples among the entries of mirrors find none. Then the search goes on behind its last
    /// victim, so that it passes the entries of mirrors once in a round, and not for each victim.
    ///
    /// - Returns: the id of the entry, or nil if there is none; and the number of entries that were
    ///   read.
    func evictionVictim(
        _ uses: [UInt64: Timestamp], _ kept: UInt64?, _ limits: CacheLimits, _ now: Timestamp, _ random: () -> Double
    ) throws -> (id: UInt64?, examined: Int) {
        let entries = try totals.entries, most = ResponseTable.samples
        var found: [Candidate] = [], examined = 0
        for sample in 0..<most {
            examined += try addRandomCandidate(to: &found, sample, of: entries, except: kept, random)
        }
        if found.isEmpty {
            let start = state.evictionStart.load(ordering: .relaxed)
            examined += try addCandidates(to: &found, from: start, to: .max, except: kept, most: most)
            if found.isEmpty {
                examined += try addCandidates(to: &found, from: 0, to: start, except: kept, most: most)
            }
            if let victim = victim(of: found, uses, limits, now) {
                state.evictionStart.store(victim, ordering: .relaxed)
            }
        }
        return (victim(of: found, uses, limits, now), examined)
    }

    /// An entry beyond the age limit is evicted first.
    private func victim(
        of candidates: [Candidate], _ uses: [UInt64: Timestamp], _ limits: CacheLimits, _ now: Timestamp
    ) -> UInt64? {
        if let age = limits.age,
            let old = candidates.first(where: { $0.validatedAt.isOlder(thanSeconds: age, at: now) })
        {
            return old.id
        }
        func lastUse(_ candidate: Candidate) -> Timestamp {
            // A use while the clock was ahead would keep the entry until the clock has caught up.
            func known(_ use: Timestamp?) -> Timestamp {
                use.flatMap { $0.isFarAhead(of: now) ? nil : $0 } ?? Timestamp(microseconds: .min)
            }
            return max(known(candidate.usedAt), known(uses[candidate.id]))
        }
        return candidates.min { lastUse($0) < lastUse($1) }?.id
    }

    /// Adds a random entry of a cache, if there is one near.
    ///
    /// Ids are never reused: after years most of them are gaps, behind which the same entries would
    /// be found again and again. Half of the samples are of the newest ids, which are dense.
    ///
    /// - Parameters:
    ///   - sample: the number of the sample.
    ///   - entries: the number of the caches' entries.
    /// - Returns: the number of entries that were read.
    func addRandomCandidate(
        to found: inout [Candidate], _ sample: Int, of entries: Int, except kept: UInt64?, _ random: () -> Double
    ) throws -> Int {
        let last = try lastID
        let range = sample.isMultiple(of: 2) ? last : min(last, 2 * UInt64(max(0, entries)))
        let start = last - min(range, UInt64(Double(range) * random())), before = found.count
        var examined = 0
        for start in [start, 0] where found.count == before {
            examined += try addCandidates(
                to: &found, from: start, to: .max, except: kept, most: before + 1,
                looking: ResponseTable.longestSample)
        }
        return examined
    }

    /// Adds entries of caches with ids in `start..<end`, until there are `most`.
    ///
    /// - Parameter limit: the maximum number of entries to read.
    /// - Returns: the number of entries that were read.
    private func addCandidates(
        to found: inout [Candidate], from start: UInt64, to end: UInt64, except kept: UInt64?, most: Int,
        looking limit: Int = .max
    ) throws -> Int {
        var examined = 0
        try forEach(from: start) { view in
            guard view.id < end, examined < limit else { return false }
            examined += 1
            guard view.isCaches, view.id != kept else { return true }
            found.append(Candidate(id: view.id, usedAt: view.usedAt, validatedAt: view.validatedAt))
            return found.count < most
        }
        return examined
    }
}
