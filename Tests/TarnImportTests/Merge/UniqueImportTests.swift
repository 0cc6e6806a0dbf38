// Records with values that must be unique: one of them is stored, the others are reported, the rest
// of the unit stays.

import Foundation
import TarnStore
import Testing

@testable import TarnImport

@Suite("Import of unique values")
struct UniqueImportTests {
    private func store() throws -> TestStore {
        try TestStore(
            Schema([
                EntityDefinition(
                    "User", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int),
                        AttributeDefinition("login", .string, optional: true, unique: true),
                        AttributeDefinition("name", .string, optional: true),
                    ]),
                EntityDefinition(
                    "Post", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                    relationships: [RelationshipDefinition("author", to: "User", inverse: "posts")]),
            ]))
    }

    @Test("a record with a value of one that is stored is left out, reported with both keys, and counted as skipped")
    func againstStored() throws {
        let test = try store()
        try test.take(#"[{"id": 1, "login": "ada"}]"#, "User")
        let report = try test.take(#"[{"id": 2, "login": "ada"}, {"id": 3, "login": "bob"}]"#, "User")
        #expect(try test.record("User", 2) == nil)
        #expect(try test.value("User", 3, "login") == .string("bob"))
        #expect(report.entities["User"] == ImportReport.Counts(created: 1, skipped: 1))
        #expect(report.skipped == 1)
        #expect(report.dropped.map(\.storageKey) == [[0x15, 2]])
        let diagnostic = try #require(report.diagnostics.first)
        #expect(diagnostic.code == .notUnique)
        #expect(diagnostic.key == "2")
        #expect(diagnostic.field == "login")
        #expect(diagnostic.message.contains("User 1 has the same login"))
    }

    @Test("of two new records with the same value the first in the order of keys is stored")
    func amongNew() throws {
        let test = try store()
        let report = try test.take(
            #"[{"id": 9, "login": "ada"}, {"id": 4, "login": "ada"}, {"id": 5, "login": "ada"}]"#, "User")
        #expect(try test.count("User") == 1)
        #expect(try test.value("User", 4, "login") == .string("ada"))
        #expect(report.diagnosticCount == 2)
        #expect(report.entities["User"] == ImportReport.Counts(created: 1, skipped: 2))
    }

    @Test(
        "an update that takes another record's value is undone as a whole: fields and version stay as they were, and nothing counts as changed"
    )
    func update() throws {
        let test = try store()
        try test.take(#"[{"id": 1, "login": "ada", "name": "A"}, {"id": 2, "login": "bob", "name": "B"}]"#, "User")
        let before = try #require(try test.record("User", 2))
        let sequence = try test.sequence
        let report = try test.take(#"[{"id": 2, "login": "ada", "name": "C"}]"#, "User")
        #expect(try test.record("User", 2) == before)
        #expect(report.entities["User"]?.total ?? 0 == 0)
        #expect(report.dropped.isEmpty)
        #expect(report.skipped == 1)
        // Nothing is left of the unit: it counts as no change.
        #expect(try test.sequence == sequence)
    }

    @Test("values that are exchanged within a unit are fine")
    func exchange() throws {
        let test = try store()
        try test.take(#"[{"id": 1, "login": "ada"}, {"id": 2, "login": "bob"}]"#, "User")
        let report = try test.take(#"[{"id": 1, "login": "bob"}, {"id": 2, "login": "ada"}]"#, "User")
        #expect(report.diagnostics.isEmpty)
        #expect(try test.value("User", 1, "login") == .string("bob"))
    }

    @Test(
        "a record that is undone may free nothing: what took its old value is undone too, until the store is as consistent as before"
    )
    func chain() throws {
        let test = try store()
        try test.take(#"[{"id": 1, "login": "a"}, {"id": 2, "login": "b"}, {"id": 3, "login": "c"}]"#, "User")
        // 2 takes 1's value and may not; so 3 may not have b.
        let report = try test.take(#"[{"id": 2, "login": "a"}, {"id": 3, "login": "b"}]"#, "User")
        #expect(report.diagnosticCount == 2)
        for (id, login) in [(1, "a"), (2, "b"), (3, "c")] {
            #expect(try test.value("User", Int64(id), "login") == .string(login))
        }
    }

    @Test("a nested record that is left out leaves a missing target, and its parent stays")
    func nested() throws {
        let test = try store()
        try test.take(#"[{"id": 1, "login": "ada"}]"#, "User")
        try test.take(#"[{"id": 7, "author": {"id": 2, "login": "ada"}}]"#, "Post")
        #expect(try test.related("Post", 7, "author") == ["2?"])
        #expect(try test.related("User", 2, "posts") == ["7"])
    }

    @Test("a strict import fails as a whole, and nothing of it is stored")
    func strict() throws {
        let test = try store()
        try test.take(#"[{"id": 1, "login": "ada"}]"#, "User")
        test.importer.isStrict = true
        #expect(throws: StoreWriteError.notUnique(entity: "User", index: "login", keys: ["1", "2"])) {
            try test.take(#"[{"id": 2, "login": "ada"}, {"id": 3, "login": "bob"}]"#, "User")
        }
        #expect(try test.count("User") == 1)
    }

    @Test("of two units of one transaction, the second one undoes nothing that the first one has written")
    func unitsOfOneTransaction() throws {
        let test = try store()
        try test.take(#"[{"id": 1, "login": "ada"}]"#, "User")
        let reports = try test.store.write { writer in
            try test.add(#"[{"id": 2, "login": "bob", "name": "B"}]"#, "User")
            let first = try test.importer.commit(into: &writer)
            try test.add(#"[{"id": 2, "login": "ada", "name": "C"}]"#, "User")
            return [first, try test.importer.commit(into: &writer)]
        }
        #expect(reports.map(\.created) == [1, 0] && reports.map(\.updated) == [0, 0])
        #expect(reports.map(\.skipped) == [0, 1])
        #expect(try test.value("User", 2, "login") == .string("bob") && test.value("User", 2, "name") == .string("B"))
    }

    @Test("a unit that is committed again after a failure reports each problem once")
    func committedAgain() throws {
        let test = try profiles()
        test.importer.isStrict = true
        try test.add(
            #"[{"id": 7, "login": "c", "profile": 4}, {"id": 8, "login": "d", "profile": 4}, {"id": 9, "login": "a"}]"#,
            "User")
        #expect(throws: StoreWriteError.self) { try test.commit() }
        test.importer.isStrict = false
        let report = try test.commit()
        #expect(report.diagnostics.map(\.code) == [.relationshipConflict, .notUnique] && report.diagnosticCount == 2)
        #expect(try test.related("Profile", 4, "user") == ["8"] && test.count("User") == 4)
    }

    @Test("a strict unit drops no record: of two that refer to one target, the loser is reported at once")
    func strictConflict() throws {
        let test = try profiles()
        test.importer.isStrict = true
        let report = try test.take(
            #"[{"id": 7, "login": "c", "profile": 4}, {"id": 8, "login": "d", "profile": 4}]"#, "User")
        #expect(report.diagnostics.map(\.code) == [.relationshipConflict])
        #expect(try test.related("Profile", 4, "user") == ["8"])
    }

    @Test("references that a merge has noted before it failed are none of the next merge")
    func connectedByFailed() throws {
        let test = try profiles()
        try test.add(#"[{"id": 9, "login": "c"}]"#, "User")
        // A failure of the store has ended the merge after it.
        test.importer.connected = [
            ConnectedReference(
                cause: ListedRecord(entity: 0, storageKey: []), plan: 0, field: 0, record: [], before: nil, after: nil,
                conflict: Diagnostic(
                    code: .relationshipConflict, path: "$", entity: "Profile", key: "4", field: "user", message: ""))
        ]
        #expect(try test.commit().diagnostics.isEmpty)
    }

    // MARK: Lists

    /// Authors, unique by their logins, with books. Stored: author 4 "ada", and author 5 "b" with
    /// book 1 "T" of code "x".
    ///
    /// - Parameter isComposite: whether the login is unique within a team.
    private func library(isComposite: Bool = false) throws -> TestStore {
        let test = try TestStore(
            Schema([
                EntityDefinition(
                    "Author", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), AttributeDefinition("team", .int, optional: true),
                        AttributeDefinition("login", .string, optional: true, unique: !isComposite),
                    ],
                    relationships: [RelationshipDefinition("books", to: "Book", many: true, inverse: "author")],
                    indexes: isComposite ? [IndexDefinition("byLogin", on: "team", "login", unique: true)] : []),
                EntityDefinition(
                    "Book", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), AttributeDefinition("title", .string, optional: true),
                        AttributeDefinition("code", .string, optional: true, unique: true),
                    ],
                    relationships: [RelationshipDefinition("author", to: "Author", inverse: "books")],
                    indexes: [IndexDefinition("byTitle", on: "author", "title", unique: true)]),
            ]), Mapping(entities: ["Author": EntityMapping(declared: ["books"])]))
        try test.take(
            #"[{"id": 4, "team": 1, "login": "ada"}, {"id": 5, "team": 1, "login": "b"}]"#, "Author")
        try test.take(#"[{"id": 1, "title": "T", "code": "x", "author": 5}]"#, "Book")
        #expect(try test.related("Author", 5, "books") == ["1"])
        return test
    }

    private static let five = Value.reference(RecordKey(5))

    @Test("the list of a record that is undone takes no member from it", arguments: [false, true])
    func listOfUndone(isComposite: Bool) throws {
        let test = try library(isComposite: isComposite)
        let report = try test.take(#"[{"id": 5, "team": 1, "login": "ada", "books": []}]"#, "Author")
        #expect(report.diagnostics.map(\.code) == [.notUnique])
        #expect(try test.value("Book", 1, "author") == Self.five && test.related("Author", 5, "books") == ["1"])
    }

    @Test("a member that another list has taken meanwhile does not come back to a record that is undone")
    func memberOfAnother() throws {
        let test = try library()
        let report = try test.take(
            #"[{"id": 5, "login": "ada", "books": []}, {"id": 6, "login": "c", "books": [1]}]"#, "Author")
        #expect(report.diagnostics.map(\.code) == [.notUnique])
        #expect(try test.value("Book", 1, "author") == .reference(RecordKey(6)))
    }

    @Test("a member that is undone itself keeps the reference that it had before the unit")
    func undoneMember() throws {
        let test = try library()
        try test.take(#"[{"id": 3, "title": "U", "code": "y"}]"#, "Book")
        let before = try test.record("Book", 1)
        try test.add(#"[{"id": 1, "code": "y", "author": 6}]"#, "Book")
        try test.add(#"[{"id": 5, "login": "ada", "books": [1]}]"#, "Author")
        #expect(try test.commit().diagnostics.map(\.code) == [.notUnique, .notUnique])
        #expect(try test.value("Book", 1, "author") == Self.five && test.record("Book", 1) == before)
    }

    @Test("a member that comes back to a record that is undone may drop one that has taken its unique values")
    func droppedByUndone() throws {
        let test = try library()
        let report = try test.take(
            #"[{"id": 5, "login": "ada", "books": [{"id": 2, "title": "T"}]}]"#, "Author")
        #expect(report.diagnostics.map(\.code) == [.notUnique, .notUnique])
        #expect(try test.value("Book", 1, "author") == Self.five && test.record("Book", 2) == nil)
    }

    @Test("a member that another element of the unit has moved keeps that reference when a list is undone")
    func movedInUnit() throws {
        let test = try library()
        try test.add(#"[{"id": 1, "code": "x", "author": 4}]"#, "Book")
        try test.add(#"[{"id": 6, "login": "ada", "books": [1]}]"#, "Author")
        let report = try test.commit()
        #expect(report.diagnostics.map(\.code) == [.notUnique])
        #expect(try test.value("Book", 1, "author") == .reference(RecordKey(4)) && test.record("Author", 6) == nil)
        #expect(report.keys(.updated).map(\.description) == ["Book 1"])
    }

    @Test("a partial member that the unit has made complete stays complete when a list is undone")
    func completedInUnit() throws {
        let test = try TestStore(
            Schema([
                EntityDefinition(
                    "Author", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int),
                        AttributeDefinition("login", .string, optional: true, unique: true),
                    ],
                    relationships: [RelationshipDefinition("books", to: "Book", many: true, inverse: "author")]),
                EntityDefinition(
                    "Book", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), AttributeDefinition("title", .string),
                        AttributeDefinition("code", .string, optional: true, unique: true),
                    ],
                    relationships: [RelationshipDefinition("author", to: "Author", inverse: "books")]),
            ]), Mapping(entities: ["Author": EntityMapping(declared: ["books"])]))
        try test.take(#"[{"id": 5, "login": "ada", "books": [{"id": 1, "code": "x"}]}]"#, "Author")
        #expect(try test.record("Book", 1)?.isPartial == true)
        try test.add(#"[{"id": 1, "code": "x"}]"#, "Book")
        try test.add(#"[{"id": 6, "login": "ada", "books": [1]}]"#, "Author")
        #expect(try test.commit().keys(.updated).map(\.description) == ["Book 1"])
        #expect(try test.record("Book", 1)?.isPartial == false && test.value("Book", 1, "author") == Self.five)
    }

    // MARK: One-to-one relationships

    /// Users with a profile each, to which they refer. Stored: user 1 with profile 4, and user 2.
    private func profiles() throws -> TestStore {
        let test = try TestStore(
            Schema([
                EntityDefinition(
                    "User", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int),
                        AttributeDefinition("login", .string, optional: true, unique: true),
                    ],
                    relationships: [RelationshipDefinition("profile", to: "Profile", inverse: "user")]),
                EntityDefinition(
                    "Profile", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int),
                        AttributeDefinition("code", .string, optional: true, unique: true),
                    ],
                    relationships: [RelationshipDefinition("user", to: "User", inverse: "profile")]),
            ]), Mapping(entities: ["Profile": EntityMapping(declared: ["user"])]))
        try test.take(
            #"[{"id": 1, "login": "a", "profile": {"id": 4, "code": "x"}}, {"id": 2, "login": "b"}]"#, "User")
        return test
    }

    @Test("a record that is left out takes no one-to-one target: its owner has it again, or the one before in the unit")
    func takenTarget() throws {
        let four = Value.reference(RecordKey(4))
        let test = try profiles()
        let report = try test.take(#"[{"id": 3, "login": "b", "profile": 4}]"#, "User")
        #expect(report.diagnostics.map(\.code) == [.notUnique])
        #expect(try test.record("User", 3) == nil && test.value("User", 1, "profile") == four)
        #expect(try test.related("Profile", 4, "user") == ["1"])
        // Nothing is left of the unit: no record counts as changed.
        #expect(report.updated == 0 && report.keys(.updated).isEmpty)
        let two = try profiles()
        let other = try two.take(
            #"[{"id": 9, "login": "c", "profile": 4}, {"id": 3, "login": "b", "profile": 4}]"#, "User")
        #expect(other.diagnostics.map(\.code) == [.notUnique])
        #expect(try two.record("User", 3) == nil && two.value("User", 9, "profile") == four)
        #expect(try two.value("User", 1, "profile") == .null && two.related("Profile", 4, "user") == ["9"])
    }

    @Test(
        "a record that has its target again is not named as updated, and one that has lost its target is",
        arguments: [true, false])
    func keysOfRestored(isFirst: Bool) throws {
        let test = try profiles()
        try test.take(#"[{"id": 2, "login": "b", "profile": {"id": 6, "code": "y"}}]"#, "User")
        let taken = #"{"id": 7, "login": "c", "profile": 6}"#, dropped = #"{"id": 8, "login": "b", "profile": 4}"#
        let report = try test.take(isFirst ? "[\(dropped), \(taken)]" : "[\(taken), \(dropped)]", "User")
        #expect(report.diagnostics.map(\.code) == [.notUnique])
        #expect(report.updated == 1 && report.keys(.updated).map(\.key) == [RecordKey(2)])
        #expect(try test.value("User", 1, "profile") == .reference(RecordKey(4)))
        #expect(try test.value("User", 2, "profile") == .null)
    }

    @Test("a record that is left out at each import leaves no change of the target's owner in the log")
    func ownerOfTakenTarget() throws {
        let test = try profiles(), before = try test.sequence, version = try test.record("User", 1)?.version
        for unit in [
            #"[{"id": 3, "login": "b", "profile": 4}]"#,
            #"[{"id": 1, "login": "a", "profile": 4}, {"id": 3, "login": "b", "profile": {"id": 4, "code": "x"}}]"#,
        ] {
            let report = try test.take(unit, "User")
            #expect(report.diagnostics.map(\.code) == [.notUnique] && report.updated == 0, "\(report)")
            #expect(try test.sequence == before && test.record("User", 1)?.version == version)
            #expect(try test.related("Profile", 4, "user") == ["1"])
        }
        // Other changes of the unit stay.
        let report = try test.take(
            #"[{"id": 1, "login": "z", "profile": 4}, {"id": 3, "login": "b", "profile": 4}]"#, "User")
        #expect(report.updated == 1 && report.skipped == 1)
        #expect(try test.value("User", 1, "login") == .string("z") && test.related("Profile", 4, "user") == ["1"])
    }

    @Test("a record that is left out at each import leaves no change of the members of its list in the log")
    func membersOfDropped() throws {
        let test = try TestStore(
            Schema([
                EntityDefinition(
                    "Team", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), AttributeDefinition("name", .string, unique: true)],
                    relationships: [RelationshipDefinition("players", to: "Player", many: true, inverse: "team")]),
                EntityDefinition(
                    "Player", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), AttributeDefinition("age", .int, optional: true)],
                    relationships: [RelationshipDefinition("team", to: "Team", inverse: "players")]),
            ]), Mapping(entities: ["Team": EntityMapping(declared: ["players"])]))
        try test.take(#"[{"id": 1, "age": 9}, {"id": 2}]"#, "Player")
        try test.take(#"[{"id": 7, "name": "a", "players": [1]}, {"id": 8, "name": "b", "players": []}]"#, "Team")
        let before = try test.sequence
        for _ in 0..<2 {
            let report = try test.take(#"[{"id": 9, "name": "b", "players": [1, 2]}]"#, "Team")
            #expect(report.diagnostics.map(\.code) == [.notUnique] && report.updated == 0, "\(report)")
            #expect(try test.sequence == before && test.related("Team", 7, "players") == ["1"])
        }
        // The other change of the member stays, and counts.
        try test.add(#"[{"id": 1, "age": 10}]"#, "Player")
        try test.add(#"[{"id": 9, "name": "b", "players": [1, 2]}]"#, "Team")
        let report = try test.commit()
        #expect(report.entities["Player"]?.updated == 1, "\(report)")
        #expect(try test.value("Player", 1, "age") == .int(10) && test.related("Team", 7, "players") == ["1"])
    }

    @Test("a record that is undone does not get a one-to-one target back that another one has taken")
    func undoneOwner() throws {
        let test = try profiles()
        try test.take(
            #"[{"id": 1, "login": "b", "profile": null}, {"id": 3, "login": "c", "profile": 4}]"#, "User")
        #expect(try test.value("User", 1, "login") == .string("a") && test.value("User", 1, "profile") == .null)
        #expect(try test.related("Profile", 4, "user") == ["3"])
    }

    @Test("a record that is left out connects no other one to itself", arguments: ["1", #"{"id": 1}"#])
    func connectedByDropped(user: String) throws {
        let test = try profiles(), sequence = try test.sequence
        let report = try test.take(#"[{"id": 5, "code": "x", "user": \#(user)}]"#, "Profile")
        #expect(try report.updated == 0 && report.keys(.updated).isEmpty && test.sequence == sequence)
        #expect(report.diagnostics.map(\.code) == [.notUnique])
        #expect(try test.record("Profile", 5) == nil)
        #expect(try test.value("User", 1, "profile") == .reference(RecordKey(4)))
        #expect(try test.related("Profile", 4, "user") == ["1"])
        // A record that is stored connects it.
        try test.take(#"[{"id": 6, "code": "y", "user": \#(user)}]"#, "Profile")
        #expect(try test.value("User", 1, "profile") == .reference(RecordKey(6)))
    }

    @Test("a record that changes besides a reference that is undone counts as changed")
    func partlyUndone() throws {
        let test = try profiles()
        let report = try test.take(
            #"[{"id": 1, "login": "c", "profile": 4}, {"id": 3, "login": "b", "profile": 4}]"#, "User")
        #expect(report.updated == 1 && report.keys(.updated).map(\.key) == [RecordKey(1)])
        #expect(try test.value("User", 1, "login") == .string("c"))
        #expect(try test.value("User", 1, "profile") == .reference(RecordKey(4)))
    }
}
