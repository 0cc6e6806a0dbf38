// The object mappings of RestKit.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From RestKit: mappings")
struct RKMappingTests {
    @Record struct Article: Equatable {
        @Key var articleID: Int
        @Attribute(from: "headline") var title: String?
        @Attribute(from: "author.name", "authors[0].name") var authorName: String?
        @Attribute(from: "@root.meta.section") var section: String?
        @Attribute(from: "@header.X-Request-Id") var request: String?
        @Attribute(from: "@param.list") var list: String?
        @Attribute(from: "@position") var place: Int?
    }

    @Record struct Membership: Equatable {
        @Key var teamID: Int
        @Key var userID: Int
        var role: String?
    }

    @Record struct Versioned: Equatable {
        @Key var id: Int
        var revision: Int
        var text: String
        var children: References<Part>?

        static func configure(_ mapping: inout EntityMapping) {
            mapping.version = "revision"
            mapping.tombstone = TombstoneRule(path: "deleted")
        }
    }

    @Record struct Part: Equatable {
        @Key var id: Int
        var text: String?
    }

    @Record struct Person: Equatable {
        @Key var id: Int
        @Attribute(from: "@memberName") var name: String
    }

    @Record struct Account: Equatable {
        @Key @Attribute(from: "@memberName") var name: String
        var age: Int?
    }

    @Test(
        "RKObjectMapping -addAttributeMappingsFromDictionary: and -addAttributeMappingsFromArray: → @Attribute(from:), or the property's name: keys and key paths"
    )
    func attributes() throws {
        let articles = try ImportFixture(Article.self)
        try articles.add(
            #"[{"article_id": 1, "headline": "a", "author": {"name": "x"}}, {"articleID": 2, "authors": [{"name": "y"}]}]"#,
            "Article")
        let found = try articles.fetch(Article.all)
        #expect(found.map(\.title) == ["a", nil] && found.map(\.authorName) == ["x", "y"])
    }

