// A dump holds every record that can be read and names every one that cannot.

import Foundation
import TarnInspect
import TarnStore
import Testing

@Suite("Inspect: dump")
struct StoreDumpTests {
    private func dump(_ store: InspectedStore, of entity: String? = nil) throws -> (
        lines: [String], damaged: [StoreInspector.Damage]
    ) {
        var lines: [String] = [], damaged: [StoreInspector.Damage] = []
        try StoreInspector(at: store.path).dumpRecords(
            of: entity, line: { lines.append($0) }, damaged: { damaged.append($0) })
        return (lines, damaged)
    }

    @Test("a table of records whose name is damaged is damage to a dump, not an entity without records")
    func missingTable() throws {
        let rich = try RichStore()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: rich.path + "/data.mdb")))
        let name = Array("r/1".utf8)
        while let place = bytes.firstRange(of: name) { bytes.replaceSubrange(place, with: Array("p/1".utf8)) }
        try rich.write(bytes)
        var damages: [String] = []
        try StoreInspector(at: rich.path).dumpRecords(line: { _ in }, damaged: { damages.append("\($0)") })
        #expect(damages.contains { $0.hasPrefix("r/1: the table of User is missing") }, "\(damages)")
    }

    @Test("records come entity by entity in key order, with key, version and fields as JSON")
    func formOfLines() throws {
        let store = try InspectedStore()
        #expect(
            try dump(store).lines == [
                #"{"entity":"Author","key":1,"version":1,"fields":{"id":1,"name":"Ada \"the\" Fjord\n","born":"1970-01-01T00:00:00.000001Z"}}"#,
                #"{"entity":"Book","key":["a/b",1],"version":1,"fields":{"shelf":"a/b","number":1,"title":"Volume number 1","author":1}}"#,
                #"{"entity":"Book","key":["a/b",2],"version":1,"fields":{"shelf":"a/b","number":2,"title":"Volume number 2","author":2}}"#,
            ])
        #expect(try dump(store, of: "Empty").lines == [])
        #expect(try dump(store, of: "Book").lines.count == 2)
        #expect(throws: StoreError.unknownEntity(name: "Nope", known: ["Author", "Book", "Empty"])) {
            try dump(store, of: "Nope")
        }
    }

    @Test("the version of a record is the commit that changed it last")
    func versions() throws {
        let store = try InspectedStore()
        try Store.open(at: store.path, options: Store.Options(durability: .relaxed)).write { writer in
            try writer.put("Book", RecordKey([.string("a/b"), .int(2)]), [.init("title", .string("Other"))])
        }
        let versions = try dump(store).lines.map { $0.contains("\"version\":2,") }
        #expect(versions == [false, false, true])
    }

    @Test("a damaged row to which a dumped record refers by a long key is named: its digest is that of a missing one")
    func damagedTarget() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-target-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let long = RecordKey(String(repeating: "long/", count: 100)), mark = "a text in its row"
        do {
            let schema = Schema([
                EntityDefinition("Label", key: ["name"], attributes: [.init("name", .string), .init("text", .string)]),
                EntityDefinition(
                    "Note", key: ["id"], attributes: [.init("id", .int)], relationships: [.init("label", to: "Label")]),
            ])
            try Store.open(at: path, schema: schema).write { writer in
                try writer.put("Label", long, [.init("text", .string(mark))])
                try writer.put("Note", RecordKey(1), [.init("label", .reference(long))])
            }
        }
        func damages() throws -> [String] {
            var damages: [String] = []
            try StoreInspector(at: path).dumpRecords(of: "Note", line: { _ in }, damaged: { damages.append("\($0)") })
            return damages
        }
        #expect(try damages().isEmpty)
        let file = URL(fileURLWithPath: path + "/data.mdb")
        var bytes = [UInt8](try Data(contentsOf: file))
        let place = try #require(bytes.firstRange(of: Array(mark.utf8)))
        bytes[place.lowerBound] ^= 1
        try Data(bytes).write(to: file)
        let found = try damages()
        #expect(found.count == 1 && found[0].hasPrefix("Label "), "\(found)")
    }

    @Test("a damaged row is named with its entity, its key and the reason, and the others are dumped")
    func damagedRow() throws {
        let store = try InspectedStore()
        try store.damage("Volume number 1")
        let (lines, damaged) = try dump(store)
        #expect(lines.count == 2)
        #expect(damaged.map(\.description) == ["Book [a/b, 1]: the checksum is wrong"])
    }

    @Test("keys of any length are dumped whole")
    func longKeys() throws {
        let long = String(repeating: "x", count: 400)
        let store = try InspectedStore { writer in
            try writer.put("Book", RecordKey([.string(long), .int(1)]), [.init("title", .string("t"))])
        }
        #expect(try dump(store).lines.map { $0.hasPrefix("{\"entity\":\"Book\",\"key\":[\"\(long)\",1],") } == [true])
    }

    @Test("dumping changes no byte of the data file")
    func nothingIsWritten() throws {
        let store = try InspectedStore()
        let before = try store.bytes
        _ = try dump(store)
        _ = try StoreInspector(at: store.path).statistics()
        #expect(try store.bytes == before)
    }

    @Test("what is no store is an error, and nothing is created there")
    func noStore() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-inspect-\(UUID().uuidString)"
        #expect(throws: StoreOpenError.noSuchStore(path: path)) {
            try StoreInspector(at: path).dumpRecords(line: { _ in }, damaged: { _ in })
        }
        #expect(throws: StoreOpenError.noSuchStore(path: path)) { try StoreInspector(at: path).statistics() }
        #expect(!FileManager.default.fileExists(atPath: path))
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: StoreOpenError.noSuchStore(path: path)) {
            try StoreInspector(at: path).dumpRecords(line: { _ in }, damaged: { _ in })
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    }
}
