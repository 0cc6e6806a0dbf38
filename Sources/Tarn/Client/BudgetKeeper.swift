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
    /// The stored limits of all keepers of the store: several APIs have a keeper each.
    private let all: Guarded<[String: RateBudget]>

    init(_ store: Store) {
        // Unreadable limits are learned anew.
        let text = try? store.read { try $0.requestBudgets }
        restored = text.flatMap { try? JSONDecoder().decode([String: RateBudget].self, from: Data($0.utf8)) } ?? [:]
        saved = Guarded(restored)
        all = Guarded(restored)
    }

    /// Creates a keeper for another API of the same store.
    init(beside other: BudgetKeeper) {
        restored = other.restored
        saved = Guarded(other.restored)
        all = other.all
    }

    func isNew(_ budgets: [String: RateBudget]) -> Bool {
        saved.withLock { BudgetKeeper.changes(from: $0, to: budgets).isEmpty == false }
    }

    /// Saves limits if they are new.
    ///
    /// If the transaction is not committed, this save is missed; the next one has newer limits.
    func save(_ budgets: [String: RateBudget], _ writer: inout StoreWriter) throws {
        let changes = saved.withLock { BudgetKeeper.changes(from: $0, to: budgets) }
        guard !changes.isEmpty else { return }
        let merged = all.withLock { all in
            for (origin, budget) in changes { all[origin] = budget }
            return all
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
            let known = old[origin]
            if known == nil || budget.limits != known?.limits || budget.pausedUntil != known?.pausedUntil {
                changes[origin] = budget
            }
        }
        return changes
    }
}
