// Patches, compare-and-set, the catalog's types, and reading the transaction's own writes.

import Foundation
import Testing

@testable import TarnStore

/// Names some fields only, and reads a URL as Foundation has it.
private struct LinkedTicket: StoredRecord {
    static let entity = "Ticket"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, homepage }

    var id: Int64
    var homepage: URL?

    init(_ row: Row<LinkedTicket>) throws(StoreError) {
        id = try row.get(.id)
        homepage = try row.get(.homepage)
    }

    func encode(into row: inout RowEncoder<LinkedTicket>) {
        row.set(.id, id)
        row.set(.homepage, homepage)
    }
}

@Suite("Typed writes")
struct TypedWriteTests {
    let typed: TypedStore

    init() throws { typed = try TypedStore() }

    private func version(_ key: Int64) throws -> UInt64? {
        try typed.store.read { reader in try reader.row(Ticket.self, key)?.version }
    }

    @Test("a patch changes the fields that it names and no other; of a record that is missing it makes none")
    func patch() throws {
        var ticket = Ticket(1, "a")
        ticket.homepage = "u"
        ticket.author = Reference("ada")
        try typed.put([ticket])
        try typed.store.write { writer in
            let isThere = try writer.patch(Ticket.self, 1) { change in
                change.set(.state, TicketState.closed)
                change.set(.title, "first")
                change.set(.title, "last")
                change.clear(.homepage)
            }
            #expect(isThere)
            let isMissingThere = try writer.patch(Ticket.self, 2) { $0.set(.title, "b") }
            #expect(!isMissingThere)
        }
        ticket.state = .closed
        ticket.title = "last"
        ticket.homepage = nil
        #expect(try typed.get(Ticket.self, 1) == ticket)
        #expect(try typed.get(Ticket.self, 2) == nil)
        #expect(try typed.store.read { reader in try reader.row(Ticket.self, 1)?.state(of: .homepage) } == .null)
    }

