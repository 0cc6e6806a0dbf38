// The steps of an import of MMRecord, in the order of its pipeline.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From MMRecord: import")
struct MMRecordImportTests {
    @Record struct Person: Equatable {
        @Key var id: Int
        var name: String?
        var age: Int?
        var friend: Reference<Person>?
        var friends: References<Person>?
    }

    @Record struct Venue: Equatable {
        @Key var id: String
        var name: String
        @Attribute(from: "location.lat") var latitude: Double?
        @Relationship(inverse: "venues", ordered: true) var categories: References<Category>?
        @Relationship(from: "photos.groups.*.items", ordered: true) var photos: References<Photo>?
    }

    @Record struct Category: Equatable {
        @Key var id: String
        var name: String
        var venues = Inverse<Venue>()
    }

    @Record struct Photo: Equatable {
        @Key var id: String
    }

    @Record struct Typed: Equatable {
        @Key var id: Int
        var number: Int?
        var ratio: Double?
        var flag: Bool?
        var text: String?
        var at: Date?
    }

    private func people(_ documents: String...) throws -> ImportFixture {
        let people = try ImportFixture(Person.self)
        for document in documents { try people.add(document, "Person") }
        return people
    }

    private func stream(_ documents: String...) throws -> ImportFixture {
        let stream = try ImportFixture(
            Stream.Post.self, Stream.Author.self, Stream.Counts.self, Stream.CoverImage.self, Stream.Source.self)
        for document in documents { try stream.add(document, "Post") }
        return stream
    }

    @Test(
        "MMRecordResponse +responseFromResponseObjectArray:initialEntity:context:options: → Importer.add(_:entity:): a list, or one object, becomes records and one report"
    )
    func documents() throws {
        let people = try people()
        #expect(try people.add(#"[{"id": 1}, {"id": 2}]"#, "Person").created == 2)
        #expect(try people.add(#"{"id": 3}"#, "Person").created == 1)
        #expect(try people.add("[]", "Person").listed == 0)
        #expect(throws: ImportError.self) { try people.add("null", "Person") }
        #expect(try people.count("Person") == 3)
    }

    @Test(
        "MMRecord import of the same response again → Importer: nothing is created or written, and children without a key stay as many as they are"
    )
    func again() throws {
        let stream = try stream(Stream.page)
        let report = try stream.add(Stream.page, "Post")
        #expect(report.created == 0 && report.updated == 0 && report.unchanged > 0)
        #expect(try stream.count("Counts") == 2 && stream.count("Source") == 3)
    }

