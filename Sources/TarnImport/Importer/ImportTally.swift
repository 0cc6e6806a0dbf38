// The outcomes of an import, counted by record.

internal import TarnStore

/// The counts of outcomes of a unit.
///
/// Each record counts once, although its references may be set after its row.
struct ImportTally {
    /// The outcome that a draft counts for.
    enum DraftOutcome: UInt8 {
        case none, created, updated, unchanged, deleted
    }

    private(set) var counts: [ImportReport.Counts]
    /// The outcome of each draft.
    private(set) var outcomes: [DraftOutcome]
    /// The keys of counted records without a draft, by plan.
    private var others: [Int: Set<[UInt8]>] = [:]
    /// The first of those records, up to a limit, in the order in which they were updated.
    private(set) var otherUpdates: [(plan: Int, key: [UInt8])] = []
    private let keyLimit: Int

    init(plans: Int, drafts: Int, keyLimit: Int) {
        counts = Array(repeating: ImportReport.Counts(), count: plans)
        outcomes = Array(repeating: .none, count: drafts)
        self.keyLimit = keyLimit
    }

    mutating func stored(_ plan: Int, draft: Int, _ outcome: StoreWriter.Outcome) {
        switch outcome {
        case .created:
            counts[plan].created += 1
            outcomes[draft] = .created
        case .updated:
            counts[plan].updated += 1
            outcomes[draft] = .updated
        case .unchanged:
            counts[plan].unchanged += 1
            outcomes[draft] = .unchanged
        }
    }

    mutating func older(_ plan: Int) { counts[plan].older += 1 }

    mutating func deleted(_ plan: Int, draft: Int) {
        counts[plan].deleted += 1
        outcomes[draft] = .deleted
    }

    mutating func partial(_ plan: Int) { counts[plan].partial += 1 }

    mutating func skipped(_ plan: Int, _ count: Int = 1) { counts[plan].skipped += count }

    /// Uncounts a record whose write was undone.
    mutating func dropped(_ plan: Int, _ key: [UInt8], draft: Int?, _ outcome: StoreWriter.Outcome) {
        if let draft {
            outcomes[draft] = .none
        } else if others.values.contains(where: { $0.contains(key) }) {
            otherUpdates.removeAll { $0.key == key }
        }
        switch outcome {
        case .created: counts[plan].created -= 1
        case .updated: counts[plan].updated -= 1
        case .unchanged: counts[plan].unchanged -= 1
        }
    }

    /// Uncounts the update of a record whose changes were all undone.
    mutating func restored(_ plan: Int, _ key: [UInt8], draft: Int?) {
        guard let draft else {
            guard others[plan]?.remove(key) != nil else { return }
            counts[plan].updated -= 1
            otherUpdates.removeAll { $0.plan == plan && $0.key == key }
            return
        }
        guard outcomes[draft] == .updated else { return }
        outcomes[draft] = .unchanged
        counts[plan].unchanged += 1
        counts[plan].updated -= 1
    }

    /// Counts an update of a record by a reference, after its draft (if any) was stored.
    mutating func updated(_ plan: Int, _ key: [UInt8], draft: Int?) {
        guard let draft else {
            if others[plan, default: []].insert(key).inserted {
                counts[plan].updated += 1
                if otherUpdates.count < keyLimit { otherUpdates.append((plan, key)) }
            }
            return
        }
        guard outcomes[draft] == .unchanged else { return }
        outcomes[draft] = .updated
        counts[plan].unchanged -= 1
        counts[plan].updated += 1
    }
}
