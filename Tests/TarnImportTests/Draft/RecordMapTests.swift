// Records that are the values of an object's members, by names that are data.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: maps of records")
struct RecordMapTests {
    /// Players by a name, and their matches, by theirs, with the player in the key.
    private static let schema = Schema([
        EntityDefinition(
            "Player", key: ["id"],
            attributes: [
                AttributeDefinition("id", .string), AttributeDefinition("score", .int, optional: true),
                AttributeDefinition("label", .string, optional: true),
            ],
            relationships: [
                RelationshipDefinition("matches", to: "Match", many: true, ordered: true),
                RelationshipDefinition("best", to: "Match"),
                RelationshipDefinition("prizes", to: "Prize", many: true, inverse: "winner"),
            ]),
        EntityDefinition(
            "Match", key: ["id"],
            attributes: [AttributeDefinition("id", .string), AttributeDefinition("goals", .int, optional: true)]),
        EntityDefinition(
            "Prize", key: ["winner", "name"],
            attributes: [AttributeDefinition("name", .string), AttributeDefinition("sum", .int, optional: true)],
            relationships: [RelationshipDefinition("winner", to: "Player", inverse: "prizes")]),
    ])

    private func bed(_ keys: [ValueSource] = ["@memberName"]) throws -> TestStore {
        try TestStore(
            Self.schema,
            Mapping(entities: [
                "Player": EntityMapping(paths: [
                    "id": keys, "label": ["{@memberName}: {score}"], "matches": ["matches.*"], "best": ["record.*"],
                    "prizes": ["prizes.*"],
                ]),
                "Match": EntityMapping(paths: ["id": ["@memberName"]]),
                "Prize": EntityMapping(paths: ["name": ["@memberName"]]),
            ]))
    }

    @Test("a path with * takes the value of every member, and @memberName is its name")
    func names() throws {
        let bed = try bed()
        let report = try bed.take(#"{"ada":{"score":7},"b.c":{"score":5},"":{"score":1}}"#, "Player", records: "*")
        #expect(report.created == 3 && report.diagnostics == [])
        #expect(
            try bed.lines().filter { $0.hasPrefix("Player") }.sorted() == [
                #"Player  {"id":"","score":1,"label":": 1"}"#,
                #"Player ada {"id":"ada","score":7,"label":"ada: 7"}"#,
                #"Player b.c {"id":"b.c","score":5,"label":"b.c: 5"}"#,
            ])
        // The same JSON under another name is another record.
        #expect(try bed.take(#"{"ada":{"score":7},"eve":{"score":7}}"#, "Player", records: "*").created == 1)
    }