    @Test("a patch that changes nothing writes nothing, and cannot change the key")
    func patchOfKey() throws {
        try typed.put([Ticket(1, "a")])
        try typed.store.write { writer in
            _ = try writer.patch(Ticket.self, 1) { change in
                change.set(.id, Int64(1))
                change.set(.title, "a")
            }
        }
        #expect(try version(1) == 1)
        let error = try TypedStore.error {
            try typed.store.write { writer in _ = try writer.patch(Ticket.self, 1) { $0.set(.id, Int64(2)) } }
        }
        #expect(
            error
                == StoreError.wrongKey(
                    entity: "Ticket", expected: "the record's key 1, which cannot be changed",
                    found: "the number 2"))
        try typed.put([Page("a", "b", 1)])
        try typed.store.write { writer in _ = try writer.patch(Page.self, ["a", "b", 1]) { $0.set(.hits, UInt64(5)) } }
        #expect(try typed.get(Page.self, ["a", "b", 1])?.hits == 5)
    }

    @Test("a relationship that is patched is followed from the other side")
    func patchOfRelationship() throws {
        var ticket = Ticket(1, "a")
        ticket.author = Reference("ada")
        try typed.put([ticket])
        try typed.store.write { writer in
            _ = try writer.patch(Ticket.self, 1) { $0.set(.author, Reference<Person>("bob")) }
        }
        func tickets(_ login: String) throws -> Int {
            try typed.store.read { reader in
                var count = 0
                try reader.forEachRelated(Person.self, login, "tickets", to: Ticket.self) { _ in count += 1 }
                return count
            }
        }
        #expect(try tickets("ada") == 0)
        #expect(try tickets("bob") == 1)
    }

    @Test("compare-and-set writes over the version that was read, and over no other")
    func compareAndSet() throws {
        try typed.store.write { writer in try writer.put(Ticket(1, "a"), ifVersion: 0) }
        #expect(try version(1) == 1)
        func mismatch(_ expected: UInt64, _ found: UInt64) -> StoreWriteError {
            .versionMismatch(entity: "Ticket", key: "1", expected: expected, found: found)
        }
        let attempts: [(UInt64, @Sendable (inout StoreWriter, UInt64) throws -> Void)] = [
            (0, { try $0.put(Ticket(1, "x"), ifVersion: $1) }), (7, { try $0.put(Ticket(1, "x"), ifVersion: $1) }),
            (2, { _ = try $0.patch(Ticket.self, 1, ifVersion: $1) { $0.set(.title, "x") } }),
            (2, { _ = try $0.delete(Ticket.self, 1, ifVersion: $1) }),
            (2, { try $0.put("Ticket", [1], [.init("title", .string("x"))], ifVersion: $1) }),
            (2, { _ = try $0.delete("Ticket", [1], ifVersion: $1) }),
        ]
        for (expected, attempt) in attempts {
            let error = try TypedStore.error { try typed.store.write { writer in try attempt(&writer, expected) } }
            #expect(error == mismatch(expected, 1))
        }
        #expect(try typed.get(Ticket.self, 1)?.title == "a")
        try typed.store.write { writer in try writer.put(Ticket(1, "b"), ifVersion: 1) }
        #expect(try version(1) == 2)
        try typed.store.write { writer in _ = try writer.patch(Ticket.self, 1, ifVersion: 2) { $0.set(.title, "c") } }
        try typed.store.write { writer in try writer.put("Ticket", [1], [.init("title", .string("d"))], ifVersion: 3) }
        #expect(try typed.get(Ticket.self, 1)?.title == "d")
        try typed.store.write { writer in
            let wasThere = try writer.delete(Ticket.self, 1, ifVersion: 4)
            #expect(wasThere)
        }
        let gone = try TypedStore.error {
            try typed.store.write { writer in try writer.put(Ticket(1, "e"), ifVersion: 4) }
        }
        #expect(gone == mismatch(4, 0))
    }

    @Test("of many writers that count with compare-and-set, none is lost")
    func countingTogether() async throws {
        try typed.put([Ticket(1, "a")])
        let store = typed.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10 {
                        while true {
                            let (comments, version) = try store.read { reader -> (Int, UInt64) in
                                guard let row = try reader.row(Ticket.self, 1) else { return (0, 0) }
                                return (try row.get(.comments), row.version)
                            }
                            do {
                                try await store.write { writer in
                                    _ = try writer.patch(Ticket.self, 1, ifVersion: version) {
                                        $0.set(.comments, comments + 1)
                                    }
                                }
                                break
                            } catch StoreWriteError.versionMismatch { continue }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try typed.get(Ticket.self, 1)?.comments == 80)
    }

    @Test("a transaction reads what it has written: records, counts, relationships; others do not yet")
    func readerInsideWrite() throws {
        try typed.put([Ticket(1, "a")])
        try typed.store.write { writer in
            var ticket = Ticket(2, "b")
            ticket.author = Reference("ada")
            try writer.put(ticket)
            #expect(try writer.reader().get(Ticket.self, 2) == ticket)
            #expect(try writer.reader().count(Ticket.self) == 2)
            var titles: [String] = []
            try writer.reader().forEachRelated(Person.self, "ada", "tickets", to: Ticket.self) { row in
                titles.append(try row.get(.title))
            }
            #expect(titles == ["b"])
            try writer.delete(Ticket.self, 2)
            titles = []
            try writer.reader().forEachRelated(Person.self, "ada", "tickets", to: Ticket.self) { row in
                titles.append(try row.get(.title))
            }
            #expect(titles.isEmpty)
            try writer.put(ticket)
            #expect(try typed.get(Ticket.self, 2) == nil)
        }
        #expect(try typed.get(Ticket.self, 2)?.author?.key == "ada")
    }

    @Test(
        "a value that is not of the catalog's type is an error that names the field, and nothing is stored",
        arguments: [
            ("Ticket", "title", Value.int(1), "string", "the number 1"),
            ("Ticket", "title", .url("u"), "string", "url"),
            ("Ticket", "comments", .double(1), "int", "double"),
            ("Ticket", "comments", .uint(.max), "int", "a large number"),
            ("Ticket", "comments", .string("1"), "int", "\"1\""),
            ("Ticket", "state", .string("opened"), "one of open, closed", "\"opened\""),
            ("Ticket", "closedAt", .int(0), "date", "the number 0"),
            ("Ticket", "scores", .array([.double(1), .int(2)]), "[double]", "a list"),
            ("Ticket", "scores", .double(1), "[double]", "double"),
            ("Ticket", "homepage", .string("u"), "url", "\"u\""),
            ("Ticket", "author", .string("ada"), "a key of Person (string)", "\"ada\""),
            ("Ticket", "author", .reference([1]), "a key of Person (string)", "a reference to 1"),
            ("Ticket", "author", .reference(["a", "b"]), "a key of Person (string)", "a reference to [a, b]"),
            ("Ticket", "author", .references([["a"]]), "a key of Person (string)", "a list of references"),
            ("Ticket", "labels", .references([["a"]]), "keys of Tag (uuid)", "a list of references"),
            ("Page", "hits", .int(-1), "uint", "the number -1"),
            ("Page", "price", .double(1), "decimal", "double"),
            ("Page", "digest", .string("00"), "bytes", "\"00\""),
            ("Page", "ratio", .bool(true), "double", "bool"),
        ])
    func wrongTypes(entity: String, field: String, value: Value, expected: String, found: String) throws {
        let key: RecordKey = entity == "Page" ? ["a", "b", 1] : [1]
        let error = try TypedStore.error {
            try typed.store.write { writer in try writer.put(entity, key, [.init(field, value)]) }
        }
        #expect(error == StoreError.wrongType(entity: entity, field: field, expected: expected, found: found))
        #expect(try typed.store.read { reader in try reader.sequence } == 0)
    }

    @Test("values of every type are taken, and null by every field")
    func rightTypes() throws {
        let values: [(String, String, [Value])] = [
            ("Ticket", "title", [.string(""), .null]), ("Ticket", "comments", [.int(.min)]),
            ("Ticket", "state", [.string("closed")]), ("Ticket", "scores", [.array([]), .array([.double(1), .null])]),
            (
                "Ticket", "author",
                [.reference(["x"]), .reference(RecordKey(String(repeating: "x", count: 999))), .null]
            ),
            ("Ticket", "labels", [.references([]), .references([RecordKey(UUID())])]),
            ("Page", "hits", [.int(0), .uint(1), .uint(.max)]), ("Page", "digest", [.bytes([])]),
        ]
        for (entity, field, list) in values {
            for value in list {
                let key: RecordKey = entity == "Page" ? ["a", "b", 1] : [1]
                try typed.store.write { writer in try writer.put(entity, key, [.init(field, value)]) }
            }
        }
    }

    @Test("a struct whose value does not fit stores nothing")
    func structThatDoesNotFit() throws {
        struct Wrong: StoredRecord {
            static let entity = "Ticket"
            typealias Key = Int64
            enum Field: Int, RecordField { case id, comments }
            init() {}
            init(_ row: Row<Wrong>) throws(StoreError) { _ = try row.get(.comments, as: String.self) }
            func encode(into row: inout RowEncoder<Wrong>) {
                row.set(.id, Int64(1))
                row.set(.comments, "many")
            }
        }
        #expect(
            try TypedStore.error { try typed.put([Wrong()]) }
                == StoreError.wrongType(entity: "Ticket", field: "comments", expected: "int", found: "\"many\""))
        #expect(try typed.store.read { reader in try reader.count(Ticket.self) } == 0)
        try typed.put([Ticket(1, "a")])
        #expect(
            try TypedStore.error { _ = try typed.get(Wrong.self, 1) }
                == StoreError.unreadableValue(
                    entity: "Ticket", key: "1", field: "comments", expected: "String", found: "0",
                    wayOut: "declare the property as Int64"))
    }

    @Test("a struct that does not fit the catalog is an error that names what is wrong, at the first use")
    func structOfAnotherCatalog() throws {
        struct NoEntity: StoredRecord {
            static let entity = "Tickets"
            typealias Key = Int64
            enum Field: Int, RecordField { case id }
            init(_ row: Row<NoEntity>) throws(StoreError) {}
            func encode(into row: inout RowEncoder<NoEntity>) {}
        }
        struct NoField: StoredRecord {
            static let entity = "Tag"
            typealias Key = UUID
            enum Field: Int, RecordField { case id, tickets }
            init(_ row: Row<NoField>) throws(StoreError) {}
            func encode(into row: inout RowEncoder<NoField>) {}
        }
        struct OtherKey: StoredRecord {
            static let entity = "Page"
            typealias Key = Int64
            enum Field: Int, RecordField { case number }
            init() {}
            init(_ row: Row<OtherKey>) throws(StoreError) {}
            func encode(into row: inout RowEncoder<OtherKey>) {}
        }
        #expect(
            try TypedStore.error { _ = try typed.get(NoEntity.self, 1) }
                == StoreError.unknownEntity(name: "Tickets", known: ["Person", "Tag", "Ticket", "Page"]))
        #expect(
            try TypedStore.error { _ = try typed.get(NoField.self, UUID()) }
                == StoreError.unknownField(entity: "Tag", name: "tickets", known: ["id"]))
        let wrongKey = StoreError.wrongKey(entity: "Page", expected: "[string, string, int]", found: "int")
        #expect(try TypedStore.error { _ = try typed.get(OtherKey.self, 1) } == wrongKey)
        #expect(try TypedStore.error { try typed.put([OtherKey()]) } == wrongKey)
        #expect(
            try TypedStore.error { _ = try typed.get(Page.self, ["a", 1, 1]) }
                == StoreError.wrongKey(entity: "Page", expected: "[string, string, int]", found: "[a, 1, 1]"))
    }

    @Test("a struct with a temporary key that was replaced keeps what it cannot represent when it is put back")
    func exactValuesOfReplacedKey() throws {
        let store = typed.store, text = Value.url("https://a.example/{x}")
        let made = try store.write { writer in
            try writer.enqueueCreate(
                "Ticket", .temporary,
                [
                    .init("title", .string("t")), .init("state", .string("open")), .init("comments", .int(0)),
                    .init("homepage", text),
                ])
        }
        let operation = try #require(made.operation)
        _ = try store.write { try $0.completeOperation(operation, adopting: RecordKey(99)) }
        guard case .int(let id)? = made.key.components.first else {
            Issue.record("the key is \(made.key)")
            return
        }
        var ticket = try #require(try typed.get(LinkedTicket.self, 99))
        #expect(ticket.homepage?.absoluteString == "https://a.example/%7Bx%7D")
        ticket.id = id
        try typed.put([ticket])
        #expect(try store.record("Ticket", 99)?["homepage"] == text && store.count("Ticket") == 1)
    }

    @Test("a struct that does not set the whole key is not stored")
    func incompleteKey() throws {
        struct Keyless: StoredRecord {
            static let entity = "Page"
            typealias Key = RecordKey
            enum Field: Int, RecordField { case owner, repository }
            init() {}
            init(_ row: Row<Keyless>) throws(StoreError) {}
            func encode(into row: inout RowEncoder<Keyless>) {
                row.set(.owner, "a")
                row.set(.repository, "b")
            }
        }
        #expect(
            try TypedStore.error { try typed.put([Keyless()]) }
                == StoreError.wrongKey(entity: "Page", expected: "[string, string, int]", found: "an incomplete key")
        )
    }

    @Test("a type that the catalog did not fit is usable as soon as another store has changed the catalog")
    func plansFollowTheCatalog() throws {
        struct Added: StoredRecord {
            static let entity = "Ticket"
            typealias Key = Int64
            enum Field: Int, RecordField { case id, added }
            var added: Int?
            init(_ row: Row<Added>) throws(StoreError) { added = try row.get(.added) }
            func encode(into row: inout RowEncoder<Added>) {}
        }
        try typed.put([Ticket(1, "a")])
        let unknown = try #require(try TypedStore.error { _ = try typed.get(Added.self, 1) })
        #expect(unknown.description.hasPrefix("Ticket has no added"))
        var schema = TypedStore.schema
        schema.entities[2].attributes.insert(AttributeDefinition("added", .int, optional: true, indexed: true), at: 1)
        let other = try Store.open(at: typed.path, schema: schema, options: Store.Options(durability: .volatile))
        try other.write { writer in
            try writer.put("Ticket", [1], [.init("added", .int(7))])
            _ = try writer.patch(Ticket.self, 1) { $0.set(.title, "b") }
        }
        #expect(try typed.get(Added.self, 1)?.added == 7)
        #expect(try typed.get(Ticket.self, 1)?.title == "b")
    }
}
