// What servers have said of their rate limits, kept in the store: a limit that is used up still is after a restart.

import Foundation
import Synchronization
import TarnHTTP
import TarnStore

final class BudgetKeeper: Sendable {
    /// What the store had when the mirror was made.
    let restored: [String: RateBudget]
    /// What the store has.
    private let saved: Mutex<[String: RateBudget]>

    init(_ store: Store) {
        // What cannot be read is learned anew.
        let text = try? store.read { try $0.requestBudgets }
        restored = text.flatMap { try? JSONDecoder().decode([String: RateBudget].self, from: Data($0.utf8)) } ?? [:]
        saved = Mutex(restored)
    }

    func isNew(_ budgets: [String: RateBudget]) -> Bool {
        saved.withLock { saved in
            saved.keys != budgets.keys || budgets.contains { $0.value.limits != saved[$0.key]?.limits || $0.value.pausedUntil != saved[$0.key]?.pausedUntil }
        }
    }

    /// A transaction that is not committed makes one save too few: the next one is as new as this.
    func save(_ budgets: [String: RateBudget], _ writer: inout StoreWriter) throws {
        guard isNew(budgets) else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try writer.setRequestBudgets(String(decoding: try encoder.encode(budgets), as: UTF8.self))
        saved.withLock { $0 = budgets }
    }
}
