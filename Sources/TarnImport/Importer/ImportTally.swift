// Counting what an import did to each record.

internal import TarnStore

/// What became of every record of a unit, each counted once, though its references may be set after its row.
struct ImportTally {
    private(set) var counts: [ImportReport.Counts]
    /// By draft.
    private var isUnchanged: [Bool]
    /// Plans and keys of records that have no draft.
    private var others: [Int: Set<[UInt8]>] = [:]

    init(plans: Int, drafts: Int) {
        counts = Array(repeating: ImportReport.Counts(), count: plans)
        isUnchanged = Array(repeating: false, count: drafts)
    }

    mutating func stored(_ plan: Int, draft: Int, _ outcome: StoreWriter.Outcome) {
        switch outcome {
        case .created: counts[plan].created += 1
        case .updated: counts[plan].updated += 1
        case .unchanged:
            counts[plan].unchanged += 1
            isUnchanged[draft] = true
        }
    }

    mutating func older(_ plan: Int) { counts[plan].older += 1 }

    mutating func deleted(_ plan: Int) { counts[plan].deleted += 1 }

    mutating func partial(_ plan: Int) { counts[plan].partial += 1 }

    mutating func skipped(_ plan: Int, _ count: Int = 1) { counts[plan].skipped += count }

    /// What was stored of a record was undone.
    mutating func dropped(_ plan: Int, draft: Int?, _ outcome: StoreWriter.Outcome) {
        switch outcome {
        case .created: counts[plan].created -= 1
        case .updated: counts[plan].updated -= 1
        case .unchanged: counts[plan].unchanged -= 1
        }
    }

    /// A record got or lost a reference after its draft, if it has one, was stored.
    mutating func updated(_ plan: Int, _ key: [UInt8], draft: Int?) {
        guard let draft else {
            if others[plan, default: []].insert(key).inserted { counts[plan].updated += 1 }
            return
        }
        guard isUnchanged[draft] else { return }
        isUnchanged[draft] = false
        counts[plan].unchanged -= 1
        counts[plan].updated += 1
    }
}
