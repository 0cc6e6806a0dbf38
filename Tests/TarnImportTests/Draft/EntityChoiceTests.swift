// The kind of a record, and that a tree of entities shares one key space.

import TarnImport
import TarnStore
import Testing

@Suite("Import: kinds of records")
struct EntityChoiceTests {
    /// Event ← Push ← ForcePush, Event ← Release; and Log, which leads to events.
    private static let schema = Schema([
        EntityDefinition(
            "Event", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("type", .string, optional: true),
                AttributeDefinition("at", .date, optional: true, indexed: true),
                AttributeDefinition("note", .string, optional: true),
            ],
            relationships: [RelationshipDefinition("actor", to: "User", inverse: "events")]),
        EntityDefinition(
            "ForcePush", parent: "Push", attributes: [AttributeDefinition("before", .string, optional: true)]),
        EntityDefinition(
            "Push", parent: "Event",
            attributes: [
                AttributeDefinition("branch", .string, optional: true),
                AttributeDefinition("size", .int, optional: true),
            ]),
        EntityDefinition("Release", parent: "Event", attributes: [AttributeDefinition("tag", .string, optional: true)]),
        EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        EntityDefinition(
            "Log", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [
                RelationshipDefinition("last", to: "Event"),
                RelationshipDefinition("all", to: "Event", many: true, ordered: true),
            ]),
    ])

    private static let choice = EntityChoice([
        .entity("Push", when: [RecordCondition("type", .matches(["PushEvent"]))]),
        .entity("Release", when: [RecordCondition("type", .matches(["Release*"]))]),
    ])

    private static func bed(_ choice: EntityChoice = choice, _ change: (inout Mapping) -> Void = { _ in }) throws
        -> TestStore
    {
        var mapping = Mapping(entities: ["Event": EntityMapping { $0.choice = choice }])
        change(&mapping)
        return try TestStore(schema, mapping)
    }

    private func kinds(_ bed: TestStore) throws -> [String] {
        try bed.lines().filter { !$0.hasPrefix("User") && !$0.hasPrefix("Log") }.map {
            $0.split(separator: " ").prefix(2).joined(separator: " ")
        }
        .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    @Test("listed and nested records become what the first rule that holds says, with the attributes of that kind")
    func chosen() throws {
        let bed = try Self.bed()
        let report = try bed.take(
            #"[{"id":1,"type":"PushEvent","branch":"main"},{"id":2,"type":"ReleaseEvent","tag":"1.0"},{"id":3,"type":"ReleaseDraft"},{"id":4,"type":"Other"},{"id":5}]"#,
            "Event")
        #expect(report.diagnostics == [])
        #expect(report.entities.mapValues(\.created) == ["Push": 1, "Release": 2, "Event": 2])
        #expect(try bed.record("Event", 1)?.entity == "Push" && bed.value("Push", 1, "branch") == .string("main"))
        #expect(
            try (1...5).map { try bed.record("Event", $0)?.entity } == ["Push", "Release", "Release", "Event", "Event"])
        try bed.take(
            #"[{"id":1,"last":{"id":6,"type":"PushEvent","branch":"b"},"all":[{"id":7,"type":"Release"},8,{"id":6}]}]"#,
            "Log")
        #expect(try bed.record("Event", 6)?.entity == "Push" && bed.record("Event", 7)?.entity == "Release")
        #expect(try bed.related("Log", 1, "all") == ["7", "8?", "6"])
    }

    @Test(
        "every kind of rule: a value, a pattern, presence, absence, a comparison, a predicate, and code",
        arguments: [
            (
                RecordCondition("a", .matches(["x", "7", "true"])), [#""a":"x""#, #""a":7"#, #""a":true"#],
                [#""a":"y""#, #""a":null"#, #""a":["x"]"#, ""]
            ),
            (
                RecordCondition("a.b", .matches(["p*e", "*.txt"])), [#""a":{"b":"please"}"#, #""a":{"b":".txt"}"#],
                [#""a":{"b":"p"}"#, #""a":"please""#]
            ),
            (
                RecordCondition("list[-1].k", .matches(["x"])), [#""list":[{},{"k":"x"}]"#],
                [#""list":[{"k":"x"},{}]"#, #""list":[]"#]
            ),
            (RecordCondition("a", .isPresent), [#""a":{}"#, #""a":false"#, #""a":"""#], [#""a":null"#, ""]),
            (RecordCondition("a", .isAbsent), [#""a":null"#, ""], [#""a":0"#]),
            (
                RecordCondition("n", .compares(.greaterOrEqual, "10")), [#""n":10"#, #""n":10.5"#, #""n":1e3"#],
                [#""n":9"#, #""n":null"#, "", #""n":{}"#]
            ),
            (RecordCondition("n", .compares(.less, "b")), [#""n":"a""#, #""n":"B""#], [#""n":"b""#, ""]),
            (RecordCondition("n", .compares(.notEqual, "a*")), [#""n":"abc""#], [#""n":"a*""#, ""]),
            (
                RecordCondition("n", .satisfies(JSONPredicate("even") { $0.text.hasSuffix("2") })), [#""n":12"#],
                [#""n":13"#, ""]
            ),
        ])
    func rules(_ condition: RecordCondition, _ holding: [String], _ others: [String]) throws {
        let bed = try Self.bed(EntityChoice([.entity("Push", when: [condition])]))
        func take(_ fields: String) throws -> String? {
            try bed.take(#"[{"id":1\#(fields.isEmpty ? "" : "," + fields)}]"#, "Event")
            defer { _ = try? bed.store.write { try $0.delete("Event", RecordKey(1)) } }
            return try bed.record("Event", 1)?.entity
        }
        for fields in holding { #expect(try take(fields) == "Push", "\(fields)") }
        for fields in others { #expect(try take(fields) == "Event", "\(fields)") }
    }

    @Test("all conditions of a rule hold, rules are asked in their order, and code may choose or pass on")
    func order() throws {
        let bed = try Self.bed(
            EntityChoice([
                .entity("Release", when: [RecordCondition("a", .isPresent), RecordCondition("b", .isPresent)]),
                .code(
                    EntityChooser("by name") {
                        $0["name"] == .string("push") ? "Push" : $0["name"] == .string("plain") ? "Event" : nil
                    }),
                .entity("ForcePush", when: [RecordCondition("b", .isPresent)]), .entity("Release", when: []),
            ]))
        try bed.take(
            #"[{"id":1,"a":1,"b":1,"name":"push"},{"id":2,"a":1,"name":"push"},{"id":3,"b":1},{"id":4},{"id":5,"name":"plain"}]"#,
            "Event")
        #expect(
            try (1...5).map { try bed.record("Event", $0)?.entity } == [
                "Release", "Push", "ForcePush", "Release", "Event",
            ])
    }

    @Test("a kind that code takes from the server, and that the schema does not have, is reported and skipped")
    func unknownNames() throws {
        let bed = try Self.bed(
            EntityChoice([
                .code(EntityChooser("by type") { if case .string(let name)? = $0["type"] { name } else { nil } })
            ]))
        let report = try bed.take(
            #"[{"id":1,"type":"Push"},{"id":2,"type":"Fork"},{"id":3,"type":"User"},{"id":4}]"#, "Event")
        #expect(report.diagnostics.map(\.code) == [.entityUnknown, .entityUnknown] && report.skipped == 2)
        #expect(report.diagnostics.map(\.path) == ["$[1]", "$[2]"])
        #expect(
            report.diagnostics.first?.message
                == "by type chose Fork, which is neither Event nor a descendant of it; it is skipped")
        #expect(try (1...4).map { try bed.record("Event", $0)?.entity } == ["Push", nil, nil, "Event"])
        let nested = try bed.take(#"[{"id":1,"last":{"id":2,"type":"Fork"},"all":[{"id":1,"type":"Push"}]}]"#, "Log")
        #expect(nested.diagnostics.map(\.path) == ["$[0].last"])
        #expect(try bed.related("Log", 1, "last") == [] && bed.related("Log", 1, "all") == ["1"])
    }

    @Test("what is chosen may have rules of its own")
    func levels() throws {
        let bed = try Self.bed {
            $0.entities["Push"] = EntityMapping {
                $0.choice = EntityChoice([.entity("ForcePush", when: [RecordCondition("before", .isPresent)])])
            }
        }
        try bed.take(
            #"[{"id":1,"type":"PushEvent"},{"id":2,"type":"PushEvent","before":"x"},{"id":3,"before":"x"}]"#, "Event")
        #expect(try (1...3).map { try bed.record("Event", $0)?.entity } == ["Push", "ForcePush", "Event"])
        try bed.take(#"[{"id":4,"before":"x"},{"id":5}]"#, "Push")
        #expect(try (4...5).map { try bed.record("Event", $0)?.entity } == ["ForcePush", "Push"])
    }

    @Test("a record whose rules choose none is reported and skipped, with everything in it, if that is declared")
    func skipped() throws {
        let bed = try Self.bed(EntityChoice(Self.choice.rules, otherwise: .skip))
        let report = try bed.take(#"[{"id":1,"type":"Other","actor":{"id":7}},{"id":2,"type":"PushEvent"}]"#, "Event")
        #expect(
            report.diagnostics.map(\.code) == [.entityUnknown] && report.diagnostics[0].path == "$[0]"
                && report.diagnostics[0].entity == "Event")
        #expect(report.skipped == 1 && report.entities["Event"]?.skipped == 1)
        #expect(try bed.count("Event") == 1 && bed.count("User") == 0)
        let nested = try bed.take(
            #"[{"id":1,"last":{"id":3,"type":"Other"},"all":[{"id":3},{"id":2,"type":"PushEvent"}]}]"#, "Log")
        #expect(nested.diagnostics.map(\.path) == ["$[0].last", "$[0].all[0]"])
        #expect(try bed.related("Log", 1, "last") == [] && bed.related("Log", 1, "all") == ["2"])
    }

    @Test(
        "a stored record whose discriminator changes keeps its key, its references and what both kinds have, and becomes the other"
    )
    func changes() throws {
        let bed = try Self.bed(
            EntityChoice(
                Self.choice.rules + [
                    .entity("ForcePush", when: [RecordCondition("type", .matches(["Force"]))]),
                    .entity("Event", when: [RecordCondition("type", .isPresent)]),
                ]))
        func take(_ fields: String) throws -> String? {
            try bed.take(#"[{"id":1,\#(fields)}]"#, "Event")
            return try bed.record("Event", 1)?.entity
        }
        try bed.take(#"[{"id":1,"all":[1]}]"#, "Log")
        #expect(try take(#""type":"PushEvent","branch":"main","note":"n","actor":{"id":7}"#) == "Push")
        #expect(try take(#""type":"ReleaseEvent","tag":"1""#) == "Release")
        let record = try #require(try bed.record("Event", 1))
        #expect(record["note"] == .string("n") && record["branch"] == nil && record["tag"] == .string("1"))
        #expect(try bed.related("User", 7, "events") == ["1"] && bed.related("Log", 1, "all") == ["1"])
        #expect(try bed.count("Push") == 0 && bed.count("Release") == 1)
        // From a kind back to its parent if a rule says so, but not by an excerpt without the
        // deciding value.
        #expect(try take(#""type":"Force""#) == "ForcePush")
        #expect(try take(#""note":"m""#) == "ForcePush")
        #expect(try take(#""type":"PushEvent""#) == "Push")
        #expect(try take(#""type":"Other""#) == "Event")
        #expect(try bed.value("Event", 1, "note") == .string("m"))
    }

    @Test("a nested object whose kind a rule names turns a stored record of a more special kind into that kind")
    func nestedChange() throws {
        let bed = try Self.bed(
            EntityChoice(
                [.entity("ForcePush", when: [RecordCondition("type", .matches(["Force"]))])] + Self.choice.rules))
        for relationship in ["last", "all"] {
            try bed.take(#"[{"id":1,"type":"Force","before":"x","branch":"b"}]"#, "Event")
            #expect(try bed.record("Event", 1)?.entity == "ForcePush")
            let object = #"{"id":1,"type":"PushEvent"}"#
            let value = relationship == "last" ? object : "[\(object)]"
            try bed.take(#"[{"id":1,"\#(relationship)":\#(value)}]"#, "Log")
            let record = try #require(try bed.record("Event", 1))
            #expect(record.entity == "Push" && record["branch"] == .string("b") && record["before"] == nil)
        }
        // An excerpt without the deciding value does not.
        try bed.take(#"[{"id":1,"type":"Force"}]"#, "Event")
        try bed.take(#"[{"id":1,"last":{"id":1,"note":"n"}}]"#, "Log")
        #expect(try bed.record("Event", 1)?.entity == "ForcePush")
    }

    @Test("a record that is no more is deleted whatever kind of it is stored")
    func tombstones() throws {
        let bed = try Self.bed { $0.entities["Event"]?.tombstone = TombstoneRule(path: "gone") }
        try bed.take(#"[{"id":1,"type":"ReleaseEvent"},{"id":2,"type":"PushEvent"}]"#, "Event")
        #expect(try bed.take(#"[{"id":1,"type":"PushEvent","gone":true},{"id":2,"gone":true}]"#, "Event").deleted == 2)
        #expect(try bed.count("Event") == 0)
    }

    @Test(
        "one record met as several kinds in a unit is one draft: the more special of two in a line, else the later one")
    func oneDraft() throws {
        let bed = try Self.bed()
        let report = try bed.take(
            #"[{"id":1,"note":"a"},{"id":1,"type":"PushEvent","branch":"b"},{"id":1,"note":"c"},{"id":2,"type":"PushEvent","branch":"b","note":"n"},{"id":2,"type":"ReleaseEvent","tag":"t"}]"#,
            "Event")
        #expect(report.entities == ["Push": .init(created: 1), "Release": .init(created: 1)])
        let first = try #require(try bed.record("Event", 1))
        #expect(first.entity == "Push" && first["branch"] == .string("b") && first["note"] == .string("c"))
        let second = try #require(try bed.record("Event", 2))
        #expect(
            second.entity == "Release" && second["branch"] == nil && second["note"] == .string("n")
                && second["tag"] == .string("t"))
        // Nothing of the former kind is left in the row.
        try bed.take(#"[{"id":2,"type":"PushEvent"}]"#, "Event")
        #expect(try bed.record("Push", 2)?["branch"] == nil)
        let firstWins = try Self.bed { $0.duplicates = .firstWins }
        try firstWins.take(
            #"[{"id":2,"type":"PushEvent","branch":"b"},{"id":2,"type":"ReleaseEvent","tag":"t","note":"n"}]"#, "Event")
        let earlier = try #require(try firstWins.record("Event", 2))
        #expect(
            earlier.entity == "Push" && earlier["branch"] == .string("b") && earlier["tag"] == nil
                && earlier["note"] == .string("n"))
        try firstWins.take(#"[{"id":2,"type":"ReleaseEvent"}]"#, "Event")
        #expect(try firstWins.record("Release", 2)?["tag"] == nil)
    }

    @Test("a kind takes what its parent's mapping says of sources, rules and policies, and its own goes before")
    func inherited() throws {
        let bed = try Self.bed { mapping in
            mapping.entities["Event"]?.paths = ["note": ["text"], "id": ["ids[0]"]]
            mapping.entities["Event"]?.epochs = ["at": .seconds]
            mapping.entities["Event"]?.fields = ["type": FieldRules(transformers: ["lowercased"])]
            mapping.entities["Event"]?.rules = FieldRules(nulls: .ignore)
            mapping.entities["Event"]?.ignored = ["junk"]
            mapping.entities["Event"]?.version = "at"
            mapping.entities["Event"]?.tombstone = TombstoneRule(path: "gone")
            mapping.entities["Release"] = EntityMapping(paths: ["note": ["summary"]], rules: FieldRules(nulls: .clear))
        }
        try bed.take(
            #"[{"ids":[1],"type":"PushEvent","text":"a","summary":"z","at":100,"branch":"b","junk":1},{"ids":[2],"type":"ReleaseEvent","text":"a","summary":"s","at":100,"tag":"t"}]"#,
            "Event")
        #expect(try bed.record("Push", 1)?["at"] != nil && bed.value("Push", 1, "type") == .string("pushevent"))
        #expect(try bed.value("Push", 1, "note") == .string("a") && bed.value("Release", 2, "note") == .string("s"))
        let report = try bed.take(#"[{"ids":[1],"at":101,"branch":null,"junk":2,"other":1}]"#, "Push")
        #expect(report.unmapped.map(\.path) == ["other"])
        #expect(try bed.value("Push", 1, "branch") == .string("b"))
        #expect(try bed.take(#"[{"ids":[1],"at":50,"branch":"old"}]"#, "Push").older == 1)
        #expect(try bed.take(#"[{"ids":[1],"gone":true}]"#, "Push").deleted == 1)
        try bed.take(#"[{"ids":[3],"tag":"t","at":1}]"#, "Release")
        try bed.take(#"[{"ids":[3],"tag":null,"at":2}]"#, "Release")
        #expect(try bed.value("Release", 3, "tag") == .null)
    }

    @Test("a document that is read in parts is refused if only a kind of its records takes values from the root")
    func rootOfKind() throws {
        let bed = try Self.bed { $0.entities["Push"] = EntityMapping(paths: ["branch": ["@root.branch"]]) }
        var pieces = [Array(#"[{"id":1}]"#.utf8)][...]
        #expect(throws: ImportError.rootUnavailable(entity: "Event")) {
            try bed.importer.addParts(entity: "Event", next: { pieces.popFirst() }, part: { _ in })
        }
        pieces = [Array(#"[{"id":1}]"#.utf8)][...]
        try bed.importer.addParts(entity: "User", next: { pieces.popFirst() }, part: { _ in })
    }

    @Test("a rule that names no kind of its entity is refused when the mapping is taken")
    func noKind() throws {
        for name in ["User", "Nothing"] {
            #expect(throws: ImportError.noKind(name, of: "Event")) {
                try Self.bed(EntityChoice([.entity(name, when: [])]))
            }
        }
        let problems = Mapping(entities: [
            "Push": EntityMapping {
                $0.choice = EntityChoice([.entity("Release", when: []), .entity("Pusch", when: [])])
            }
        ])
        .problems(for: Self.schema).map(\.description)
        #expect(
            problems == [
                "Push.kinds.Release: Release does not descend from Push: declare parent: Push there, or remove it here",
                "Push.kinds.Pusch: unknown entity \"Pusch\": did you mean \"Push\"?",
            ])
    }
}
