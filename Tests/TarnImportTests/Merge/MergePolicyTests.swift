// Merging by declared rules: nulls, absent fields, lists, duplicates, versions, and tombstones.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: merging policies")
struct MergePolicyTests {
    /// Tasks with tags (ordered), watchers (not ordered), and notes that are stored at the other
    /// side.
    private static let schema = Schema([
        EntityDefinition(
            "Task", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("revision", .int, optional: true),
                AttributeDefinition("title", .string, optional: true),
                AttributeDefinition("text", .string, optional: true),
                AttributeDefinition("name", .string),
            ],
            relationships: [
                RelationshipDefinition("tags", to: "Tag", many: true, ordered: true, inverse: "tasks"),
                RelationshipDefinition("watchers", to: "Tag", many: true), RelationshipDefinition("first", to: "Tag"),
                RelationshipDefinition("notes", to: "Note", many: true, inverse: "task", onDelete: .cascade),
                RelationshipDefinition("blockers", to: "Blocker", many: true, inverse: "task", onDelete: .deny),
            ]),
        EntityDefinition("Tag", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        EntityDefinition(
            "Note", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("task", to: "Task", inverse: "notes")]),
        EntityDefinition(
            "Blocker", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("task", to: "Task", inverse: "blockers")]),
    ])

    private func bed(_ mapping: EntityMapping = EntityMapping(), rules: FieldRules = FieldRules()) throws -> TestStore {
        var mapping = mapping
        mapping.declared = ["notes", "blockers"]
        return try TestStore(Self.schema, Mapping(entities: ["Task": mapping], rules: rules))
    }

    private func tags(_ bed: TestStore, _ relationship: String = "tags") throws -> [Int] {
        try bed.related("Task", 1, relationship).compactMap { Int($0.replacing("?", with: "")) }
    }

    @Test("null clears; where nulls are ignored the field keeps what it has, for attributes and relationships")
    func nulls() throws {
        let full = #"[{"id":1,"name":"n","title":"a","text":"b","first":7,"tags":[1,2],"notes":[{"id":5}]}]"#
        let nulls = #"[{"id":1,"name":"n","title":null,"text":null,"first":null,"tags":null,"notes":null}]"#
        let clearing = try bed()
        try clearing.take(full, "Task")
        try clearing.take(nulls, "Task")
        #expect(try clearing.value("Task", 1, "title") == .null)
        #expect(try clearing.value("Task", 1, "first") == .null)
        #expect(try tags(clearing) == [] && clearing.related("Task", 1, "notes") == [])

        let keeping = try bed(
            EntityMapping(fields: ["text": FieldRules(nulls: .clear)], rules: FieldRules(nulls: .ignore)))
        try keeping.take(full, "Task")
        let report = try keeping.take(nulls, "Task")
        #expect(report.diagnosticCount == 0)
        #expect(try keeping.value("Task", 1, "title") == .string("a"))
        #expect(try keeping.value("Task", 1, "text") == .null)
        #expect(try keeping.value("Task", 1, "first") == .reference(RecordKey(7)))
        #expect(try tags(keeping) == [1, 2] && keeping.related("Task", 1, "notes") == ["5"])

        let api = try bed(rules: FieldRules(nulls: .ignore))
        try api.take(full, "Task")
        #expect(try api.take(nulls, "Task").unchanged >= 1)
        #expect(try api.value("Task", 1, "title") == .string("a"))
    }

    @Test("what is absent stays; if it clears, it does so in listed records only, and never what is not optional")
    func absent() throws {
        let full = #"[{"id":1,"name":"n","title":"a","text":"b","first":7,"tags":[1,2]}]"#
        let keeping = try bed()
        try keeping.take(full, "Task")
        try keeping.take(#"[{"id":1}]"#, "Task")
        #expect(try keeping.value("Task", 1, "title") == .string("a") && tags(keeping) == [1, 2])

        let clearing = try bed(
            EntityMapping(
                fields: ["text": FieldRules { $0.absent = .keep }], rules: FieldRules { $0.absent = .clear }))
        try clearing.take(full, "Task")
        try clearing.take(#"[{"id":9,"task":{"id":1}}]"#, "Note")
        #expect(try clearing.value("Task", 1, "title") == .string("a"))
        try clearing.take(#"[{"id":1}]"#, "Task")
        #expect(try clearing.value("Task", 1, "title") == .null)
        #expect(try clearing.value("Task", 1, "first") == .null)
        #expect(try clearing.value("Task", 1, "name") == .string("n"))
        #expect(try clearing.value("Task", 1, "text") == .string("b"))
        #expect(try tags(clearing) == [])
    }

    @Test(
        "a list replaces, is appended, prepended or patched, also within a unit and for lists too long for a row",
        arguments: [
            (ToManyPolicy.replace, [5, 3, 1], [8]), (.append, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 8]),
            (.prepend, [5, 1, 2, 3, 4], [8, 5, 1, 2, 3, 4]), (.patch, [3, 2, 1, 4, 5], [3, 2, 1, 4, 5, 8]),
        ])
    func lists(_ policy: ToManyPolicy, _ expected: [Int], _ next: [Int]) throws {
        for offset in [0, 4000] {
            // 4,000 members are stored in a separate table.
            let mapping = EntityMapping(rules: FieldRules(toMany: policy))
            let bed = try bed(mapping)
            let others = (0..<offset).map { $0 + 100 }
            func list(_ tags: [Int]) -> String { "[" + tags.map(String.init).joined(separator: ",") + "]" }
            try bed.take(#"[{"id":1,"name":"n","tags":\#(list([1, 2, 3, 4] + others)),"watchers":[1,2,3,4]}]"#, "Task")
            try bed.take(#"[{"id":1,"tags":[5,3,1],"watchers":[5,3,1]}]"#, "Task")
            #expect(try tags(bed).filter { $0 < 100 } == expected)
            #expect(try tags(bed).count == (policy == .replace ? 3 : 5 + offset))
            #expect(try Set(tags(bed, "watchers")) == Set(expected))
            #expect(try bed.take(#"[{"id":1,"tags":[]}]"#, "Task").updated == (policy == .replace ? 1 : 0))
            try bed.take(#"[{"id":1,"tags":[8]}]"#, "Task")
            #expect(try tags(bed).filter { $0 < 100 } == next)
        }
        // Twice in one unit: as if they had come one after the other.
        let unit = try bed(EntityMapping(rules: FieldRules(toMany: policy)))
        try unit.take(#"[{"id":1,"name":"n","tags":[1,2,3,4]},{"id":1,"tags":[5,3,1]}]"#, "Task")
        #expect(try tags(unit) == expected)
    }

    @Test(
        "of a relationship that is stored at the other side, members that are not listed stay unless the list replaces")
    func derivedLists() throws {
        for policy in ToManyPolicy.allCases {
            let bed = try bed(EntityMapping(fields: ["notes": FieldRules(toMany: policy)]))
            try bed.take(#"[{"id":1,"name":"n","notes":[{"id":1},{"id":2}]}]"#, "Task")
            try bed.take(#"[{"id":1,"notes":[{"id":3},2]}]"#, "Task")
            #expect(
                try bed.related("Task", 1, "notes") == (policy == .replace ? ["2", "3"] : ["1", "2", "3"]), "\(policy)")
        }
    }

    @Test("of duplicates in a unit the last value counts, or the first; what only one has is taken from each")
    func duplicates() throws {
        let json = #"[{"id":1,"name":"first","title":"a"},{"id":1,"name":"last","text":"b"}]"#
        for policy in DuplicatePolicy.allCases {
            let bed = try bed(EntityMapping { $0.duplicates = policy })
            let report = try bed.take(json, "Task")
            #expect(report.conflicts == 1)
            #expect(try bed.value("Task", 1, "name") == .string(policy == .firstWins ? "first" : "last"))
            #expect(try bed.value("Task", 1, "title") == .string("a"))
            #expect(try bed.value("Task", 1, "text") == .string("b"))
            // The stored record is not a duplicate.
            try bed.take(#"[{"id":1,"name":"next"}]"#, "Task")
            #expect(try bed.value("Task", 1, "name") == .string("next"))
        }
    }

    @Test("an older answer changes nothing and is counted; an equal or newer one, or one without a version, is merged")
    func versions() throws {
        let bed = try bed(EntityMapping { $0.version = "revision" })
        try bed.take(#"[{"id":1,"name":"five","revision":5,"tags":[1],"notes":[{"id":1}]}]"#, "Task")
        let report = try bed.take(
            #"[{"id":1,"name":"four","revision":4,"title":"old","tags":[2],"notes":[]},{"id":2,"name":"new","revision":1}]"#,
            "Task")
        #expect(report.entities["Task"] == ImportReport.Counts(created: 1, older: 1))
        #expect(report.older == 1 && report.updated == 0)
        #expect(try bed.value("Task", 1, "name") == .string("five") && bed.value("Task", 1, "title") == nil)
        #expect(try tags(bed) == [1] && bed.related("Task", 1, "notes") == ["1"])
        try bed.take(#"[{"id":1,"name":"five again","revision":5}]"#, "Task")
        #expect(try bed.value("Task", 1, "name") == .string("five again"))
        try bed.take(#"[{"id":1,"title":"unversioned"}]"#, "Task")
        #expect(
            try bed.value("Task", 1, "title") == .string("unversioned") && bed.value("Task", 1, "revision") == .int(5))
        try bed.take(#"[{"id":1,"name":"ten","revision":10}]"#, "Task")
        #expect(try bed.value("Task", 1, "name") == .string("ten"))
        // 9 is a greater text than 10, and a smaller number.
        #expect(try bed.take(#"[{"id":1,"name":"nine","revision":9}]"#, "Task").older == 1)
    }

    @Test("within a unit the newer version counts, wherever it stands, whatever is said of duplicates")
    func versionsInAUnit() throws {
        for policy in DuplicatePolicy.allCases {
            for order in [[4, 5], [5, 4]] {
                let bed = try bed(
                    EntityMapping {
                        $0.duplicates = policy
                        $0.version = "revision"
                    })
                let json = order.map { #"{"id":1,"name":"v\#($0)","revision":\#($0)}"# }.joined(separator: ",")
                try bed.take("[\(json)]", "Task")
                #expect(try bed.value("Task", 1, "name") == .string("v5"), "\(policy) \(order)")
                #expect(try bed.value("Task", 1, "revision") == .int(5))
            }
        }
    }

    @Test("a tombstone deletes by the delete rules, is counted, and is not among the listed")
    func tombstones() throws {
        let bed = try bed(EntityMapping { $0.tombstone = TombstoneRule(path: "state.gone", equals: "true") })
        try bed.take(
            #"[{"id":1,"name":"a","notes":[{"id":1},{"id":2}]},{"id":2,"name":"b"},{"id":3,"name":"c"}]"#, "Task")
        let added = try bed.add(
            #"[{"id":1,"state":{"gone":true},"tags":[{"id":77}],"name":null},{"id":2,"state":{"gone":false},"name":"B"},{"id":9,"state":{"gone":true}},{"id":3,"name":"c","state":null}]"#,
            "Task")
        #expect(added.count == 4 && added.listed.count == 2)
        let report = try bed.commit()
        #expect(report.entities["Task"] == ImportReport.Counts(updated: 1, unchanged: 1, deleted: 1))
        #expect(report.diagnosticCount == 0)
        #expect(try bed.record("Task", 1) == nil && bed.record("Task", 9) == nil)
        #expect(try bed.count("Note") == 0 && bed.count("Tag") == 0)
        #expect(try bed.value("Task", 2, "name") == .string("B"))
    }

    @Test(
        "a tombstone may be any value but null and false, or one text",
        arguments: [
            (nil as String?, #""2026-11-21""#, true), (nil, "true", true), (nil, "0", true), (nil, "null", false),
            (nil, "false", false),
            ("gone", #""gone""#, true), ("gone", #""Gone""#, false), ("7", "7", true), ("7", #""7""#, true),
            ("7", "7.0", false), ("gone", "{}", false),
        ])
    func tombstoneValues(_ equals: String?, _ json: String, _ isGone: Bool) throws {
        let bed = try bed(EntityMapping { $0.tombstone = TombstoneRule(path: "dead", equals: equals) })
        try bed.take(#"[{"id":1,"name":"a"}]"#, "Task")
        try bed.take(#"[{"id":1,"name":"a","dead":\#(json)}]"#, "Task")
        #expect(try (bed.record("Task", 1) == nil) == isGone)
    }

    @Test(
        "in a unit the later of a tombstone and a listed record counts; an excerpt brings nothing back; a denied delete is reported"
    )
    func tombstoneOrder() throws {
        let rule = EntityMapping { $0.tombstone = TombstoneRule(path: "dead") }
        let back = try bed(rule)
        try back.take(#"[{"id":1,"name":"a"}]"#, "Task")
        #expect(try back.take(#"[{"id":1,"dead":true},{"id":1,"name":"b"}]"#, "Task").deleted == 0)
        #expect(try back.value("Task", 1, "name") == .string("b"))
        #expect(try back.take(#"[{"id":1,"name":"b"},{"id":1,"dead":true}]"#, "Task").deleted == 1)
        #expect(try back.record("Task", 1) == nil)

        let excerpt = try bed(rule)
        try excerpt.take(#"[{"id":1,"name":"a"}]"#, "Task")
        try excerpt.add(#"[{"id":1,"dead":true}]"#, "Task")
        try excerpt.add(#"[{"id":4,"task":{"id":1}}]"#, "Note")
        #expect(try excerpt.commit().deleted == 1)
        #expect(try excerpt.record("Task", 1) == nil)

        let denied = try bed(rule)
        try denied.take(#"[{"id":1,"name":"a","blockers":[{"id":1}]}]"#, "Task")
        let report = try denied.take(#"[{"id":1,"dead":true}]"#, "Task")
        #expect(report.deleted == 0 && report.diagnostics.map(\.code) == [.deleteDenied])
        #expect(try denied.record("Task", 1) != nil)
    }

    @Test(
        "where the first of duplicates counts, so does the first of a tombstone and a listed record; an excerpt decides nothing"
    )
    func firstTombstone() throws {
        let rule = EntityMapping {
            $0.duplicates = .firstWins
            $0.version = "revision"
            $0.tombstone = TombstoneRule(path: "dead")
        }
        let bed = try bed(rule)
        try bed.take(#"[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"},{"id":4,"name":"d"}]"#, "Task")
        let report = try bed.take(
            #"[{"id":1,"name":"e"},{"id":1,"dead":true},{"id":2,"dead":true},{"id":2,"name":"f"}]"#, "Task")
        #expect(report.deleted == 1 && report.updated == 1)
        #expect(try bed.value("Task", 1, "name") == .string("e") && bed.record("Task", 2) == nil)
        // A newer version counts wherever it is.
        let newer = try bed.take(
            #"[{"id":3,"name":"g","revision":1},{"id":3,"dead":true,"revision":2}]"#, "Task")
        #expect(try newer.deleted == 1 && bed.record("Task", 3) == nil)
        try bed.add(#"[{"id":9,"task":{"id":4}}]"#, "Note")
        try bed.add(#"[{"id":4,"dead":true}]"#, "Task")
        #expect(try bed.commit().deleted == 1 && bed.record("Task", 4) == nil)
        try bed.take(#"[{"id":5,"name":"h"}]"#, "Task")
        try bed.add(#"[{"id":9,"task":{"id":5,"dead":true}}]"#, "Note")
        try bed.add(#"[{"id":5,"name":"i"}]"#, "Task")
        #expect(try bed.commit().deleted == 1 && bed.record("Task", 5) == nil)
    }

    @Test("an older tombstone deletes nothing, in the store and in a unit")
    func olderTombstone() throws {
        let rule = EntityMapping {
            $0.version = "revision"
            $0.tombstone = TombstoneRule(path: "dead")
        }
        let bed = try bed(rule)
        try bed.take(#"[{"id":1,"name":"a","revision":5}]"#, "Task")
        let report = try bed.take(#"[{"id":1,"dead":true,"revision":4}]"#, "Task")
        #expect(report.deleted == 0 && report.older == 1)
        #expect(
            try bed.take(#"[{"id":1,"name":"b","revision":6},{"id":1,"dead":true,"revision":5}]"#, "Task").deleted == 0)
        #expect(try bed.value("Task", 1, "name") == .string("b"))
        #expect(
            try bed.take(#"[{"id":1,"dead":true,"revision":7},{"id":1,"name":"c","revision":6}]"#, "Task").deleted == 1)
    }

    @Test("a list in a tombstone is not used: the members are deleted, or deny the delete, as the rules say")
    func listInTombstone() throws {
        let bed = try bed(EntityMapping { $0.tombstone = TombstoneRule(path: "dead") })
        try bed.take(
            #"[{"id":1,"name":"a","notes":[{"id":1},{"id":2}]},{"id":2,"name":"b","blockers":[{"id":1}]}]"#, "Task")
        let report = try bed.take(
            #"[{"id":1,"dead":true,"notes":[]},{"id":2,"dead":true,"blockers":[]}]"#, "Task")
        #expect(report.deleted == 1 && report.diagnostics.map(\.code) == [.deleteDenied])
        #expect(try bed.count("Note") == 0 && bed.related("Task", 2, "blockers") == ["1"])
    }

    @Test("lists that are stored in the members follow the version and the first duplicate, in a unit and after it")
    func listsByPolicies() throws {
        let old = #"{"id":1,"name":"old","revision":1,"notes":[{"id":1},{"id":3}]}"#
        let new = #"{"id":1,"name":"new","revision":2,"notes":[{"id":1},{"id":2}]}"#
        for json in ["[\(old),\(new)]", "[\(new),\(old)]"] {
            let bed = try bed(EntityMapping { $0.version = "revision" })
            try bed.take(#"[{"id":9,"name":"other","revision":1,"notes":[{"id":3}]}]"#, "Task")
            try bed.take(json, "Task")
            #expect(try bed.related("Task", 1, "notes") == ["1", "2"], "\(json)")
            #expect(try bed.related("Note", 3, "task") == ["9"], "\(json)")
        }
        let later = try bed(EntityMapping { $0.version = "revision" })
        try later.take("[\(new)]", "Task")
        #expect(try later.take("[\(old)]", "Task").diagnosticCount == 0)
        #expect(try later.related("Task", 1, "notes") == ["1", "2"] && later.related("Note", 3, "task") == [])

        let first = try bed(EntityMapping { $0.duplicates = .firstWins })
        try first.take(#"[{"id":1,"name":"a","notes":[{"id":1}]},{"id":1,"name":"b","notes":[{"id":2}]}]"#, "Task")
        #expect(try first.related("Task", 1, "notes") == ["1"] && first.related("Note", 2, "task") == [])
        // As for a field: if only the second one has a list, it counts.
        try first.take(#"[{"id":2,"name":"a"},{"id":2,"name":"b","notes":[{"id":5},6]},{"id":2,"notes":[]}]"#, "Task")
        #expect(try first.related("Task", 2, "notes") == ["5"])
    }

    @Test("a list that is absent clears a relationship that is stored in its members, if the relationship says so")
    func absentDerivedList() throws {
        let full = #"[{"id":1,"name":"n","notes":[{"id":1},{"id":2}]}]"#
        let clearing = try bed(EntityMapping(fields: ["notes": FieldRules { $0.absent = .clear }]))
        try clearing.take(full, "Task")
        try clearing.take(#"[{"id":3,"task":{"id":1}}]"#, "Note")
        #expect(try clearing.related("Task", 1, "notes") == ["1", "2", "3"])
        try clearing.take(#"[{"id":1}]"#, "Task")
        #expect(try clearing.related("Task", 1, "notes") == [] && clearing.count("Note") == 3)

        let api = try bed(rules: FieldRules { $0.absent = .clear })
        try api.take(full, "Task")
        try api.take(#"[{"id":1}]"#, "Task")
        #expect(try api.related("Task", 1, "notes") == ["1", "2"])
    }

    @Test("a denied delete is tried again when the record that forbids it is deleted by the same unit")
    func deniedUntilLater() throws {
        let schema = Schema([
            EntityDefinition(
                "Node", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("parent", to: "Node", inverse: "children"),
                    RelationshipDefinition("children", to: "Node", many: true, inverse: "parent", onDelete: .deny),
                ])
        ])
        let mapping = EntityMapping { $0.tombstone = TombstoneRule(path: "dead") }
        let bed = try TestStore(schema, Mapping(entities: ["Node": mapping]))
        try bed.take(#"[{"id":1},{"id":2,"parent":1},{"id":3,"parent":2},{"id":4,"parent":3}]"#, "Node")
        let some = try bed.take(#"[{"id":1,"dead":true},{"id":2,"dead":true},{"id":3,"dead":true}]"#, "Node")
        #expect(some.deleted == 0 && some.diagnostics.map(\.code) == [.deleteDenied, .deleteDenied, .deleteDenied])
        let all = try bed.take(#"[{"id":1,"dead":1},{"id":2,"dead":1},{"id":3,"dead":1},{"id":4,"dead":1}]"#, "Node")
        #expect(try all.deleted == 4 && all.diagnosticCount == 0 && bed.count("Node") == 0)
    }

    @Test("the switches of MMRecord together: nulls ignored, lists appended, the first duplicate wins")
    func ancestor() throws {
        let mapping = Mapping(
            entities: ["Task": EntityMapping(declared: ["notes"])], rules: FieldRules(nulls: .ignore, toMany: .append),
            duplicates: .firstWins)
        let bed = try TestStore(Self.schema, mapping)
        try bed.take(#"[{"id":1,"name":"a","title":"t","tags":[1]},{"id":1,"name":"b"}]"#, "Task")
        try bed.take(#"[{"id":1,"title":null,"tags":[2]},{"id":1,"title":"late"}]"#, "Task")
        #expect(try bed.value("Task", 1, "name") == .string("a"))
        #expect(try bed.value("Task", 1, "title") == .string("late"))
        #expect(try tags(bed) == [1, 2])
    }

    @Test(
        "records known in part and skipped ones are counted by entity; a sample of the value is short; diagnostics are limited"
    )
    func reports() throws {
        let bed = try bed()
        bed.importer.diagnosticLimit = 2
        let long = String(repeating: "x", count: 500)
        let report = try bed.take(
            #"[{"id":1,"name":["\#(long)"]},{"id":2,"name":{}},{"name":"no key"},{"id":3,"name":true}]"#, "Task")
        #expect(report.diagnosticCount == 4 && report.diagnostics.count == 2 && report.skipped == 1)
        #expect(
            report.diagnostics[0].sample.map { $0.count == 80 && $0.hasPrefix(#"["xxx"#) && $0.hasSuffix("…") } == true)
        #expect(report.diagnostics[1].sample == "{}")
        #expect(report.entities["Task"]?.skipped == 1)
        let nested = try bed.take(#"[{"id":9,"task":{"id":50}},{"id":10,"task":{"id":51,"name":"whole"}}]"#, "Note")
        var counts = ImportReport.Counts(created: 2)
        counts.partial = 1
        #expect(nested.entities["Task"] == counts)
    }
}
