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
