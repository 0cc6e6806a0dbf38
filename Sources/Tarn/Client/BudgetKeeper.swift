// The rate limits of servers, kept in the store: a used-up limit outlasts a restart.

import Foundation
import Locking
import TarnHTTP
import TarnStore

/// Keeps the limits of the servers that a client sends requests to, by origin.
///
/// The limits of an origin that gets credentials are kept for these credentials only: other ones
/// have limits of their own.
final class BudgetKeeper: Sendable {
    /// The limits that were stored when the client was created.
    let restored: [String: RateBudget]
    /// The limits of this keeper that are stored now.
    private let saved: Guarded<[String: RateBudget]>
    /// The hash of the credentials; empty without any, nil if it is unknown.
    private let scope: Guarded<String?>
    /// The origins that get the credentials.
    private let origins: Set<String>

    /// Creates the keeper of a client.
    ///
    /// - Parameters:
    ///   - stored: the ``limits(of:)`` of the store.
    ///   - scope: the hash of the credentials; empty without any, nil if it is unknown. The limits
    ///     of unknown credentials are not kept: the next ones may be others.
    ///   - origins: the origins that get them.
    init(_ stored: [String: RateBudget], scope: String?, origins: Set<String>) {
        self.scope = Guarded(scope)
        self.origins = origins
        var own: [String: RateBudget] = [:]
        for (key, budget) in stored {
            let origin = String(key.prefix { $0 != " " })
            if BudgetKeeper.key(of: origin, scope, origins) == key { own[origin] = budget }
        }
        restored = own
        saved = Guarded(own)
    }

    /// Sets the hash of the credentials, which may be others than at the creation of the client.
    ///
    /// Limits that were learned before are still those of the former credentials.
    func renew(scope: String) { self.scope.withLock { $0 = scope } }

    /// Reads the limits of a store. Unreadable ones are learned anew.
    static func limits(of store: Store) -> [String: RateBudget] {
        limits(in: try? store.read { try $0.access.settings.requestBudgets })
    }

    private static func limits(in text: String?) -> [String: RateBudget] {
        text.flatMap { try? JSONDecoder().decode([String: RateBudget].self, from: Data($0.utf8)) } ?? [:]
    }

    /// The key of stored limits: the origin and, after a space, the hash of the credentials; nil if
    /// it is unknown.
    private static func key(of origin: String, _ scope: String?, _ origins: Set<String>) -> String? {
        guard origins.contains(origin), scope != "" else { return origin }
        return scope.map { "\(origin) \($0)" }
    }

    func isNew(_ budgets: [String: RateBudget]) -> Bool {
        saved.withLock { BudgetKeeper.changes(from: $0, to: budgets).isEmpty == false }
    }

    /// Saves limits if they are new.
    ///
    /// The limits of other servers and credentials stay as they are in the store: syncs of other
    /// APIs, of this process or another one, may have saved them since. Those that are over are
    /// removed: the server or the credentials may never be used again.
    ///
    /// If the transaction is not committed, this save is missed; the next one has newer limits.
    func save(_ budgets: [String: RateBudget], now: Date, _ writer: inout StoreWriter) throws {
        let known = saved.withLock { $0 }, changes = BudgetKeeper.changes(from: known, to: budgets)
        guard !changes.isEmpty else { return }
        var merged = BudgetKeeper.limits(in: try writer.access.settings.requestBudgets)
        merged = merged.filter { !$0.value.isOver(at: now) }
        let scope = scope.withLock(\.self)
        for (origin, budget) in changes {
            guard let key = BudgetKeeper.key(of: origin, scope, origins) else { continue }
            // A budget that is over here may be known better there.
            if budget == nil, BudgetKeeper.differ(merged[key], known[origin]) { continue }
            merged[key] = budget
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try writer.access.settings.setRequestBudgets(String(decoding: try encoder.encode(merged), as: UTF8.self))
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
