/// An error of a store. Each family of operations has an enum of its own.
///
/// | operations | errors |
/// |---|---|
/// | opening, compacting | ``StoreOpenError`` |
/// | reading, queries | ``StoreError`` |
/// | writing | ``StoreError``, ``StoreWriteError`` |
/// | local changes that wait to be sent | ``OutboxError`` |
/// | the change log, tokens, replay | ``ChangeLogError`` |
/// | backups, salvage, inspection, removals from the schema | ``StoreMaintenanceError`` |
///
/// `catch let error as any StoreFailure` catches all of them; `description` names the way out.
public protocol StoreFailure: Error, CustomStringConvertible {}

extension StoreFailure {
    /// The description for callers that cannot open a store as immutable: without this advice.
    package var descriptionForLocking: String {
        switch self as any Error {
        case StoreOpenError.store(.lmdb(let reason)), StoreError.lmdb(let reason): reason.descriptionForLocking
        default: description
        }
    }
}
