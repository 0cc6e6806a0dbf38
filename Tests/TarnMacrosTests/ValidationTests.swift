// Record types checked against a store once, at the start of a program.

import TarnMacros
import TestSupport
import Testing

@Suite("Validation of record types")
struct ValidationTests {
    /// A store whose users have a text as their state, and issues without a number.
    private static let schema = Schema([
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                .init("id", .int), .init("title", .string, optional: true),
                .init("state", .enumeration(["open", "stale"])),
            ])
    ])

    @Record("Issue") struct Sound {
        @Key var id: Int64
        var title: String?
    }
    @Record("Issue") struct Optionality {
        @Key var id: Int64
        var title: String
    }
    @Record("Issue") struct Missing {
        @Key var id: Int64
        var number: Int
    }
    @Record("Issue") struct Values {
        @Key var id: Int64
        var state: State
    }
    @Record("Issue") struct OtherKey {
        @Key var id: String
    }
    @Record struct Other {
        @Key var id: Int
    }
    @Record("Issue") struct Unnamed {
        @Key var id: Int
        var others = Inverse<Sound>()
    }
    @Record("Issue") struct Kind {
        @Key var id: Int
        var title: Reference<Sound>?
    }

    @Test("a type that fits passes; one that does not is an error that names the field")
    func validation() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder.path + "/s.tarn", schema: Self.schema)
        try store.validate(Sound.self)
        func failure(_ type: any StoredRecord.Type) -> String {
            do {
                try store.validate(Sound.self, type)
                return "none"
            } catch {
                return "\(error)"
            }
        }
        #expect(failure(Optionality.self).contains("title"))
        #expect(failure(Missing.self).contains("number"))
        #expect(failure(Values.self).contains("stale"))
        #expect(failure(OtherKey.self).contains("int"))
        #expect(failure(Other.self).contains("Other"))
        #expect(failure(Kind.self).contains("title"))
        #expect(
            failure(Unnamed.self)
                == "Issue.others: expected the inverse of a relationship of Issue that names it: inverse: \"others\", found none"
        )
    }

    private static let tickets = Schema([
        EntityDefinition(
            "Ticket", key: ["number", "project"],
            attributes: [.init("number", .int), .init("project", .int), .init("title", .string)],
            relationships: [.init("original", to: "Ticket")]),
        EntityDefinition(
            "Seat", key: ["id"], attributes: [.init("id", .int), .init("row", .int), .init("title", .string)]),
    ])

    @Record("Ticket") struct Ordered {
        @Key var number: Int
        @Key var project: Int
        var title: String
    }
    @Record("Ticket") struct Swapped {
        @Key var project: Int
        @Key var number: Int
        var title: String
    }
    @Record("Seat") struct Row {
        @Key var row: Int
        var id: Int
        var title: String
    }

    @Test("a key of other attributes, or of the same in another order, would be that of another record, and is refused")
    func keyParts() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder.path + "/s.tarn", schema: Self.tickets)
        try store.validate(Ordered.self)
        try store.write { writer in
            try writer.put(Ordered(number: 1, project: 2, title: "a"))
            try writer.put(Ordered(number: 2, project: 1, title: "b"))
        }
        #expect(try store.read { try $0.get(Ordered.self, Ordered.Key(number: 1, project: 2)) }?.title == "a")
        #expect(throws: StoreError.self) { try store.validate(Swapped.self) }
        #expect(throws: StoreError.self) {
            try store.read { try $0.get(Swapped.self, Swapped.Key(project: 2, number: 1)) }
        }
        #expect(
            throws: StoreError.wrongKey(entity: "Seat", expected: "id", found: "row in Row")
        ) { try store.validate(Row.self) }
    }
}
