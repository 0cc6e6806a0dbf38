// Found by tools/torture, seed 4711, file 71: a leaf was replaced by another one of the same table,
// so that its rows were found twice. The index entries of the older of two rows remained.

import Foundation
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Salvage: rows that are met twice")
struct SalvageDoubleTests {
    @Test("of a record that is met in two versions the newer one comes along, with its index entries only")
    func twoVersions() throws {
        for newerFirst in [true, false] {
            let path = FileManager.default.temporaryDirectory.path + "/tarn-double-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: path) }
            let rich = try RichStore()
            let catalog = try Store.open(at: rich.path, options: Store.Options(isReadOnly: true)).catalog
            let user = try #require(catalog.entity("User"))
            let restoration = try StoreRestoration(at: path, catalog: catalog, settings: [])
            let versions: [(UInt64, Int64)] = newerFirst ? [(9, 50), (3, 20)] : [(3, 20), (9, 50)]
            let outcomes = try restoration.write { writer in
                try versions.map { version, age in
                    var builder = BodyBuilder(), bytes = ByteWriter()
                    builder.field(try #require(user.field("id")).id) { $0.appendValue(Int64(1)) }
                    builder.field(try #require(user.field("login")).id) { $0.appendValue(Value.string("ada")) }
                    builder.field(try #require(user.field("age")).id) { $0.appendValue(age) }
                    builder.finish(into: &bytes)
                    let body = try #require(RowBody(bytes.bytes, isWide: false))
                    return try RecordKey(1).storageKey.withUnsafeBytes {
                        try writer.restore(user, $0, body, isPartial: false, version: version)
                    }
                }
            }
            #expect(outcomes == [true, false])
            try restoration.finish(sequence: 9)
            #expect(try StoreInspector(at: path).verification().isSound)
            let record = try Store.open(at: path).read { try $0.record("User", RecordKey(1)) }
            #expect(record?["age"] == .int(50) && record?.version == 9)
        }
    }
}
