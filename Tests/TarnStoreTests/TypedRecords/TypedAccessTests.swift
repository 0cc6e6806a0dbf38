// Structs are written into rows and read from them: all types, three states, partial records, long
// keys, relationships.

import Foundation
import Testing

@testable import TarnStore

@Suite("Typed access")
struct TypedAccessTests {
    let typed: TypedStore

    init() throws { typed = try TypedStore() }

    private func fullTicket() -> Ticket {
        var ticket = Ticket(-17, "Crème brûlée \u{1F36E}")
        ticket.state = .closed
        ticket.closedAt = Timestamp(microseconds: -1)
        ticket.author = Reference("ada")
        ticket.labels = References([UUID(), UUID()])
        ticket.comments = 300
        ticket.scores = [0.5, -.infinity, .greatestFiniteMagnitude]
        ticket.homepage = "https://example.org/ü"
        ticket.details = #"{"a":[1,null]}"#
        return ticket
    }

    @Test("a struct comes back as it was stored, whatever the order of its fields")
    func structComesBack() throws {
        let ticket = fullTicket(), empty = Ticket(1, "")
        try typed.put([ticket, empty])
        #expect(try typed.get(Ticket.self, -17) == ticket)
        #expect(try typed.get(Ticket.self, 1) == empty)
        #expect(try typed.get(Ticket.self, 2) == nil)

        var page = Page("acme", "anvil", .max)
        page.hits = .max
        page.price = ExactDecimal("12345678901234567890.05")
        page.digest = Data([0, 255, 0])
        page.ratio = -0.0
        let other = Page("", "\u{0}", .min)
        try typed.put([page, other])
        #expect(try typed.get(Page.self, ["acme", "anvil", 9_223_372_036_854_775_807]) == page)
        #expect(try typed.get(Page.self, RecordKey([.string(""), .string("\u{0}"), .int(.min)])) == other)
        let tag = Tag(UUID())
        try typed.put([tag])
        #expect(try typed.get(Tag.self, tag.id) == tag)
    }

    @Test("a struct and the dynamic record say the same about a row")
    func structAndRecordAgree() throws {
        let ticket = fullTicket()
        try typed.put([ticket])
        let record = try #require(try typed.store.read { reader in try reader.record("Ticket", [-17]) })
        #expect(record["title"] == .string(ticket.title))
        #expect(record["state"] == .string("closed"))
        #expect(record["homepage"] == .url("https://example.org/ü"))
        #expect(record["details"] == .json(#"{"a":[1,null]}"#))
        #expect(record["author"] == .reference(["ada"]))
        #expect(record["labels"] == .references(ticket.labels?.keys.map { RecordKey($0) } ?? []))
        #expect(record["scores"] == .array([.double(0.5), .double(-.infinity), .double(.greatestFiniteMagnitude)]))
        #expect(record["unnamed"] == nil)
        try typed.store.write { writer in
            try writer.put("Ticket", [5], record.fields.filter { $0.name != "id" })
        }
        var copy = ticket
        copy.id = 5
        #expect(try typed.get(Ticket.self, 5) == copy)
    }

    @Test("one field of a lent row is read alone; text is lent, not copied")
    func oneField() throws {
        try typed.put([fullTicket()])
        try typed.store.read { reader in
            guard let row = try reader.row(Ticket.self, -17) else {
                Issue.record("the row is missing")
                return
            }
            let comments: Int = try row.get(.comments)
            #expect(comments == 300)
            #expect(try row.get(.title, as: String.self) == "Crème brûlée \u{1F36E}")
            #expect(try row.get(.state, as: TicketState?.self) == .closed)
            #expect(try row.key == -17)
            let isPartial = row.isPartial
            #expect(!isPartial)
            #expect(row.version == 1)
            guard let text = try row.text(.homepage) else {
                Issue.record("the text is missing")
                return
            }
            #expect(text.count == 22)
            #expect(String(copying: text) == "https://example.org/ü")
        }
    }

