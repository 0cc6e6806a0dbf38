// The rate limits of servers, kept in the store: a used-up limit outlasts a restart.

import Foundation
import Locking
import TarnHTTP
import TarnStore

final class BudgetKeeper: Sendable {
    /// The limits that were stored when the mirror was created.
    let restored: [String: RateBudget]
    /// The limits that are stored now.
    private let saved: Guarded<[String: RateBudget]>

    init(_ store: Store) {
        // Unreadable limits are learned anew.
        let text = try? store.read { try $0.requestBudgets }
        restored = text.flatMap { try? JSONDecoder().decode([String: RateBudget].self, from: Data($0.utf8)) } ?? [:]
        saved = Guarded(restored)
    }

    func isNew(_ budgets: [String: RateBudget]) -> Bool {
        saved.withLock { saved in
            saved.keys != budgets.keys
                || budgets.contains {
                    $0.value.limits != saved[$0.key]?.limits || $0.value.pausedUntil != saved[$0.key]?.pausedUntil
                }
        }
    }

    /// Saves limits if they are new.
    ///
    /// If the transaction is not committed, this save is missed; the next one has newer limits.
    func save(_ budgets: [String: RateBudget], _ writer: inout StoreWriter) throws {
        guard isNew(budgets) else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try writer.setRequestBudgets(String(decoding: try encoder.encode(budgets), as: UTF8.self))
        saved.withLock { $0 = budgets }
    }
}
