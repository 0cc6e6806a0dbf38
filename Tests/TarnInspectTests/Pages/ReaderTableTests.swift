// The reader table of a store whose first user is an inspector.

import Foundation
import LMDB
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: the reader table")
struct ReaderTableTests {
    @Test("an inspector that opens a restored backup first leaves it the reader slots of a store")
    func restoredBackup() throws {
        let rich = try RichStore(), backup = rich.path + ".backup"
        defer { try? FileManager.default.removeItem(atPath: backup) }
        try Store.open(at: rich.path, options: Store.Options(isReadOnly: true)).backup(to: backup)
        for name in ["lock.mdb", "store.lock"] { try? FileManager.default.removeItem(atPath: backup + "/" + name) }
        // A service that begins meanwhile cannot enlarge a table in use.
        #expect(try StoreInspector(at: backup).statistics().readers?.all == 1024)
    }
}