    @Test("a map of one record, maps in lists, and maps of lists have names, too")
    func forms() throws {
        for (json, path, ids) in [
            (#"{"data":{"ada":{}}}"#, "data.*", ["ada"]),
            (#"[{"ada":{}},{"bob":{}}]"#, "*.*", ["ada", "bob"]),
            (#"{"x":{"team":{"ada":{},"bob":{}}},"y":{"team":{"eve":{}}}}"#, "*.team.*", ["ada", "bob", "eve"]),
            (#"{"teams":[{"name":"x","of":{"ada":{}}}]}"#, "teams.*.of.*", ["ada"]),
            (#"{"ada":{"is":{}},"bob":{"is":{}}}"#, "*.is", ["ada", "bob"]),
        ] {
            let bed = try bed()
            _ = try bed.take(json, "Player", records: try #require(JSONPath(path)))
            let keys = try bed.lines().map { String($0.split(separator: " ")[1]) }
            #expect(keys.sorted() == ids, "\(path)")
        }
        let bed = try bed([#"{@memberName}/{n}"#])
        let added = try bed.importer.add(
            Array(#"{"of":{"1.0":[{"n":1}],"1.1":[{"n":1},{"n":2}],"2.0":[]}}"#.utf8), records: "of.*", entity: "Player"
        )
        #expect(added.count == 3 && added.listed.count == 3 && added.skipped == 0)
        #expect(try bed.commit().created == 3)
        #expect(try bed.record("Player", RecordKey("1.1/2")) != nil)
        let elements = try self.bed([#"{@memberName}/{n}"#])
        _ = try elements.take(#"{"x":{"of":[{"n":1},{"n":2}]},"y":{"of":[{"n":1}]}}"#, "Player", records: "*.of.*")
        let keys = try elements.lines().map { String($0.split(separator: " ")[1]) }
        #expect(keys.sorted() == ["x/1", "x/2", "y/1"])
    }

    @Test("records that are nested as a map get their names, in every kind of relationship")
    func nested() throws {
        let bed = try bed()
        let report = try bed.take(
            #"{"ada":{"matches":{"m2":{"goals":2},"m1":{"goals":1}},"record":{"m2":{"goals":2}},"prizes":{"cup":{"sum":9},"pot":{}}}}"#,
            "Player", records: "*")
        #expect(report.diagnostics == [])
        let ada = try #require(try bed.record("Player", RecordKey("ada")))
        #expect(ada["matches"] == .references([RecordKey("m2"), RecordKey("m1")]), "\(ada)")
        #expect(try bed.record("Match", RecordKey("m1"))?["goals"] == .int(1))
        #expect(ada["best"] == .reference(RecordKey("m2")), "\(ada)")
        #expect(try bed.count("Prize") == 2)
        // A prize that is gone from the map is no longer one of the player's.
        _ = try bed.take(#"{"ada":{"matches":{},"prizes":{"cup":{"sum":9}}}}"#, "Player", records: "*")
        #expect(try #require(try bed.record("Player", RecordKey("ada")))["matches"] == .references([]))
    }

    @Test("records that are nested in the lists of a map get the names of their lists")
    func nestedLists() throws {
        for (path, matches) in [
            ("matches.*", #"{"a":[{"n":1},{"n":2}],"b":[{"n":1}]}"#),
            ("matches.*.of.*", #"{"a":{"of":[{"n":1},{"n":2}]},"b":{"of":[{"n":1}]}}"#),
        ] {
            let bed = try TestStore(
                Self.schema,
                Mapping(entities: [
                    "Player": EntityMapping(paths: ["matches": [.path(try #require(JSONPath(path)))]]),
                    "Match": EntityMapping(paths: ["id": ["{@memberName}/{n}"]]),
                ]))
            _ = try bed.take(#"{"id":"ada","matches":\#(matches)}"#, "Player")
            let ada = try #require(try bed.record("Player", RecordKey("ada")))
            #expect(ada["matches"] == .references(["a/1", "a/2", "b/1"].map { RecordKey($0) }), "\(path): \(ada)")
        }
    }

    @Test("without a member that a * covers, there is no name: not in a list, and not for an object of one key")
    func absent() throws {
        let bed = try bed(["@memberName", "login"])
        _ = try bed.take(#"{"data":[{"login":"x"}],"one":{"login":"y"}}"#, "Player", records: "data")
        _ = try bed.take(#"{"data":[{"login":"z"}]}"#, "Player", records: "data.*")
        _ = try bed.take(#"{"one":{"login":"y"}}"#, "Player", records: "one")
        #expect(try bed.lines().count == 3 && bed.record("Player", RecordKey("z")) != nil)
        // A list does not inherit the name that a map before it has given.
        let unit = try self.bed(["@memberName", "login"])
        try unit.add(#"{"ada":{}}"#, "Player", records: "*")
        try unit.add(#"[{"login":"x"}]"#, "Player")
        _ = try unit.commit()
        #expect(try unit.record("Player", RecordKey("x")) != nil)
    }

    @Test("a nested list has no names, also at the place where a document before it had a map")
    func listAfterMap() throws {
        let bed = try TestStore(
            Self.schema,
            Mapping(entities: [
                "Player": EntityMapping(paths: ["matches": ["matches.*"]]),
                "Match": EntityMapping(paths: ["id": ["@memberName", "n"]]),
            ]))
        try bed.add(#"{"id":"ada","matches":{"m1":{}}}"#, "Player")
        // A null has the place of the name.
        try bed.add(#"{"id":"bob","matches":[null,{"n":"m2"}]}"#, "Player")
        _ = try bed.commit()
        let bob = try #require(try bed.record("Player", RecordKey("bob")))
        #expect(bob["matches"] == .references([RecordKey("m2")]), "\(bob)")
    }

    @Test("a record without paths of its own has no names from a document before it")
    func otherEntityAfterMap() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Team", key: ["id"], attributes: [AttributeDefinition("id", .string)],
                    relationships: [RelationshipDefinition("players", to: "Player", many: true)]),
                EntityDefinition(
                    "Game", key: ["id"], attributes: [AttributeDefinition("id", .string)],
                    relationships: [RelationshipDefinition("best", to: "Player")]),
                EntityDefinition("Player", key: ["id"], attributes: [AttributeDefinition("id", .string)]),
            ]),
            Mapping(entities: [
                "Team": EntityMapping(paths: ["players": ["m.*"]]),
                "Player": EntityMapping(paths: ["id": ["@memberName", "n"]]),
            ]))
        // The object has the place of the key, and `best` that of its name.
        try bed.add(#"{"m":{"x":"p1"},"id":"t"}"#, "Team")
        try bed.add(#"{"id":"g","best":{"n":"p2"}}"#, "Game")
        _ = try bed.commit()
        let game = try #require(try bed.record("Game", RecordKey("g")))
        #expect(game["best"] == .reference(RecordKey("p2")), "\(game)")
    }

    @Test("keys from the whole document are not taken for members at the same places of the record's own JSON")
    func outside() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Team", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                    relationships: [
                        RelationshipDefinition("players", to: "Player", many: true),
                        RelationshipDefinition("rivals", to: "Team", many: true),
                        RelationshipDefinition("next", to: "Team"),
                    ]),
                EntityDefinition("Player", key: ["id"], attributes: [AttributeDefinition("id", .string)]),
            ]),
            Mapping(entities: [
                "Team": EntityMapping(paths: ["players": ["m.*"], "rivals": ["@root.l"], "next": ["@root.n"]]),
                "Player": EntityMapping(paths: ["id": ["@memberName"]]),
            ]))
        // The second element of the list has the place of x, and the first one that of its name.
        _ = try bed.take(#"{"m":{"x":{}},"id":1,"l":[72057594037927934,2],"n":3}"#, "Team")
        let team = try #require(try bed.record("Team", RecordKey(1)))
        #expect(team["rivals"] == .references([RecordKey(72_057_594_037_927_934), RecordKey(2)]), "\(team)")
        #expect(team["players"] == .references([RecordKey("x")]), "\(team)")
        #expect(team["next"] == .reference(RecordKey(3)), "\(team)")
    }

    @Test("hooks edit records of a map, which keep their names")
    func hooks() throws {
        let bed = try bed()
        bed.importer.hooks.beforeDraft = { _, json in
            json["score"] = .number("3")
            json["matches"] = try? JSONValue(#"{"m1":{}}"#)
            return true
        }
        _ = try bed.take(#"{"ada":{},"bob":{}}"#, "Player", records: "*")
        #expect(try bed.record("Player", RecordKey("bob"))?["score"] == .int(3))
        #expect(try bed.count("Match") == 1)
    }

    @Test("an empty map is an empty list, a null is no record, and anything else is an error that names it")
    func others() throws {
        let bed = try bed()
        #expect(try bed.take(#"{"of":{}}"#, "Player", records: "of.*").created == 0)
        #expect(try bed.take(#"{"of":[]}"#, "Player", records: "of.*").created == 0)
        #expect(try bed.take(#"{"of":{"ada":null,"bob":{}}}"#, "Player", records: "of.*").created == 1)
        for (json, found) in [(#"{"of":{"ada":{},"count":2}}"#, "notRecords"), (#"{"of":null}"#, "recordsNotFound")] {
            #expect {
                _ = try bed.importer.add(Array(json.utf8), records: "of.*", entity: "Player")
            } throws: { "\($0)".contains("of.*") || "\($0)".contains(found) }
        }
        #expect(try bed.count("Player") == 1)
    }

    @Test("diagnostics name the member, and a name that occurs twice is one record")
    func places() throws {
        let bed = try bed()
        let report = try bed.take(
            #"{"of":{"ada":{"score":"x"},"b.c":{"score":[]},"ada":{"score":4}}}"#, "Player", records: "of.*")
        #expect(report.diagnostics.map(\.path) == ["$.of.ada.score", "$.of.'b.c'.score"])
        #expect(try bed.record("Player", RecordKey("ada"))?["score"] == .int(4))
        #expect(try bed.count("Player") == 2)
    }

    @Test("a map of 200,000 records is read in a time that grows with its size")
    func large() throws {
        let bed = try bed()
        let json = "{" + (0..<200_000).map { #""n\#($0)":{"score":\#($0)}"# }.joined(separator: ",") + "}"
        let report = try bed.take(json, "Player", records: "*")
        #expect(report.created == 200_000)
        #expect(try bed.record("Player", RecordKey("n199999"))?["score"] == .int(199_999))
    }
}
