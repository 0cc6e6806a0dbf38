/// The outcome of a record that complete scans did not list: a later case outweighs an earlier one.
///
/// Several lists may have missed one record, and decide differently about it.
package enum OrphanOutcome: UInt8, Sendable, Hashable, Comparable {
    case listedElsewhere, existing, kept, vetoed, changedLocally, denied, waiting, due, unlinked, deleted

    package static func < (a: OrphanOutcome, b: OrphanOutcome) -> Bool { a.rawValue < b.rawValue }
}

extension OrphanReport {
    /// The number of records after which ``outcomes`` takes no further ones.
    package static let outcomeLimit = 1 << 20

    /// Returns the number of records with an outcome: each record counts once.
    ///
    /// - Parameter sum: the number of candidates with it: it counts if there are too many records.
    package func count(_ outcome: OrphanOutcome, sum: Int) -> Int {
        outcomes.count < OrphanReport.outcomeLimit ? outcomes.values.count { $0 == outcome } : sum
    }

    /// The outcome in the report of one candidate; nil for a marked one, and for none.
    private var outcome: OrphanOutcome? {
        let all: [(Int, OrphanOutcome)] = [
            (deleted, .deleted), (unlinked, .unlinked), (due, .due), (waiting, .waiting), (denied, .denied),
            (changedLocally, .changedLocally), (vetoed, .vetoed), (kept, .kept), (existing, .existing),
            (listedElsewhere, .listedElsewhere),
        ]
        return all.first { $0.0 > 0 }?.1
    }

    /// Notes the record of the report's only candidate.
    ///
    /// - Parameter hash: the hash of the record. Of two records with the same one, one counts.
    mutating func noteOutcome(of hash: Int) {
        if let outcome { outcomes = [hash: outcome] }
    }

    /// Adds the outcomes of another report.
    mutating func addOutcomes(of other: OrphanReport) {
        for (record, outcome) in other.outcomes
        where outcomes[record] != nil || outcomes.count < OrphanReport.outcomeLimit {
            outcomes[record] = max(outcomes[record] ?? outcome, outcome)
        }
    }
}
