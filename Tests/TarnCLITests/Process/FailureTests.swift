// Exit codes of errors.

import LMDB
import TarnStore
import Testing

@testable import TarnCLI

@Suite("Exit codes")
struct FailureTests {
    @Test("an error of a store has one exit code and one text; a store that cannot be opened is always exit code 6")
    func errorsOfAStore() {
        let notImmutable = StoreError.lmdb(LMDBError(.notImmutable, operation: "read", path: "s"))
        let reads: [(StoreError, Failure.Code)] = [
            (.unknownEntity(name: "A", known: []), .usage), (.wrongToken(entity: "A"), .usage),
            (.damagedRow(entity: "A", key: "1"), .store), (notImmutable, .changed),
            (.lmdb(LMDBError(.corrupted, operation: "read", path: "s")), .store),
        ]
        for (error, code) in reads {
            #expect(Failure(error).code == code && Failure(StoreOpenError.store(error)).code == code, "\(error)")
            #expect(Failure(StoreOpenError.store(error)).message == Failure(error).message)
        }
        let writes: [(StoreWriteError, Failure.Code)] = [
            (.storeFull(path: "s", quota: nil), .store), (.schemaChanged(path: "s", detail: "d"), .store),
            (.notUnique(entity: "A", index: "i", keys: ["1", "2"]), .failed),
            (.deleteDenied(entity: "A", key: "1", relationship: "r", by: "B 1"), .failed),
        ]
        for (error, code) in writes {
            #expect(Failure(error).code == code, "\(error)")
            // A store that cannot be opened refuses the schema, or is full.
            #expect(Failure(StoreOpenError.write(error)).code == .store, "\(error)")
        }
        #expect(Failure(StoreOpenError.noSuchStore(path: "s")).code == .store)
        #expect(Failure(StoreMaintenanceError.changedMeanwhile(path: "s", detail: "d")).code == .changed)
        #expect(Failure(StoreMaintenanceError.destinationExists(path: "s")).code == .failed)
        #expect(Failure(StoreMaintenanceError.inUse(entity: "A", name: nil, by: "B")).code == .store)
        #expect(Failure(ChangeLogError.retentionOutOfRange(detail: "d")).code == .store)
    }

    @Test("a command that cannot open a store as immutable does not advise it, and other errors stay as they are")
    func withoutImmutable() {
        let locking = StoreOpenError.store(.lmdb(LMDBError(.cannotLock, operation: "open", path: "s")))
        #expect(Failure(locking).message.contains("--immutable"))
        let failure = Failure(Failure.withoutImmutable(locking))
        #expect(failure.code == .store && !failure.message.isEmpty && !failure.message.contains("--immutable"))
        #expect(Failure.withoutImmutable(StoreOpenError.noSuchStore(path: "s")) is StoreOpenError)
    }
}