    @Test(
        "RestKit @metadata.HTTP.response.headers, @metadata.routing.parameters, @metadata.mapping.collectionIndex, @root → @header, @param, @position, @root: values from around the record"
    )
    func metadataSources() throws {
        let articles = try ImportFixture(Article.self)
        try articles.add(
            #"{"meta": {"section": "news"}, "items": [{"article_id": 7}, {"article_id": 8}]}"#, "Article",
            records: "items",
            context: ImportContext(headers: [("X-Request-Id", "r1")], parameters: ["list": "top"]))
        #expect(
            try articles.get(Article.self, 8)
                == Article(articleID: 8, section: "news", request: "r1", list: "top", place: 1))
    }

    @Test("RestKit @parent in a key path → @parent: a value of the enclosing object")
    func parents() throws {
        let posts = try ImportFixture(
            entities: """
                Post: { key: id, attributes: { id: int }, relationships: { comments: [Comment] } }
                Comment: { key: id, attributes: { id: int, postTitle: { type: string?, from: '@parent.title' } } }
                """)
        try posts.add(#"{"id": 1, "title": "t", "comments": [{"id": 2}]}"#, "Post")
        #expect(try posts.record("Comment", 2)?["postTitle"] == .string("t"))
    }

    // Composed keys and keys from a parent made copies with each import.
    @Test("RKEntityMapping identificationAttributes (several) → several @Key: a composite key, with a type of its own")
    func compoundIdentification() throws {
        let members = try ImportFixture(Membership.self)
        for role in ["a", "b"] {
            try members.add(
                #"[{"team_id": 1, "user_id": "2", "role": "\#(role)"}, {"team_id": 2, "user_id": 1}]"#, "Membership")
        }
        #expect(try members.fetch(Membership.all).map(\.role) == ["b", nil])
        #expect(try members.get(Membership.self, Membership.Key(teamID: 1, userID: 2))?.role == "b")
    }

    @Test(
        "RestKit identification attributes with duplicates in one payload → Importer: repeated objects are one record")
    func repeatedObjects() throws {
        let parts = try ImportFixture(Versioned.self, Part.self)
        try parts.add(
            #"[{"id": 1, "revision": 1, "text": "a", "children": [{"id": 5}, {"id": 5, "text": "x"}]}, {"id": 2, "revision": 1, "text": "b", "children": [{"id": 5}]}]"#,
            "Versioned")
        #expect(try parts.fetch(Part.all) == [Part(id: 5, text: "x")])
        #expect(try parts.get(Versioned.self, 1)?.children?.keys == [5])
    }

    // An unchanged parent hid the changes of its children.
    @Test(
        "RKEntityMapping modificationAttribute and shouldMapRelationshipsIfObjectIsUnmodified → EntityMapping.version: an older record changes nothing; its children are imported all the same"
    )
    func modification() throws {
        let records = try ImportFixture(Versioned.self, Part.self)
        try records.add(#"{"id": 1, "revision": 3, "text": "new"}"#, "Versioned")
        try records.add(
            #"{"id": 1, "revision": 2, "text": "old", "children": [{"id": 9, "text": "part"}]}"#, "Versioned")
        #expect(try records.get(Versioned.self, 1) == Versioned(id: 1, revision: 3, text: "new"))
        #expect(try records.get(Part.self, 9)?.text == "part")
    }

    @Test(
        "RKEntityMapping deletionPredicate (tombstones) → EntityMapping.tombstone: a record that the response marks as deleted is deleted"
    )
    func tombstones() throws {
        let records = try ImportFixture(Versioned.self, Part.self)
        try records.add(#"[{"id": 1, "revision": 1, "text": "a"}, {"id": 2, "revision": 1, "text": "b"}]"#, "Versioned")
        let report = try records.add(
            #"[{"id": 1, "deleted": true}, {"id": 2, "revision": 2, "text": "b", "deleted": false}]"#, "Versioned")
        #expect(report.deleted == 1)
        #expect(try records.fetch(Versioned.all).map(\.id) == [2])
    }

    @Test(
        "RKEntityMapping discardsInvalidObjectsOnInsert → KeylessPolicy: a record that cannot be stored is skipped and reported, or fails the unit"
    )
    func invalidObjects() throws {
        let records = try ImportFixture(
            entities: "A: { key: id, keyless: fail, attributes: { id: int } }\nB: { key: id, attributes: { id: int } }")
        #expect(throws: ImportError.self) { try records.add(#"[{"id": 1}, {}]"#, "A") }
        #expect(try records.add(#"[{"id": 1}, {}]"#, "B").skipped == 1)
        #expect(try records.count("A") == 0 && records.count("B") == 1)
    }

    @Test(
        "RKObjectMapping assignsDefaultValueForMissingAttributes and assignsNilForMissingRelationships → `AbsentPolicy`, `absent: { value: }`, `default`: what a missing value means is declared"
    )
    func missingValues() throws {
        let records = try ImportFixture(
            entities: """
                A:
                  key: id
                  absent: clear
                  attributes: { id: int, a: int?, b: { type: int, absent: { value: 0 } }, c: { type: int, default: 7 }, d: { type: int?, absent: keep } }
                  relationships: { other: A }
                """)
        try records.add(#"{"id": 1, "a": 1, "b": 2, "c": 3, "d": 4, "other": 5}"#, "A")
        try records.add(#"[{"id": 1}, {"id": 2}]"#, "A")
        let first = try #require(try records.record("A", 1))
        #expect(first["a"] ?? .null == .null && first["b"] == .int(0) && first["c"] == .int(3) && first["d"] == .int(4))
        #expect(first["other"] ?? .null == .null)
        #expect(try records.record("A", 2)?["c"] == .int(7))
    }

    @Test(
        "RKRelationshipMapping assignmentPolicy (Set, Replace, Union) → ToManyPolicy: .replace, or .append for a union; the survivors of a replacement stay as they are",
        arguments: [("replace", ["2", "3"]), ("append", ["1", "2", "3"])])
    func assignmentPolicies(_ policy: String, _ expected: [String]) throws {
        let lists = try ImportFixture(
            entities: """
                List: { key: id, attributes: { id: int }, relationships: { items: { to: [Item], to_many: \(policy) } } }
                Item: { key: id, attributes: { id: int, text: string? } }
                """)
        try lists.add(#"{"id": 1, "items": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}"#, "List")
        try lists.add(#"{"id": 1, "items": [{"id": 2}, {"id": 3}]}"#, "List")
        #expect(try lists.related("List", 1, "items") == expected)
        #expect(try lists.record("Item", 2)?["text"] == .string("b") && lists.count("Item") == 3)
    }

    @Test(
        "RKRelationshipMapping -relationshipMappingFromKeyPath:toKeyPath:withMapping: with null or an ordered set → @Relationship(from:ordered:): the order of the response; null clears"
    )
    func relationships() throws {
        let lists = try ImportFixture(
            entities: """
                List: { key: id, attributes: { id: int }, relationships: { items: { to: [Item], from: content.items, ordered: true } } }
                Item: { key: id, attributes: { id: int } }
                """)
        for (json, expected) in [("[3, 1, 2]", ["3", "1", "2"]), ("[2, 3]", ["2", "3"]), ("null", [])] {
            try lists.add(#"{"id": 1, "content": {"items": \#(json)}}"#, "List")
            #expect(try lists.related("List", 1, "items") == expected)
        }
    }

    @Test(
        "RKDynamicMapping and RKObjectMappingMatcher (key path, value map, predicate, block) → EntityChoice: conditions and code, in their order"
    )
    func dynamicMapping() throws {
        let animals = try ImportFixture(
            entities: """
                Animal:
                  key: id
                  attributes: { id: int, type: string? }
                  kinds: { Cat: { type: [cat, kitten] }, Dog: { 'traits.barks': 'true' }, Bird: { wings: '>= 2' } }
                  otherwise: skip
                Cat: { parent: Animal }
                Dog: { parent: Animal }
                Bird: { parent: Animal }
                """)
        let report = try animals.add(
            #"[{"id": 1, "type": "kitten"}, {"id": 2, "traits": {"barks": true}}, {"id": 3, "wings": 2}, {"id": 4}]"#,
            "Animal")
        #expect(try (1...3).map { try animals.record("Animal", Int64($0))?.entity } == ["Cat", "Dog", "Bird"])
        #expect(report.diagnostics.map(\.code) == [.entityUnknown])
    }

    @Test(
        "RKObjectMapping valueTransformer and RKDateFormatters → FieldRules(transformers:dates:): per attribute, with those of the API behind them"
    )
    func valueTransformers() throws {
        let records = try ImportFixture(
            entities:
                "A: { key: id, attributes: { id: int, at: { type: date?, format: [milliseconds, day] }, text: { type: string?, transform: [trim, uppercased] } } }"
        )
        try records.add(#"[{"id": 1, "at": 60000, "text": " a "}, {"id": 2, "at": "1970-01-02"}]"#, "A")
        #expect(try records.record("A", 1)?["at"] == .date(Timestamp(microseconds: 60_000_000)))
        #expect(try records.record("A", 1)?["text"] == .string("A"))
        #expect(try records.record("A", 2)?["at"] == .date(Timestamp(microseconds: 86_400_000_000)))
    }

    @Test(
        "RKPropertyMapping whose value cannot be transformed (testThatDate…CausesSkipPropertyMapping) → Diagnostic.Code.valueType: the property is skipped, reported, and keeps its value"
    )
    func skippedProperties() throws {
        let parts = try ImportFixture(Versioned.self, Part.self)
        try parts.add(#"{"id": 1, "text": "a"}"#, "Part")
        #expect(try parts.add(#"{"id": 1, "text": [1]}"#, "Part").diagnostics.map(\.path) == ["$.text"])
        #expect(try parts.get(Part.self, 1)?.text == "a")
    }

    @Test(
        "RKObjectMapping -addAttributeMappingFromKeyOfRepresentationToAttribute: and {name}.id → @Attribute(from: \"@memberName\"), a path with *: an object whose keys are values is a map of records"
    )
    func keysAsValues() throws {
        let people = try ImportFixture(Person.self)
        try people.add(#"[{"ida": {"id": 4}}, {"blake": {"id": 5}}]"#, "Person", records: "*.*")
        #expect(try people.fetch(Person.all) == [Person(id: 4, name: "ida"), Person(id: 5, name: "blake")])
        let byName = try ImportFixture(Account.self)
        try byName.add(#"{"accounts": {"ida": {"age": 4}, "blake": {"age": 5}}}"#, "Account", records: "accounts.*")
        #expect(try byName.fetch(Account.all) == [Account(name: "blake", age: 5), Account(name: "ida", age: 4)])
    }

    @Test(
        "RKMappingTest (a fixture, a mapping, expectations) → Importer with a store in a folder: a test imports JSON and reads the records and the report"
    )
    func mappingTest() throws {
        let parts = try ImportFixture(Versioned.self, Part.self)
        let report = try parts.add(#"{"id": 1, "text": "a", "new": 1}"#, "Part")
        #expect(report.created == 1 && report.unmapped.map(\.path) == ["new"])
    }

    @Test(
        "RKManagedObjectImporter -importObjectsFromItemAtPath:withMapping:keyPath: (seed data) → Importer.add(_:entity:): thousands of records of a file, as one change"
    )
    func seeding() throws {
        let parts = try ImportFixture(Versioned.self, Part.self)
        let json = "[" + (1...5000).map { #"{"id": \#($0), "text": "seed"}"# }.joined(separator: ",") + "]"
        let report = try parts.add(json, "Part")
        #expect(report.created == 5000)
        #expect(try parts.count("Part") == 5000)
    }
}
