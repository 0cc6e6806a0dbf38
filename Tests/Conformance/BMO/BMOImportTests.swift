// The representations and the importer of BMO.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From BMO: representations and importer")
struct BMOImportTests {
    @Record struct Me: Equatable {
        @Key @Attribute(from: .constant(.string("me"))) var id: String
        var name: String
    }

    @Record struct Event: Equatable {
        @Key @Attribute(from: "Event/{id}") var key: String
        var title: String?
    }

    private func photos(_ policy: String = "replace") throws -> ImportFixture {
        try ImportFixture(
            entities: """
                Photo:
                  key: id
                  attributes: { id: int, title: string? }
                  relationships: { tags: { to: [Tag], ordered: true, to_many: \(policy) }, owner: User }
                Tag: { key: id, attributes: { id: int, name: string? } }
                User: { key: id, attributes: { id: int, name: string? } }
                """)
    }

    @Test(
        "BMO MixedRepresentation.attributes (absent, null, value) → Importer: absent keeps, null clears, a value sets"
    )
    func threeStates() throws {
        let photos = try photos()
        for json in [#"{"id": 1, "title": "a", "owner": 5}"#, #"{"id": 1, "owner": null}"#] {
            try photos.add(json, "Photo")
        }
        #expect(try photos.record("Photo", 1)?["title"] == .string("a"))
        #expect(try photos.record("Photo", 1)?["owner"] == .null)
        try photos.add(#"{"id": 1, "title": null}"#, "Photo")
        #expect(try photos.record("Photo", 1)?["title"] == .null)
    }

    @Test(
        "BMO Bridge.relationshipMergeType(forRelationshipNamed:inEntity:currentMixedRepresentation:) → ToManyPolicy: .replace, .append, and .prepend for .insertAtBeginning; the order is kept",
        arguments: [
            ("replace", ["3", "2"]), ("append", ["1", "2", "3"]), ("prepend", ["3", "1", "2"]),
            ("patch", ["1", "2", "3"]),
        ])
    func mergeTypes(_ policy: String, _ expected: [String]) throws {
        let photos = try photos(policy)
        let first = policy == "patch" ? "[1, 2]" : "[1, 2]", second = policy == "patch" ? "[2, 3]" : "[3, 2]"
        for list in [first, second] { try photos.add(#"{"id": 1, "tags": \#(list)}"#, "Photo") }
        #expect(try photos.related("Photo", 1, "tags") == expected)
    }

    @Test(
        "BMO relationshipMergeType .custom(mergeHandler:) → ImportHooks.afterMerge: code that completes the merge, in the same transaction"
    )
    func customMerge() throws {
        var photos = try photos()
        try photos.add(#"{"id": 1, "tags": [1, 2]}"#, "Photo")
        photos.hooks.afterMerge = { _, writer in
            _ = try writer.update(Query("Photo"), set: ["title": .string("merged")])
        }
        try photos.add(#"{"id": 2, "tags": []}"#, "Photo")
        #expect(try photos.record("Photo", 1)?["title"] == .string("merged"))
        #expect(try photos.related("Photo", 1, "tags") == ["1", "2"])
    }

    // Any other value of a relationship was ignored without a word.
    @Test(
        "BMO relationship value that is neither a dictionary, an array nor null → Diagnostic.Code.relationshipType: it is reported, and the stored value is kept"
    )
    func wrongRelationship() throws {
        let photos = try photos()
        try photos.add(#"{"id": 1, "owner": 5}"#, "Photo")
        let report = try photos.add(#"{"id": 1, "owner": [5, 6], "tags": true}"#, "Photo")
        #expect(Set(report.diagnostics.map(\.code)) == [.relationshipType])
        #expect(try photos.record("Photo", 1)?["owner"] == .reference(RecordKey(5)))
    }

    // Fixed there in 2018; another bug of that kind stayed for kinds of one entity.
    @Test(
        "BMO importer that meets one uniquing id twice in a response → Importer: one record, with the values of both"
    )
    func twice() throws {
        let photos = try photos()
        let report = try photos.add(
            #"[{"id": 1, "title": "a"}, {"id": 2, "owner": {"id": 5, "name": "Ida"}}, {"id": 1, "owner": {"id": "5"}}]"#,
            "Photo")
        #expect(report.entities["Photo"]?.created == 2 && report.entities["User"]?.created == 1)
        #expect(try photos.record("Photo", 1)?["title"] == .string("a"))
        #expect(try photos.record("Photo", 1)?["owner"] == .reference(RecordKey(5)))
    }

    @Test(
        "BMO importer that meets one id as an entity and as its sub-entity → EntityDefinition.parent: kinds share the keys of their parent, so it is one record"
    )
    func oneKeyPerTree() throws {
        let media = try ImportFixture(
            entities: """
                Media: { key: id, attributes: { id: int, title: string? }, kinds: { Video: { seconds: '*' } } }
                Video: { parent: Media, attributes: { seconds: int? } }
                """)
        try media.add(#"[{"id": 1, "title": "a"}, {"id": 1, "seconds": 9}]"#, "Media")
        #expect(try media.count("Media") == 1)
        let record = try #require(try media.record("Media", 1))
        #expect(record.entity == "Video" && record["title"] == .string("a") && record["seconds"] == .int(9))
    }

    // Records without an id were inserted anew with each import.
    @Test(
        "BMO importer that meets a representation without a uniquing id → Diagnostic.Code.keyMissing: skipped and reported, so that no import makes copies"
    )
    func withoutID() throws {
        let photos = try photos()
        for _ in 0..<2 {
            let report = try photos.add(#"[{"title": "x"}]"#, "Photo")
            #expect(report.skipped == 1 && report.diagnostics.map(\.code) == [.keyMissing])
        }
        #expect(try photos.count("Photo") == 0)
    }

    @Test(
        "BMO .uniquingPropertyName(nil) (a singleton) → @Key @Attribute(from: .constant(_:)): every response is about the one record"
    )
    func singleton() throws {
        let me = try ImportFixture(Me.self)
        for name in ["a", "b"] { try me.add(#"{"name": "\#(name)"}"#, "Me") }
        #expect(try me.fetch(Me.all) == [Me(id: "me", name: "b")])
    }

    @Test(
        "BMO .entityPrefixedUniquingPropertyName → @Key @Attribute(from:) with a template: a key is composed of texts and values"
    )
    func prefixedKey() throws {
        let events = try ImportFixture(Event.self)
        try events.add(#"[{"id": 7, "title": "x"}, {"id": "7"}]"#, "Event")
        #expect(try events.fetch(Event.all) == [Event(key: "Event/7", title: "x")])
    }

    @Test(
        "BMO Bridge.remoteObjectRepresentations(fromRemoteRelationshipAndMetadataRepresentation:userInfo:) and metadata(fromRemoteRelationshipAndMetadataRepresentation:userInfo:) → @Relationship(from:): the list of a relationship at a path, with values beside it as attributes"
    )
    func relationshipEnvelope() throws {
        let albums = try ImportFixture(
            entities: """
                Album:
                  key: id
                  attributes: { id: int, nextPhotos: { type: string?, from: photos.next } }
                  relationships: { photos: { to: [Photo], from: photos.items, ordered: true } }
                Photo: { key: id, attributes: { id: int } }
                """)
        try albums.add(#"{"id": 1, "photos": {"items": [{"id": 3}, {"id": 2}], "next": "abc"}}"#, "Album")
        #expect(try albums.related("Album", 1, "photos") == ["3", "2"])
        #expect(try albums.record("Album", 1)?["nextPhotos"] == .string("abc"))
    }

    @Test(
        "BMO db.rollback() after a failed import → Store.write: an import is one transaction; what fails before its end leaves nothing"
    )
    func rollback() throws {
        let photos = try photos()
        #expect(throws: ImportError.self) { try photos.add(#"[{"id": 1}, {"id": 2"#, "Photo") }
        #expect(try photos.count("Photo") == 0)
    }
}
