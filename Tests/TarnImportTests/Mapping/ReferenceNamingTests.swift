// Relationships whose targets are bare keys under names such as `author_id` and `label_ids`.

import TarnImport
import TarnStore
import Testing

@Suite("Import: bare keys by naming convention")
struct ReferenceNamingTests {
    private func store(_ naming: NamingConvention, _ change: (inout Mapping) -> Void = { _ in }) throws -> TestStore {
        var mapping = Forge.mapping
        mapping.naming = naming
        change(&mapping)
        return try TestStore(Forge.schema, mapping)
    }

    private static let rails = NamingConvention(referenceSuffixes: ["_id"])

    @Test("without the option, such keys are not taken, and are reported as unmapped")
    func off() throws {
        let bed = try store(NamingConvention())
        let report = try bed.take(#"[{"id":1,"title":"t","author_id":7,"label_ids":[1,2]}]"#, "Issue")
        #expect(try bed.value("Issue", 1, "author") == nil && bed.related("Issue", 1, "labels").isEmpty)
        #expect(report.unmapped.map(\.path) == ["author_id", "label_ids"])
    }

    @Test("a to-one relationship takes the bare key of its target, a to-many one the list, in the order of the list")
    func taken() throws {
        let bed = try store(Self.rails)
        let report = try bed.take(
            #"[{"id":1,"title":"t","author_id":7,"label_ids":[3,"1",2],"assignee_ids":[]}]"#, "Issue")
        #expect(report.unmapped.isEmpty && report.diagnostics.isEmpty)
        #expect(try bed.value("Issue", 1, "author") == .reference(RecordKey(7)))
        #expect(try bed.related("Issue", 1, "labels") == ["3?", "1?", "2?"])
        #expect(try bed.related("User", 7, "issues") == ["1"])
        try bed.take(#"[{"id":7,"login":"ada"}]"#, "User")
        #expect(try bed.related("Issue", 1, "author") == ["7"])
    }

    @Test("null clears, absent leaves")
    func nulls() throws {
        let bed = try store(Self.rails)
        try bed.take(#"[{"id":1,"title":"t","author_id":7},{"id":2,"title":"t","author_id":7}]"#, "Issue")
        try bed.take(#"[{"id":1,"title":"t","author_id":null},{"id":2,"title":"u"}]"#, "Issue")
        #expect(try (bed.value("Issue", 1, "author") ?? .null) == .null)
        #expect(try bed.value("Issue", 2, "author") == .reference(RecordKey(7)))
    }

    @Test(
        "a value under the relationship's own name wins, wherever the bare key is",
        arguments: [
            #"{"id":1,"title":"t","author":{"id":8,"login":"bob"},"author_id":7}"#,
            #"{"id":1,"title":"t","author_id":7,"author":{"id":8,"login":"bob"}}"#,
            #"{"id":1,"title":"t","author":{"id":8,"login":"bob"},"author_id":null}"#,
            #"{"id":1,"title":"t","author":null,"author_id":8}"#,
            #"{"id":1,"title":"t","author":8,"author_id":7}"#,
        ])
    func nested(_ json: String) throws {
        let bed = try store(Self.rails)
        let report = try bed.take("[\(json)]", "Issue")
        #expect(try bed.value("Issue", 1, "author") == .reference(RecordKey(8)), "\(report.diagnostics)")
        #expect(report.unmapped.isEmpty)
    }

    @Test("a derived list of bare keys sets the references of its stored members, and clears those of others")
    func derived() throws {
        let bed = try store(Self.rails)
        try bed.take(
            #"[{"id":1,"title":"t","author_id":7},{"id":2,"title":"t"},{"id":3,"title":"t"}]"#, "Issue")
        try bed.take(#"[{"id":7,"login":"ada","issue_ids":[2,3]}]"#, "User")
        #expect(try bed.related("User", 7, "issues") == ["2", "3"])
        #expect(try (bed.value("Issue", 1, "author") ?? .null) == .null)
    }

    @Test("a value that is no key is reported at its own path, and the stored value is kept")
    func wrongType() throws {
        let bed = try store(Self.rails)
        try bed.take(#"[{"id":1,"title":"t","author_id":7}]"#, "Issue")
        let report = try bed.take(#"[{"id":1,"title":"t","author_id":true}]"#, "Issue")
        #expect(report.diagnostics.map(\.path) == ["$[0].author_id"] && report.diagnostics[0].code == .relationshipType)
        #expect(try bed.value("Issue", 1, "author") == .reference(RecordKey(7)))
    }

    @Test("a target whose key has several parts, or is owned, is not referred to by a bare key")
    func composite() throws {
        let schema = Schema([
            EntityDefinition(
                "Repository", key: ["owner", "name"],
                attributes: [AttributeDefinition("owner", .string), AttributeDefinition("name", .string)]),
            EntityDefinition(
                "Issue", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("repository", to: "Repository")]),
        ])
        let bed = try TestStore(schema, Mapping(naming: Self.rails))
        let report = try bed.take(#"[{"id":1,"repository_id":5}]"#, "Issue")
        #expect(report.unmapped.map(\.path) == ["repository_id"] && report.diagnostics.isEmpty)
    }

    @Test(
        "names follow the style, the words of the convention, and English plurals",
        arguments: [
            (NamingConvention(referenceSuffixes: ["_id"]), "closedBy", false, ["closed_by_id"]),
            (
                NamingConvention(.camelCase, referenceSuffixes: ["_id"]), "closedBy", false,
                ["closedById", "closedBy_id"]
            ),
            (NamingConvention(.camelCase, referenceSuffixes: ["Id"]), "labels", true, ["labelIds"]),
            (NamingConvention(.pascalCase, referenceSuffixes: ["Id"]), "author", false, ["AuthorId"]),
            (NamingConvention(.kebabCase, referenceSuffixes: ["-id"]), "author", false, ["author-id"]),
            (NamingConvention(.none, referenceSuffixes: ["ID"]), "author", false, ["authorID"]),
            (NamingConvention(.none, referenceSuffixes: ["ID"]), "labels", true, ["labelIDs"]),
            (
                NamingConvention(words: ["repo": "repository"], referenceSuffixes: ["_id"]), "repository", false,
                ["repo_id"]
            ),
            (NamingConvention(referenceSuffixes: ["_id", "_key"]), "author", false, ["author_id", "author_key"]),
            (NamingConvention(referenceSuffixes: ["_id"]), "categories", true, ["category_ids", "categorie_ids"]),
            (NamingConvention(referenceSuffixes: ["_id"]), "statuses", true, ["status_ids", "statuse_ids"]),
            (NamingConvention(referenceSuffixes: ["_id"]), "releases", true, ["releas_ids", "release_ids"]),
            (NamingConvention(referenceSuffixes: ["_id"]), "subIssues", true, ["sub_issue_ids"]),
            (NamingConvention(referenceSuffixes: ["_id"]), "staff", true, ["staff_ids"]),
            (NamingConvention(), "author", false, []),
        ])
    func names(_ naming: NamingConvention, _ name: String, _ isToMany: Bool, _ keys: [String]) {
        #expect(naming.referenceKeys(for: name, isToMany: isToMany) == keys)
    }

    @Test("a declared key has its bare key beside it, which comes before that of the name")
    func beside() throws {
        let bed = try store(Self.rails) {
            $0.entities["Issue"]?.paths["author"] = ["user"]
            $0.entities["Issue"]?.paths["labels"] = ["tags"]
        }
        try bed.take(
            #"[{"id":1,"title":"t","author_id":7,"user_id":9,"tag_ids":[3]},{"id":2,"title":"t","author_id":7}]"#,
            "Issue")
        #expect(try bed.value("Issue", 1, "author") == .reference(RecordKey(9)))
        #expect(try bed.value("Issue", 2, "author") == .reference(RecordKey(7)))
        #expect(try bed.related("Issue", 1, "labels") == ["3?"])
        try bed.take(#"[{"id":1,"title":"t","user":{"id":8,"login":"bob"},"user_id":9}]"#, "Issue")
        #expect(try bed.value("Issue", 1, "author") == .reference(RecordKey(8)))
    }

    @Test("a declared path comes before the convention")
    func declared() throws {
        let bed = try store(Self.rails) { $0.entities["Issue"]?.paths["author"] = ["user_number"] }
        try bed.take(#"[{"id":1,"title":"t","author_id":7,"user_number":9}]"#, "Issue")
        #expect(try bed.value("Issue", 1, "author") == .reference(RecordKey(9)))
    }
}
