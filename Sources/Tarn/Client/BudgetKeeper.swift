// The rate limits of servers, kept in the store: a used-up limit outlasts a restart.

import Foundation
import Locking
import TarnHTTP
import TarnStore

final class BudgetKeeper: Sendable {
    /// The limits that were stored when the mirror was created.
    let restored: [String: RateBudget]
    /// The limits of this keeper that are stored now.
    private let saved: Guarded<[String: RateBudget]>

    init(_ store: Store) {
        restored = BudgetKeeper.limits(in: try? store.read { try $0.requestBudgets })
        saved = Guarded(restored)
    }

    /// Creates a keeper for another API of the same store.
    init(beside other: BudgetKeeper) {
        restored = other.restored
        saved = Guarded(other.restored)
    }

    /// Reads stored limits. Unreadable ones are learned anew.
    private static func limits(in text: String?) -> [String: RateBudget] {
        text.flatMap { try? JSONDecoder().decode([String: RateBudget].self, from: Data($0.utf8)) } ?? [:]
    }

    func isNew(_ budgets: [String: RateBudget]) -> Bool {
        saved.withLock { BudgetKeeper.changes(from: $0, to: budgets).isEmpty == false }
    }

    /// Saves limits if they are new.
    ///
    /// The limits of other servers stay as they are in the store: syncs of other APIs, of this
    /// process or another one, may have saved them since.
    ///
    /// If the transaction is not committed, this save is missed; the next one has newer limits.
    func save(_ budgets: [String: RateBudget], _ writer: inout StoreWriter) throws {
        let known = saved.withLock { $0 }, changes = BudgetKeeper.changes(from: known, to: budgets)
        guard !changes.isEmpty else { return }
        var merged = BudgetKeeper.limits(in: try writer.requestBudgets)
        for (origin, budget) in changes {
            // A budget that is over here may be known better there.
            if budget == nil, BudgetKeeper.differ(merged[origin], known[origin]) { continue }
            merged[origin] = budget
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try writer.setRequestBudgets(String(decoding: try encoder.encode(merged), as: UTF8.self))
        saved.withLock { $0 = budgets }
    }

    /// The limits that differ by origin; nil for those that are no longer worth keeping.
    private static func changes(
        from old: [String: RateBudget], to new: [String: RateBudget]
    ) -> [String: RateBudget?] {
        var changes: [String: RateBudget?] = [:]
        for origin in old.keys where new[origin] == nil { changes[origin] = .some(nil) }
        for (origin, budget) in new {
            if differ(old[origin], budget) { changes[origin] = budget }
        }
        return changes
    }

    private static func differ(_ a: RateBudget?, _ b: RateBudget?) -> Bool {
        (a == nil) != (b == nil) || a?.limits != b?.limits || a?.pausedUntil != b?.pausedUntil
    }
}