    // Keys were compared as JSON, before they were converted.
    @Test(
        "MMRecord primary key 1 and \"1\" → @Key: a key is converted to its type before records are compared"
    )
    func coercedKeys() throws {
        let people = try people(#"[{"id": 1, "name": "a"}, {"id": "1", "age": 4}]"#)
        #expect(try people.fetch(Person.all) == [Person(id: 1, name: "a", age: 4)])
    }

    // Records with a null key were merged into one.
    @Test(
        "MMRecord missing or null primary key (error 3) → Diagnostic.Code.keyMissing: the record is skipped and reported, the others are stored"
    )
    func missingKeys() throws {
        let people = try people()
        let report = try people.add(#"[{"id": null, "name": "a"}, {"name": "b"}, {"id": [1]}, {"id": 4}]"#, "Person")
        #expect(report.diagnostics.map(\.code) == [.keyMissing, .keyMissing, .keyMissing])
        #expect(report.diagnostics.map(\.path) == ["$[0]", "$[1]", "$[2]"])
        #expect(try people.fetch(Person.all).map(\.id) == [4])
    }

    // The first occurrence of a record won, and what later ones had in addition was lost.
    @Test(
        "MMRecordMarshaler +mergeDuplicateRecordResponseObjectDictionary:withExistingProtoRecord: → DuplicatePolicy: occurrences of a record are merged field by field, in any order"
    )
    func duplicates() throws {
        let stub = #"{"id": 1}"#, full = #"{"id": 1, "name": "a", "age": 3}"#, part = #"{"id": 1, "age": 4}"#
        #expect(try people("[\(stub), \(full)]").fetch(Person.all) == [Person(id: 1, name: "a", age: 3)])
        #expect(try people("[\(full), \(stub)]").fetch(Person.all) == [Person(id: 1, name: "a", age: 3)])
        #expect(try people("[\(full), \(part)]").fetch(Person.all) == [Person(id: 1, name: "a", age: 4)])
    }

    @Test(
        "MMRecord children keyed by a relationship (Counts, Source) → @Key var author: Reference<Author>: one child for each owner, which a later response updates"
    )
    func ownedChildren() throws {
        let stream = try stream(Stream.page, "[\(Stream.post(104, by: 1, followers: 7))]")
        #expect(try stream.get(Stream.Counts.self, 1)?.followers == 7)
        #expect(try stream.get(Stream.Counts.self, 2)?.followers == 1)
        let posts = try stream.store.read { try $0.fetch(Stream.Post.include(\.source, \.author.counts)) }
        #expect(posts.map { $0.1?.post.key } == [101, 102, 103, 104])
        #expect(posts.map { $0.2?.followers } == [7, 1, 7, 7])
    }

    // Each import of a flat list of such children inserted all of them again.
    @Test(
        "MMRecord flat list of children without a key → Importer.add(parent:): they are identified by the record that the list was requested for"
    )
    func flatChildren() throws {
        let stream = try stream(Stream.page)
        let json = #"[{"followers": 9, "posts": 9}]"#
        #expect(try stream.add(json, "Counts").diagnostics.map(\.code) == [.keyMissing])
        for _ in 0..<2 {
            try stream.add(json, "Counts", parent: ParentReference(relationship: "author", key: RecordKey(1)))
        }
        #expect(try stream.count("Counts") == 2)
        #expect(try stream.get(Stream.Counts.self, 1)?.followers == 9)
    }

    // Stubs were stored for unknown keys, and looked like records.
    @Test(
        "MMRecord bare ids in relationships → Reference: an id refers to a record that may come later; no stub passes for a record"
    )
    func bareIDs() throws {
        let people = try people(#"[{"id": 1, "friend": 2, "friends": [3, "4", {"id": 5, "name": "e"}, null]}]"#)
        let person = try #require(try people.get(Person.self, 1))
        #expect(person.friend?.key == 2 && person.friends?.keys == [3, 4, 5])
        #expect(try people.fetch(Person.all).map(\.id) == [1, 5])
        try people.add(#"[{"id": 2, "name": "b"}]"#, "Person")
        let found = try people.store.read { try $0.fetch(Person.where { $0.id == 1 }.include(\.friend)) }
        #expect(found.first?.1?.name == "b")
    }

    // MMRecord never cleared an attribute or a relationship.
    @Test(
        "MMRecord null and missing values → NullPolicy: null clears, a missing value keeps what is stored; nulls: .ignore keeps both, as MMRecord did"
    )
    func nulls() throws {
        let full = #"[{"id": 1, "name": "a", "age": 3, "friend": 2}]"#
        let cleared = try people(full, #"[{"id": 1, "name": null, "friend": null}]"#)
        #expect(try cleared.fetch(Person.all) == [Person(id: 1, age: 3)])
        let kept = try ImportFixture(
            entities: "Person:\n  key: id\n  nulls: ignore\n  attributes: { id: int, name: string? }")
        for name in [#""a""#, "null"] { try kept.add("[{\"id\": 1, \"name\": \(name)}]", "Person") }
        #expect(try kept.record("Person", 1)?["name"] == .string("a"))
    }

    // Lists only grew.
    @Test(
        "MMRecordMarshaler +establishRelationshipsOnProtoRecord: for a to-many relationship → ToManyPolicy: a list replaces the stored one, and [] clears it; .append adds, as MMRecord did"
    )
    func toMany() throws {
        let people = try people(#"[{"id": 1, "friends": [2, 3]}]"#, #"[{"id": 1, "friends": [3, 4]}]"#)
        #expect(try people.get(Person.self, 1)?.friends?.keys == [3, 4])
        try people.add(#"[{"id": 1, "friends": []}]"#, "Person")
        #expect(try people.get(Person.self, 1)?.friends?.keys == [])
        let appended = try ImportFixture(
            entities:
                "Person:\n  key: id\n  to_many: append\n  attributes: { id: int }\n  relationships: { friends: [Person] }"
        )
        for list in ["[2, 3]", "[3, 4]", "[]"] { try appended.add("[{\"id\": 1, \"friends\": \(list)}]", "Person") }
        #expect(try appended.related("Person", 1, "friends") == ["2", "3", "4"])
    }

    // Members that were stored already kept their old place.
    @Test(
        "MMRecord ordered relationship → @Relationship(ordered: true): the order is that of the last response"
    )
    func ordered() throws {
        let venues = try ImportFixture(Venue.self, Category.self, Photo.self)
        for names in [["bakery", "cafe"], ["cafe", "breakfast", "bakery"]] {
            try venues.add(
                #"[{"id": "v", "name": "n", "categories": [\#(names.map { #"{"id": "\#($0)", "name": "\#($0)"}"# }.joined(separator: ","))]}]"#,
                "Venue")
        }
        #expect(try venues.get(Venue.self, "v")?.categories?.keys == ["cafe", "breakfast", "bakery"])
    }

    // The category's to-one inverse was moved from venue to venue; the last one kept it.
    @Test(
        "MMRecord child that several parents share (categories of venues) → @Relationship(inverse:): every venue keeps its categories, and a category has all of its venues"
    )
    func sharedChildren() throws {
        let venues = try ImportFixture(Venue.self, Category.self, Photo.self)
        let cafe = #"{"id": "c", "name": "Cafe"}"#
        try venues.add(
            #"{"response": {"venues": [{"id": "a", "name": "A", "categories": [\#(cafe)]}, {"id": "b", "name": "B", "categories": [{"id": "d", "name": "D"}, \#(cafe)]}, {"id": "e", "name": "E", "categories": []}]}}"#,
            "Venue", records: "response.venues")
        let found = try venues.store.read { try $0.fetch(Venue.include(\.categories)) }
        #expect(found.map { $0.1.map(\.id) } == [["c"], ["d", "c"], []])
        let shared = try venues.store.read { try $0.fetch(Category.where { $0.id == "c" }.include(\.venues)) }
        #expect(shared.map { $0.1.map(\.id) } == [["a", "b"]])
    }

    @Test(
        "MMRecord relationship at a key path through groups (photos.groups.items) → JSONPath with *: the lists of all groups are one list"
    )
    func groups() throws {
        let venues = try ImportFixture(Venue.self, Category.self, Photo.self)
        try venues.add(
            #"{"id": "v", "name": "n", "location": {"lat": 59.9}, "photos": {"groups": [{"items": [{"id": "p1"}, {"id": "p2"}]}, {"items": [{"id": "p3"}]}]}}"#,
            "Venue")
        let venue = try #require(try venues.get(Venue.self, "v"))
        #expect(venue.photos?.keys == ["p1", "p2", "p3"] && venue.latitude == 59.9)
    }

    // A back reference made a second record, and records that refer to each other never ended.
    @Test(
        "MMRecord records that refer to an ancestor, to themselves or to each other → Importer: each is one record, at any depth"
    )
    func cycles() throws {
        let people = try people(
            #"""
            [{"id": 1, "name": "a", "friends": [{"id": 2, "friend": {"id": 1, "age": 5}}]},
             {"id": 3, "friend": {"id": 3, "name": "self"}}, {"id": 2, "friends": [{"id": 1}]}]
            """#)
        #expect(
            try people.fetch(Person.all) == [
                Person(id: 1, name: "a", age: 5, friends: References([2])),
                Person(id: 2, friend: Reference(1), friends: References([1])),
                Person(id: 3, name: "self", friend: Reference(3)),
            ])
    }

    @Test("MMRecord chain of nested records → Importer: a chain of 400 records is imported, one level at a time")
    func deepChain() throws {
        var json = #"{"id": 400}"#
        for id in (1..<400).reversed() { json = #"{"id": \#(id), "friend": \#(json)}"# }
        #expect(try people(json).count("Person") == 400)
    }

    // "abc" became 0, a large number was cut to 32 bits, and a fraction raised an exception.
    @Test(
        "MMRecordMarshaler coercion of numbers, texts and booleans → ImportValues: a value that does not fit is reported and changes nothing; none becomes 0"
    )
    func coercion() throws {
        let typed = try ImportFixture(Typed.self)
        try typed.add(
            #"[{"id": 1, "number": "9007199254740993", "ratio": "2.5", "flag": "true", "text": 7, "at": "2026-01-02T03:04:05Z"}]"#,
            "Typed")
        let first = try #require(try typed.get(Typed.self, 1))
        #expect(first.number == 9_007_199_254_740_993 && first.ratio == 2.5 && first.flag == true && first.text == "7")
        let report = try typed.add(
            #"[{"id": 1, "number": "12px", "ratio": "abc", "flag": "Y", "text": {}, "at": "yesterday"}]"#, "Typed")
        #expect(report.diagnostics.map(\.code) == Array(repeating: .valueType, count: 5))
        #expect(Set(report.diagnostics.compactMap(\.field)) == ["number", "ratio", "flag", "text", "at"])
        #expect(try typed.get(Typed.self, 1) == first)
    }

    // Only seconds were known, and their fraction was cut off.
    @Test(
        "MMRecord dates from texts and timestamps → DateFormat: RFC 3339, units since 1970 or patterns; what is no date is reported"
    )
    func dates() throws {
        let dates = try ImportFixture(
            entities: """
                At:
                  key: id
                  attributes:
                    id: int
                    a: { type: date?, format: seconds }
                    b: { type: date?, format: milliseconds }
                    c: { type: date?, format: ['dd/MM/yyyy', http] }
                """)
        let report = try dates.add(
            #"[{"id": 1, "a": 60.5, "b": 1700000000123, "c": "02/01/1970"}, {"id": 2, "a": "soon", "c": "Sat, 21 Nov 2026 02:19:00 GMT"}]"#,
            "At")
        let first = try #require(try dates.record("At", 1))
        #expect(first["a"] == .date(Timestamp(microseconds: 60_500_000)))
        #expect(first["b"] == .date(Timestamp(microseconds: 1_700_000_000_123_000)))
        #expect(first["c"] == .date(Timestamp(microseconds: 86_400_000_000)))
        #expect(try dates.record("At", 2)?["c"] == Timestamp("2026-11-21T02:19:00Z").map(Value.date))
        #expect(report.diagnostics.map(\.path) == ["$[1].a"])
    }

    // Records were populated in the order of a set.
    @Test("MMRecord order of the result → forge.all(_:): that of the response, whatever the keys are")
    func order() async throws {
        let api = try APIFixture(["/people": #"[{"id": 3}, {"id": 1}, {"id": 2}, {"id": 3}]"#]) {
            try RecordClient(base: $0, records: Person.self, store: $1)
        }
        let people = try await api.client.all(RecordRequest<Person>.get("/people"))
        #expect(people.map(\.id).prefix(3) == [3, 1, 2])
    }
}
