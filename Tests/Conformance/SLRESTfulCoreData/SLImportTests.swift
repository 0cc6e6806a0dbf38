// The updates of managed objects and of their relationships in SLRESTfulCoreData.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From SLRESTfulCoreData: objects and relationships")
struct SLImportTests {
    @Record struct Parent: Equatable {
        @Key var id: Int
        var name: String?
        @Attribute(from: "info.city") var city: String?
        @Relationship(inverse: "guardian") var children = Inverse<Child>()
        @Relationship(from: "favourite_id", "favourite") var favourite: Reference<Child>?
    }

    @Record struct Child: Equatable {
        @Key @Attribute(from: "unique_str") var key: String
        var name: String?
        @Relationship(from: "parent", "parent_id", inverse: "children") var guardian: Reference<Parent>?
    }

    private func family(_ documents: String...) throws -> ImportFixture {
        let family = try ImportFixture(Parent.self, Child.self)
        for document in documents { try family.add(document, "Parent") }
        return family
    }

    @Test(
        "SLRESTfulCoreData +updatedObjectWithRawJSONDictionary:inManagedObjectContext: → Importer.add(_:entity:): creates the record, and updates it the next time"
    )
    func update() throws {
        let family = try family(#"{"id": 1, "name": "a"}"#, #"{"id": "1", "name": "b"}"#)
        #expect(try family.fetch(Parent.all) == [Parent(id: 1, name: "b")])
    }

    @Test(
        "SLRESTfulCoreData -updateWithRawJSONDictionary: (to override) → ImportHooks.beforeDraft: sees and changes the JSON of each record"
    )
    func override() throws {
        var family = try family()
        family.hooks.beforeDraft = { entity, json in
            json["name"] = .string("\(entity) \(json["id"]?.text ?? "")")
            return true
        }
        try family.add(#"{"id": 1}"#, "Parent")
        #expect(try family.get(Parent.self, 1)?.name == "Parent 1")
    }

    @Test(
        "SLRESTfulCoreData key that is missing, or null → Importer: a missing one keeps the value, null clears it, also at a key path"
    )
    func nullAndMissing() throws {
        let family = try family(#"{"id": 1, "name": "a", "info": {"city": "c"}}"#, #"{"id": 1, "info": {}}"#)
        #expect(try family.get(Parent.self, 1) == Parent(id: 1, name: "a", city: "c"))
        try family.add(#"{"id": 1, "name": null, "info": {"city": null}}"#, "Parent")
        #expect(try family.get(Parent.self, 1) == Parent(id: 1))
    }

    @Test("SLRESTfulCoreData dictionary without an identifier → Diagnostic.Code.keyMissing: skipped and reported")
    func withoutIdentifier() throws {
        let family = try family()
        #expect(try family.add(#"{"name": "a"}"#, "Parent").diagnostics.map(\.code) == [.keyMissing])
        #expect(try family.add(#"{"id": {}}"#, "Parent").skipped == 1)
    }

    @Test(
        "SLRESTfulCoreData +registerUniqueIdentifierOfJSONObjects: → @Key @Attribute(from:): a key of any name and type"
    )
    func otherIdentifier() throws {
        let family = try family(#"{"id": 1, "children": [{"unique_str": "a*"}, {"unique_str": "ab"}]}"#)
        // Texts were compared with LIKE, so that * in a key met other records.
        #expect(try family.get(Child.self, "a*")?.key == "a*")
        #expect(try family.fetch(Child.all).count == 2)
    }

    @Test(
        "SLRESTfulCoreData relationship with <name>_id → @Relationship(from: \"parent_id\"): an id in place of an object"
    )
    func identifiers() throws {
        let family = try family(#"{"id": 1, "favourite_id": "x"}"#)
        try family.add(
            #"[{"unique_str": "x", "parent_id": "1"}, {"unique_str": "y", "parent": {"id": 2, "name": "p"}}]"#, "Child")
        let children = try family.store.read { try $0.fetch(Child.include(\.guardian)) }
        #expect(children.map { $0.1?.id } == [1, 2] && children.last?.1?.name == "p")
        #expect(try family.get(Parent.self, 1)?.favourite?.key == "x")
    }

    @Test(
        "SLRESTfulCoreData relationships with <name>_id everywhere → NamingConvention(referenceSuffixes:): declared once for an API, for one or for several ids"
    )
    func identifiersByName() throws {
        let names = try ImportFixture(Author.self, Book.self, naming: NamingConvention(referenceSuffixes: ["_id"]))
        try names.add(#"[{"id": 1, "author_id": 7, "editor_ids": ["8", 9]}, {"id": 2, "author": {"id": 7}}]"#, "Book")
        #expect(try names.fetch(Book.all).map(\.author?.key) == [7, 7])
        #expect(try names.get(Book.self, 1)?.editors?.keys == [8, 9])
        try names.add(#"{"id": 1, "author_id": null}"#, "Book")
        #expect(try names.get(Book.self, 1)?.author == nil)
    }

    @Record struct Book: Equatable {
        @Key var id: Int
        var author: Reference<Author>?
        var editors: References<Author>?
    }

    @Record struct Author: Equatable {
        @Key var id: Int
    }

    // It needed an attribute parentIdentifier, and a search of all rows.
    @Test(
        "SLRESTfulCoreData relationship to an object that comes later (ManyToOne…IfAnIdentifierIsStored) → Reference: it resolves when the target is stored, from any response"
    )
    func lateBinding() throws {
        let family = try family()
        try family.add(#"[{"unique_str": "x", "parent_id": 7}]"#, "Child")
        let query = Child.where { $0.key == "x" }.include(\.guardian)
        #expect(try family.store.read { try $0.fetch(query) }.first?.1 == nil)
        try family.add(#"{"id": 7, "name": "late"}"#, "Parent")
        #expect(try family.store.read { try $0.fetch(query) }.first?.1?.name == "late")
        #expect(try family.related("Parent", 7, "children") == ["x"])
    }

    // Null left the relationship as it was.
    @Test("SLRESTfulCoreData relationship that is null → Importer: it is cleared")
    func nullRelationship() throws {
        let family = try family(#"{"id": 1, "favourite_id": "x"}"#, #"{"id": 1, "favourite_id": null}"#)
        #expect(try family.get(Parent.self, 1)?.favourite == nil)
    }

    // The members that were missing in the list were deleted, and the context was saved in between.
    @Test(
        "SLRESTfulCoreData -updateObjectsForRelationship:withJSONObject:fromURL:deleteEveryOtherObject:error: → a list of a relationship: replaces the members; those that are missing are unlinked and stay"
    )
    func toMany() throws {
        let family = try family(
            #"{"id": 1, "children": [{"unique_str": "a"}, {"unique_str": "b"}]}"#,
            #"{"id": 1, "children": [{"unique_str": "b"}, {"unique_str": "c"}]}"#)
        #expect(try family.related("Parent", 1, "children") == ["b", "c"])
        #expect(try family.get(Child.self, "a") == Child(key: "a"))
    }

    @Test(
        "SLRESTfulCoreData relationshipUpdateLevel 0 → ImportHooks.beforeDraft: a relationship whose JSON is left out stays as it is"
    )
    func updateLevel() throws {
        var family = try family(#"{"id": 1, "children": [{"unique_str": "a"}]}"#)
        family.hooks.beforeDraft = { _, json in
            json["children"] = nil
            return true
        }
        try family.add(#"{"id": 1, "name": "n", "children": [{"unique_str": "b"}]}"#, "Parent")
        #expect(try family.related("Parent", 1, "children") == ["a"] && family.get(Parent.self, 1)?.name == "n")
        #expect(try family.count("Child") == 1)
    }

    @Test(
        "SLRESTfulCoreData checksAttributesForEqualityBeforeAssigning → Importer: an unchanged record is not written, and its observers hear nothing"
    )
    func unchanged() throws {
        let family = try family(#"{"id": 1, "name": "a"}"#)
        let token = try family.store.read { try $0.changeToken }
        #expect(try family.add(#"{"id": 1, "name": "a"}"#, "Parent").unchanged == 1)
        #expect(try family.store.read { try $0.changes(since: token) }.changes.isEmpty)
    }

    @Test(
        "SLRESTfulCoreData +objectWithRemoteIdentifier:inManagedObjectContext: → StoreReader.get(_:_:): by one key, or by several"
    )
    func lookUp() throws {
        let family = try family(#"[{"id": 1}, {"id": 2}]"#)
        let (one, several) = try family.store.read { (try $0.get(Parent.self, 2), try $0.get(Parent.self, [2, 9, 1])) }
        #expect(one?.id == 2 && several.map { $0?.id } == [2, nil, 1])
    }

    @Test(
        "SLRESTfulCoreDataObjectCache → StoreReader: every read is a snapshot; a deleted record is gone in the next one"
    )
    func objectCache() throws {
        let family = try family(#"{"id": 1}"#)
        #expect(try family.get(Parent.self, 1) != nil)
        _ = try family.store.delete("Parent", RecordKey(1))
        #expect(try family.get(Parent.self, 1) == nil)
    }

    // A failure in the middle of a list left its beginning in the context.
    @Test(
        "SLRESTfulCoreData list with an element that is no dictionary → Importer: the element is reported, all others are one change"
    )
    func mixedList() throws {
        let family = try family()
        let report = try family.add(#"[{"id": 1}, 7, "x", {"id": 2}]"#, "Parent")
        #expect(try family.fetch(Parent.all).map(\.id) == [1, 2] && report.skipped == 2)
    }
}
