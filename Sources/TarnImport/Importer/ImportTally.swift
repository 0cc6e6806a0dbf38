// The outcomes of an import, counted by record.

internal import TarnStore

/// The counts of outcomes of a unit.
///
/// Each record counts once, although its references may be set after its row.
struct ImportTally {
    private(set) var counts: [ImportReport.Counts]
    /// Whether each draft counts as unchanged.
    private var isUnchanged: [Bool]
    /// The keys of counted records without a draft, by plan.
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

    /// Uncounts a record whose write was undone.
    mutating func dropped(_ plan: Int, draft: Int?, _ outcome: StoreWriter.Outcome) {
        switch outcome {
        case .created: counts[plan].created -= 1
        case .updated: counts[plan].updated -= 1
        case .unchanged: counts[plan].unchanged -= 1
        }
    }

    /// Counts an update of a record by a reference, after its draft (if any) was stored.
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
