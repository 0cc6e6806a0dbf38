/// What became of a record that complete scans did not list: the later cases outweigh the earlier.
///
/// Several lists may have missed one record, and decide differently about it.
package enum OrphanFate: UInt8, Sendable, Hashable, Comparable {
    case listedElsewhere, existing, kept, vetoed, changedLocally, denied, waiting, due, unlinked, deleted

    package static func < (a: OrphanFate, b: OrphanFate) -> Bool { a.rawValue < b.rawValue }
}

extension OrphanReport {
    /// The number of records after which ``fates`` takes no further ones.
    package static let fateLimit = 1 << 20

    /// Returns the number of records with a fate: each record counts once.
    ///
    /// - Parameter sum: the number of candidates with it: it counts if there are too many records.
    package func count(_ fate: OrphanFate, sum: Int) -> Int {
        fates.count < OrphanReport.fateLimit ? fates.values.count { $0 == fate } : sum
    }

    /// The fate in the report of one candidate; nil for a marked one, and for none.
    private var fate: OrphanFate? {
        let all: [(Int, OrphanFate)] = [
            (deleted, .deleted), (unlinked, .unlinked), (due, .due), (waiting, .waiting), (denied, .denied),
            (changedLocally, .changedLocally), (vetoed, .vetoed), (kept, .kept), (existing, .existing),
            (listedElsewhere, .listedElsewhere),
        ]
        return all.first { $0.0 > 0 }?.1
    }

    /// Notes the record of the report's only candidate.
    ///
    /// - Parameter hash: the hash of the record. Of two records with the same one, one counts.
    mutating func noteFate(of hash: Int) {
        if let fate { fates = [hash: fate] }
    }

    /// Adds the fates of another report.
    mutating func addFates(of other: OrphanReport) {
        for (record, fate) in other.fates where fates[record] != nil || fates.count < OrphanReport.fateLimit {
            fates[record] = max(fates[record] ?? fate, fate)
        }
    }
}
