import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: very many operations")
struct OutboxManyOperationsTests {
    // MARK: - Deletions

    @Test("a deletion finds the cascade of an owner twice, however many new records are in it")
    func newRecordsOfOwner() throws {
        let bed = try OutboxBed(), store = bed.store
        try store.write { writer in
            for _ in 0..<100 {
                try writer.enqueueCreate("Issue", .temporary, [Record.Field("repo", .reference(1))])
            }
        }
        let (receipt, members) = try store.write { writer in
            (try writer.enqueueDelete("Repo", 1), writer.cascadeMemberCount)
        }
        // The repository with its old issue and the new ones, each of these by itself, and the rest.
        #expect(members == 102 + 100 + 2)
        #expect(receipt.operation == 101 && receipt.withdrawn.map(\.id).sorted() == Array(1...100))
        #expect(try bed.operations() == ["101 delete Repo 1"] && store.count("Issue") == 0)
        try bed.discard(101)
        #expect(try store.count("Issue") == 1 && bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("new records that lead to one another, or to which a list of their owner leads, go with a deleted owner")
    func newRecordsInChain() throws {
        let schema = Schema([
            EntityDefinition(
                "Box", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("parent", to: "Box", inverse: "boxes"),
                    RelationshipDefinition("boxes", to: "Box", many: true, inverse: "parent", onDelete: .cascade),
                    RelationshipDefinition("parts", to: "Part", many: true, ordered: true, onDelete: .cascade),
                ]),
            EntityDefinition("Part", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        ])
        let folder = try TemporaryFolder(), options = Store.Options(durability: .volatile)
        let bed = OutboxBed(folder, try Store.open(at: folder("s"), schema: schema, options: options))
        try bed.store.put("Box", 1)
        var parent: RecordKey = 1
        for _ in 0..<3 { parent = try bed.create("Box", .temporary, ["parent": .reference(parent)]).key }
        try bed.create("Box", .temporary, ["parent": .reference(1)])
        let parts = try (0..<3).map { _ in try bed.create("Part").key }
        try bed.store.put("Box", 1, ["parts": .references(parts)])
        let receipt = try bed.delete("Box", 1)
        #expect(receipt.operation == 8 && receipt.withdrawn.map(\.id).sorted() == Array(1...7))
        #expect(try bed.operations() == ["8 delete Box 1"] && bed.marks() == ["delete Box 1 "])
        #expect(try bed.store.count("Box") == 0 && bed.store.count("Part") == 0)
        try bed.discard(8)
        #expect(try bed.store.count("Box") == 1 && bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a new record with many operations that is deleted or discarded is changed once", arguments: [true, false])
    func newRecordWithMembers(isDeleted: Bool) throws {
        let bed = try OutboxBed(), store = bed.store
        let issue = try bed.create("Issue", .temporary, ["title": .string("t")]).key
        let labels = (0..<60).map { RecordKey("label \($0)") }
        _ = try store.write { try $0.enqueueEach(.add, labels, of: "labels", "Issue", issue) }
        let changes = try store.write { writer in
            let before = writer.changes.count
            if isDeleted {
                let receipt = try writer.enqueueDelete("Issue", issue)
                #expect(receipt.operation == nil && receipt.withdrawn.count == 61)
            } else {
                let discard = try writer.discardOperation(1)
                #expect(discard.operations.count == 61 && discard.records == [OutboxRecord("Issue", issue)])
            }
            return writer.changes.count - before
        }
        #expect(changes == 1)
        #expect(try store.count("Issue") == 1 && bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a record gets a reference back that a later change of a discarded new record has taken from it")
    func takenReference() throws {
        let schema = Schema([
            EntityDefinition(
                "Desk", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("lamp", to: "Lamp", inverse: "desk")]),
            EntityDefinition(
                "Lamp", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("desk", to: "Desk", inverse: "lamp")]),
        ])
        let folder = try TemporaryFolder(), options = Store.Options(durability: .volatile)
        let bed = OutboxBed(folder, try Store.open(at: folder("s"), schema: schema, options: options))
        try bed.store.put("Lamp", 5)
        try bed.store.put("Desk", 1, ["lamp": .reference(5)])
        let desk = try bed.create("Desk").key
        try bed.claim(1)
        try bed.bury(1)
        try bed.update(desk, ["lamp": .reference(5)], "Desk", options: "x")
        #expect(try bed.store.record("Desk", 1)?["lamp"] == .null)
        #expect(try bed.discard(1).operations.map(\.id) == [1, 2])
        #expect(try bed.store.record("Desk", 1)?["lamp"] == .reference(5) && bed.store.count("Desk") == 1)
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    // MARK: - Edits of lists

    private static func edit(_ target: Int, isInsertion: Bool) -> StoredOperation.ListEdit {
        StoredOperation.ListEdit(
            kind: 1, field: 1, target: Array("\(target)".utf8), position: 0, isInsertion: isInsertion)
    }

    private static func list(_ targets: some Sequence<Int>) -> [UInt8] {
        targets.map { Array("\($0)".utf8) }.referenceValue
    }

    @Test("thousands of edits of a long list are replayed and undone in a few passes over it")
    func passes() {
        let before = Self.list(0..<2000)
        var value = EditedValue(before), edits: [StoredOperation.ListEdit] = []
        for target in 2000..<4000 {
            var edit = Self.edit(target, isInsertion: true)
            value.place(&edit)
            value.apply(edit, isUndone: false)
            edits.append(edit)
        }
        #expect(value.value == Self.list(0..<4000))
        for edit in edits.reversed() { value.apply(edit, isUndone: true) }
        #expect(value.value == before && value.passes < 16)
    }

    @Test("edits that follow one another have the effect of edits of a list that is encoded between them")
    func edits() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let bases = [nil, [ValueTag.null], Self.list([]), Self.list((0..<9).map { _ in random.roll(0..<12) })]
            var expected = bases[random.roll(0..<bases.count)], edits: [StoredOperation.ListEdit] = []
            var value = EditedValue(expected)
            for _ in 0..<20 {
                var edit = Self.edit(random.roll(0..<14), isInsertion: random.roll(0..<2) == 0)
                value.place(&edit)
                let targets = (expected ?? []).referenceList
                #expect(edit.position == targets.firstIndex(of: edit.target).map { UInt32($0) } ?? .max, "seed \(seed)")
                #expect(edit.empty == StoredOperation.ListEdit.Empty(expected), "seed \(seed)")
                guard edit.hasEffect else { continue }
                expected = Self.applied(edit, to: expected, isUndone: false)
                value.apply(edit, isUndone: false)
                edits.append(edit)
                #expect(value.value == expected, "seed \(seed)")
            }
            for edit in edits.reversed() {
                expected = Self.applied(edit, to: expected, isUndone: true)
                value.apply(edit, isUndone: true)
                #expect(value.value == expected, "seed \(seed)")
            }
        }
    }

    private static func applied(
        _ edit: StoredOperation.ListEdit, to list: [UInt8]?, isUndone: Bool
    ) -> [UInt8]? {
        var targets = (list ?? []).referenceList
        if edit.isInsertion == isUndone {
            if let index = targets.firstIndex(of: edit.target) { targets.remove(at: index) }
        } else if !targets.contains(edit.target) {
            targets.insert(edit.target, at: edit.isInsertion ? targets.count : min(Int(edit.position), targets.count))
        }
        guard isUndone, targets.isEmpty else { return targets.referenceValue }
        return switch edit.empty {
        case .list: targets.referenceValue
        case .absent: nil
        case .null: [ValueTag.null]
        }
    }
}
