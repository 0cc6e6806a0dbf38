/// A reader of operations: of the outbox in a transaction, or in a file of unknown health.
package protocol OutboxSource {
    associatedtype Records: RecordSource
    /// The source of the records that operations refer to.
    var records: Records { get }
    var schema: OutboxSchema { get }

    /// Returns an operation; nil if it is not queued.
    func stored(_ id: UInt64) throws -> StoredOperation?

    /// Returns the operations of a record, or those that refer to it, in the order of ids.
    func ids(_ kind: OutboxEntryKey.Kind, _ record: ListedRecord) throws -> [UInt64]

    /// Calls the closure with the operations of a record before one of them, the last one first,
    /// until it returns false.
    func forEachID(of record: ListedRecord, before id: UInt64, _ body: (UInt64) throws -> Bool) throws
}

extension OutboxTable: OutboxSource {
    package var records: StoreAccess { access }
    package var schema: OutboxSchema { access.state.outboxSchema }
}
