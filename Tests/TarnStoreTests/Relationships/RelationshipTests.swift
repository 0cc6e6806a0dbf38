// Relationships followed in both directions, in their order, with targets that are there and that
// are missing.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Relationships")
struct RelationshipTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    private func id(_ number: Int64) -> RecordKey { RecordKey(number) }

    @Test("a stored to-one reference leads to its record, and back in key order")
    func toOneAndBack() throws {
        try store.put("User", id(1), ["login": .string("ada")])
        for number: Int64 in [30, -2, 5] { try store.put("Issue", id(number), ["author": .reference(id(1))]) }
        #expect(try store.related("Issue", id(5), "author") == [id(1)])
        #expect(try store.related("User", id(1), "issues") == [id(-2), id(5), id(30)])
        #expect(try store.related("User", id(2), "issues") == [])
        #expect(try store.related("Issue", id(99), "author") == [])
        #expect(try store.record("Issue", id(5))?["author"] == .reference(id(1)))
    }

    @Test("a changed, cleared or deleted reference leaves no trace at the other end")
    func changesReachTheOtherEnd() throws {
        for number: Int64 in 1...4 { try store.put("Issue", id(number), ["author": .reference(id(1))]) }
        try store.put("Issue", id(1), ["author": .reference(id(2))])
        try store.put("Issue", id(2), ["author": .null])
        _ = try store.write { try $0.delete("Issue", RecordKey(3)) }
        #expect(try store.related("User", id(1), "issues") == [id(4)])
        #expect(try store.related("User", id(2), "issues") == [id(1)])
        #expect(try store.indexEntries("Issue", "author").count == 2)
    }

    @Test("a stored to-many list keeps its order, and is found from its members")
    func toManyKeepsItsOrder() throws {
        let names = ["zeta", "alpha", "mid"]
        try store.put("Issue", id(1), ["labels": .references(names.map { RecordKey($0) })])
        try store.put("Issue", id(2), ["labels": .references([RecordKey("alpha")])])
        #expect(try store.related("Issue", id(1), "labels") == names.map { RecordKey($0) })
        #expect(try store.related("Label", RecordKey("alpha"), "issues") == [id(1), id(2)])
        try store.put("Issue", id(1), ["labels": .references([RecordKey("mid"), RecordKey("zeta")])])
        #expect(try store.related("Issue", id(1), "labels") == [RecordKey("mid"), RecordKey("zeta")])
        #expect(try store.related("Label", RecordKey("alpha"), "issues") == [id(2)])
        try store.put("Issue", id(1), ["labels": .references([])])
        #expect(try store.related("Label", RecordKey("zeta"), "issues") == [])
    }

    @Test("a label whose name begins with another's name and NUL has its own issues")
    func keysThatContinueOthersAreApart() throws {
        let names = ["", "\0", "a", "a\0", "a\0b", "ab", "a\0\0"]
        for (number, name) in names.enumerated() {
            try store.put("Issue", id(Int64(number)), ["labels": .references([RecordKey(name)])])
        }
        for (number, name) in names.enumerated() {
            #expect(try store.related("Label", RecordKey(name), "issues") == [id(Int64(number))], "\(Array(name.utf8))")
        }
    }

    @Test("long keys, cut at every place, have their own issues")
    func longKeysAreApart() throws {
        let keys = Set(StorageKeyTests.awkward)
        let store = store
        try store.write { writer in
            for (number, key) in keys.enumerated() {
                try writer.put("Label", key, [])
                try writer.put("Issue", RecordKey(Int64(number)), [.init("labels", .references([key]))])
            }
        }
        for (number, key) in keys.enumerated() {
            #expect(try store.related("Label", key, "issues") == [id(Int64(number))])
            #expect(try store.related("Issue", id(Int64(number)), "labels") == [key])
        }
    }

    @Test("a target that is not there yet has a key and no record, and resolves when it comes")
    func missingTargetResolvesLater() throws {
        try store.put(
            "Issue", id(1), ["author": .reference(id(7)), "labels": .references([RecordKey("a"), RecordKey("b")])])
        try store.put("Label", RecordKey("b"))
        #expect(try store.missing("Issue", id(1), "author") == [id(7)])
        #expect(try store.missing("Issue", id(1), "labels") == [RecordKey("a")])
        #expect(try store.count("User") == 0)
        #expect(try store.related("User", id(7), "issues") == [id(1)])
        try store.put("User", id(7))
        #expect(try store.missing("Issue", id(1), "author") == [])
        _ = try store.write { try $0.delete("User", RecordKey(7)) }
        #expect(try store.missing("Issue", id(1), "author") == [id(7)])
    }

    @Test("a record may refer to itself and to others of its entity")
    func selfRelationship() throws {
        try store.put("Issue", id(1), ["duplicateOf": .reference(id(1))])
        try store.put("Issue", id(2), ["duplicateOf": .reference(id(1))])
        #expect(try store.related("Issue", id(1), "duplicateOf") == [id(1)])
        #expect(try store.related("Issue", id(1), "duplicates") == [id(1), id(2)])
        _ = try store.write { try $0.delete("Issue", RecordKey(1)) }
        #expect(try store.related("Issue", id(1), "duplicates") == [id(2)])
    }

    @Test("a derived ordered side is in the order of its positions, also with composite keys")
    func derivedOrderedSide() throws {
        let board = RecordKey([.string("ada"), .string("todo")])
        let target = board.storageKey
        let field = try #require(store.catalog.entity("Issue")?.field("board")).id
        func place(_ issue: Int64, _ position: UInt32) throws {
            _ = try store.write { writer in
                let entity = try writer.access.state.entity("Issue")
                var builder = BodyBuilder()
                var body = ByteWriter()
                builder.field(1) { $0.appendValue(issue) }
                builder.field(field) {
                    $0.append(ValueTag.positionedReference)
                    $0.appendLittleEndian(position)
                    $0.append(target)
                }
                builder.finish(into: &body)
                let view = try #require(RowBody(body.bytes, isWide: false))
                return try RecordKey(issue).storageKey.withUnsafeBytes {
                    try writer.merge(entity, $0, view, isComplete: true)
                }
            }
        }
        for (issue, position) in [(5, 2), (9, 0), (1, 300), (2, 1)] as [(Int64, UInt32)] { try place(issue, position) }
        #expect(try store.related("Board", board, "cards") == [id(9), id(2), id(5), id(1)])
        #expect(try store.related("Issue", id(9), "board") == [board])
        #expect(try store.record("Issue", id(9))?["board"] == .reference(board))
        try place(9, 1000)
        #expect(try store.related("Board", board, "cards") == [id(2), id(5), id(1), id(9)])
        #expect(try store.related("Board", RecordKey([.string("ada"), .string("tod")]), "cards") == [])
    }

    @Test("an unknown relationship is an error that lists those that there are; a walk stops when told")
    func unknownRelationship() throws {
        #expect(
            storeError { _ = try store.related("Issue", id(1), "autor") }
                == StoreError.unknownField(
                    entity: "Issue", name: "autor", known: ["author", "board", "duplicateOf", "duplicates", "labels"]))
        try store.put("Issue", id(1), ["labels": .references([RecordKey("a"), RecordKey("b"), RecordKey("c")])])
        var seen = 0
        try store.read { reader in
            try reader.forEachRelated("Issue", RecordKey(1), "labels") { _ in
                seen += 1
                return seen < 2
            }
        }
        #expect(seen == 2)
    }
}