    @Test("absent, null and value are three states")
    func threeStates() throws {
        try typed.store.write { writer in
            try writer.put("Ticket", [1], [.init("title", .string("a")), .init("closedAt", .null)])
        }
        try typed.store.read { reader in
            guard let row = try reader.row(Ticket.self, 1) else {
                Issue.record("the row is missing")
                return
            }
            #expect(try row.state(of: .title) == .value)
            #expect(try row.state(of: .closedAt) == .null)
            #expect(try row.state(of: .homepage) == .absent)
            #expect(try row.get(.closedAt, as: Timestamp?.self) == nil)
            #expect(try row.get(.homepage, as: String?.self) == nil)
            let text = try row.text(.homepage)
            let hasText = text != nil
            #expect(!hasText)
        }
        #expect(
            try TypedStore.error { _ = try typed.get(Ticket.self, 1) }
                == StoreError.missingValue(entity: "Ticket", key: "1", field: "state", isPartial: false))
        let wrong = try TypedStore.error {
            try typed.store.read { reader in
                _ = try reader.row(Ticket.self, 1)?.get(.closedAt, as: Timestamp.self)
            }
        }
        #expect(
            wrong
                == StoreError.unreadableValue(
                    entity: "Ticket", key: "1", field: "closedAt", expected: "Timestamp", found: "null",
                    wayOut: "declare the property as Timestamp?"))
    }

    @Test("a field is found wherever it stands: with absent ones before it, and fields of other programs around it")
    func fieldsAreFoundAnywhere() throws {
        // Every subset of the optional fields and the one that the struct does not name.
        let optional: [(String, Value)] = [
            ("closedAt", .date(Timestamp(microseconds: 7))), ("unnamed", .string("x")),
            ("scores", .array([.double(1)])),
            ("homepage", .url("u")), ("details", .json("1")), ("author", .reference(["ada"])),
        ]
        for subset in 0..<1 << optional.count {
            let chosen = optional.indices.filter { subset & 1 << $0 != 0 }.map { optional[$0] }
            let key = RecordKey(Int64(subset))
            try typed.store.write { writer in
                try writer.put(
                    "Ticket", key,
                    [
                        .init("title", .string("t\(subset)")), .init("state", .string("open")),
                        .init("comments", .int(Int64(subset))),
                    ]
                        + chosen.map { .init($0.0, $0.1) })
            }
            let ticket = try #require(try typed.get(Ticket.self, Int64(subset)))
            let names = Set(chosen.map(\.0))
            #expect(ticket.title == "t\(subset)" && ticket.comments == subset)
            #expect((ticket.closedAt != nil) == names.contains("closedAt"))
            #expect((ticket.scores == [1]) == names.contains("scores"))
            #expect((ticket.homepage == "u") == names.contains("homepage"))
            #expect((ticket.details == "1") == names.contains("details"))
            #expect((ticket.author?.key == "ada") == names.contains("author"))
        }
    }

    @Test("a row of more than 64 KB has wide offsets, and is read and written the same way")
    func wideRows() throws {
        var ticket = fullTicket()
        ticket.title = String(repeating: "ä", count: 50_000)
        try typed.put([ticket])
        #expect(try typed.get(Ticket.self, -17) == ticket)
        let length = try typed.store.read { reader in try reader.row(Ticket.self, -17)?.text(.title)?.count }
        #expect(length == 100_000)
        try typed.store.write { writer in _ = try writer.patch(Ticket.self, -17) { $0.set(.title, "short") } }
        ticket.title = "short"
        #expect(try typed.get(Ticket.self, -17) == ticket)
    }

    @Test("a put keeps the fields that the struct does not name; the index of those stays")
    func putKeepsOtherFields() throws {
        try typed.store.write { writer in try writer.put("Ticket", [1], [.init("unnamed", .string("kept"))]) }
        try typed.put([Ticket(1, "a")])
        #expect(try typed.store.read { reader in try reader.record("Ticket", [1])?["unnamed"] } == .string("kept"))
    }

    @Test("a record stored through a struct that lacks required fields is partial until they come")
    func structThatLacksRequiredFieldsIsPartial() throws {
        struct Title: StoredRecord {
            static let entity = "Ticket"
            typealias Key = Int64
            enum Field: Int, RecordField { case id, title }
            var id: Int64
            var title: String
            init(id: Int64, title: String) { (self.id, self.title) = (id, title) }
            init(_ row: Row<Title>) throws(StoreError) { (id, title) = (try row.get(.id), try row.get(.title)) }
            func encode(into row: inout RowEncoder<Title>) {
                row.set(.id, id)
                row.set(.title, title)
            }
        }
        try typed.put([Title(id: 1, title: "a")])
        #expect(try typed.store.read { reader in try reader.row(Ticket.self, 1)?.isPartial } == true)
        #expect(
            try TypedStore.error { _ = try typed.get(Ticket.self, 1) }
                == StoreError.missingValue(entity: "Ticket", key: "1", field: "state", isPartial: true))
        #expect(try typed.get(Title.self, 1)?.title == "a")
        try typed.put([Ticket(1, "b")])
        #expect(try typed.store.read { reader in try reader.row(Ticket.self, 1)?.isPartial } == false)
    }

    @Test("several keys are answered in their order, nil for each that is missing")
    func severalKeys() throws {
        try typed.put((0..<20).map { Ticket($0 * 2, "t\($0 * 2)") })
        let found = try typed.store.read { reader in try reader.get(Ticket.self, [38, 1, 0, 0, -5, 12]) }
        #expect(found.map { $0?.title } == ["t38", nil, "t0", "t0", nil, "t12"])
    }

    @Test("keys too long for LMDB are found, referred to and told apart")
    func longKeys() throws {
        let long = String(repeating: "k", count: 1000), other = long + "x"
        var ticket = Ticket(1, "a")
        ticket.author = Reference(long)
        try typed.put([Person(long, isAdmin: true)])
        try typed.put([ticket])
        #expect(try typed.get(Person.self, long) == Person(long, isAdmin: true))
        #expect(try typed.get(Person.self, other) == nil)
        #expect(try typed.get(Ticket.self, 1) == ticket)
        let copy = try typed.store.read { reader in try reader.copy(of: Person(other, isAdmin: true)) }
        #expect(copy.key == RecordKey(other) && copy["login"] == .string(other) && copy["isAdmin"] == .bool(true))
        #expect(
            try typed.store.read { reader in try reader.get(Person.self, [other, long]) } == [
                nil, Person(long, isAdmin: true),
            ])
        try typed.store.write { writer in _ = try writer.patch(Person.self, long) { $0.set(.isAdmin, false) } }
        #expect(try typed.get(Person.self, long)?.isAdmin == false)
        try typed.store.write { writer in
            let isThere = try writer.delete(Person.self, long)
            #expect(isThere)
        }
        #expect(try typed.get(Person.self, long) == nil)
        // The whole key of a reference was in the deleted record.
        #expect(try TypedStore.error { _ = try typed.get(Ticket.self, 1) } != nil)
    }

    @Test("another long key under the same digest is not taken for the one that was asked for")
    func collisionIsNotTheRecord() throws {
        let wanted = String(repeating: "k", count: 1000), other = wanted + "x"
        try typed.put([Person(other)])
        // The row of `other` under the storage key of `wanted`.
        try typed.store.write { writer in
            let entity = try writer.access.state.entity("Person"),
                table = try writer.access.state.records(of: entity.id)
            try wanted.withStorageKey { wanted in
                try other.withStorageKey { other in
                    var row = Array(try #require(try writer.access.raw.get(table, other)))
                    let checksum = row.withUnsafeBytes {
                        EncodedRow.checksum(of: $0, table: UInt32(entity.id), key: wanted)
                    }
                    row.withUnsafeMutableBytes {
                        $0.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt32.self)
                    }
                    try row.withUnsafeBytes { row in try writer.access.raw.put(table, wanted, row) }
                }
            }
        }
        #expect(try typed.get(Person.self, wanted) == nil)
        #expect(
            try typed.store.read { reader in try reader.get(Person.self, [wanted, other]) } == [nil, Person(other)])
        #expect(
            try TypedStore.error { try typed.put([Person(wanted)]) } == StoreWriteError.keyCollision(entity: "Person"))
    }

    @Test("related records are lent in the order of the relationship, stored or derived; missing ones are passed over")
    func relatedRecords() throws {
        let tags = (0..<3).map { _ in Tag(UUID()) }
        var first = Ticket(1, "one"), second = Ticket(2, "two")
        first.author = Reference("ada")
        second.author = Reference("ada")
        first.labels = References([tags[2].id, tags[0].id, tags[1].id])
        try typed.put([first, second])
        try typed.put([tags[2], tags[1]])
        try typed.store.read { reader in
            var titles: [String] = []
            try reader.forEachRelated(Person.self, "ada", "tickets", to: Ticket.self) { row in
                titles.append(try row.get(.title))
            }
            #expect(titles == ["one", "two"])
            var labels: [UUID] = []
            try reader.forEachRelated(Ticket.self, 1, "labels", to: Tag.self) { row in labels.append(try row.key) }
            #expect(labels == [tags[2].id, tags[1].id])
            var authors = 0
            try reader.forEachRelated(Ticket.self, 1, "author", to: Person.self) { _ in authors += 1 }
            #expect(authors == 0)
        }
        let unknown = try TypedStore.error {
            try typed.store.read { reader in
                try reader.forEachRelated(Person.self, "ada", "friends", to: Ticket.self) { _ in }
            }
        }
        #expect(unknown == StoreError.unknownField(entity: "Person", name: "friends", known: ["tickets"]))
        let other = try TypedStore.error {
            try typed.store.read { reader in
                try reader.forEachRelated(Person.self, "ada", "tickets", to: Tag.self) { _ in }
            }
        }
        #expect(other == StoreError.wrongType(entity: "Person", field: "tickets", expected: "Tag", found: "Ticket"))
    }

    @Test("the rows of many targets, located several at a time: all of them, up to an error, and within a write")
    func manyTargets() throws {
        // The numbers of tickets are spread over the table.
        let counts = ["zero": 0, "one": 1, "seven": 7, "nine": 9, "all": 300]
        for (login, count) in counts {
            try typed.put([Person(login)])
            try typed.put(
                (0..<count).map {
                    var ticket = Ticket(Int64($0 * 7919 % 3001 * 256) + Int64(login.utf8.first ?? 0), "\(login) \($0)")
                    ticket.author = Reference(login)
                    ticket.details = $0 == 5 ? "{\"of\": \($0)}" : "0"
                    return ticket
                })
        }
        struct Enough: Error {}
        for (login, count) in counts {
            let expected = try typed.store.read { reader in
                try reader.fetch(Ticket.self).filter { $0.author?.key == login }.map(\.title)
            }
            #expect(expected.count == count)
            func titles(_ reader: borrowing StoreReader, upTo most: Int = .max) throws -> [String] {
                var titles: [String] = []
                try reader.forEachRelated(Person.self, login, "tickets", to: Ticket.self) { row in
                    if titles.count == most { throw Enough() }
                    titles.append(try row.get(.title))
                }
                return titles
            }
            #expect(try typed.store.read { try titles($0) } == expected)
            #expect(try typed.store.write { try titles($0.reader()) } == expected)
            for most in [0, 1, 2, 3, 8, 17] where most < count {
                #expect(throws: Enough.self) { try typed.store.read { try titles($0, upTo: most) } }
            }
        }
    }

    @Test("no damage of a row makes reading it crash: it is a value or an error")
    func damagedRows() throws {
        try typed.put([fullTicket()])
        let sound = try typed.store.write { writer in
            let access = writer.access, table = try access.state.records(of: access.state.entity("Ticket").id)
            return try Int64(-17).withStorageKey { Array(try #require(try access.raw.get(table, $0))) }
        }
        var damaged = (0..<sound.count).map { Array(sound.prefix($0)) }
        for place in sound.indices {
            for change in [1, 0x80, 0xFF] as [UInt8] {
                var row = sound
                row[place] ^= change
                damaged.append(row)
            }
        }
        var errors = 0, values = 0
        try typed.store.write { writer in
            let access = writer.access, table = try access.state.records(of: access.state.entity("Ticket").id)
            for row in damaged {
                try Int64(-17).withStorageKey { key in try row.withUnsafeBytes { try access.raw.put(table, key, $0) } }
                let error = try TypedStore.error {
                    let reader = try writer.reader()
                    _ = try reader.get(Ticket.self, -17)
                    for field in Ticket.Field.allCases { _ = try reader.row(Ticket.self, -17)?.text(field)?.count }
                }
                let other = try TypedStore.error { try writer.reader().forEach(Ticket.self) { row in _ = try row.key } }
                if error == nil && other == nil { values += 1 } else { errors += 1 }
            }
        }
        #expect(errors > sound.count)
        #expect(errors + values == damaged.count)
    }
}
