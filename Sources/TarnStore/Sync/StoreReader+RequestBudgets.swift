// The rate budgets of servers, stored for the layer that sends requests: they survive a restart.

internal import LMDB

extension StoreReader {
    /// The text that ``StoreWriter/setRequestBudgets(_:)`` has saved last; nil if there is none.
    package var requestBudgets: String? {
        get throws { try access.settings.requestBudgets }
    }
}

extension StoreWriter {
    /// As ``StoreReader/requestBudgets``, as of this transaction.
    package var requestBudgets: String? {
        get throws { try access.settings.requestBudgets }
    }

    /// Saves a text within this transaction. It is no record: observers are not notified.
    package mutating func setRequestBudgets(_ text: String) throws {
        try access.settings.setRequestBudgets(text)
    }
}
