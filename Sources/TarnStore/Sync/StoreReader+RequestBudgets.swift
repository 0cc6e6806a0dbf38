// What is left to spend at servers with rate limits: kept for the layer that sends requests, so that it survives a restart.

internal import LMDB

extension StoreReader {
    /// What was saved last by ``StoreWriter/setRequestBudgets(_:)``; nil if nothing was.
    public var requestBudgets: String? {
        get throws {
            try access.raw.get(access.state.meta, key: MetaKey.requestBudgets).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension StoreWriter {
    /// Saves a text with everything else in this transaction. It is no record: nobody is told of it.
    public mutating func setRequestBudgets(_ text: String) throws {
        try access.raw.put(access.state.meta, key: MetaKey.requestBudgets, text: text)
    }
}
