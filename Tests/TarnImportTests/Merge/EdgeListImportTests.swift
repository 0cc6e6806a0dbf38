// Long lists of references from JSON, on the side that stores them and on the other.

import TarnImport
import TarnStore
import Testing

@Suite("Import: long lists")
struct EdgeListImportTests {
    private func json(_ ids: some Sequence<Int>, _ key: (Int) -> String = { "\($0)" }) -> String {
        "[" + ids.map(key).joined(separator: ",") + "]"
    }

    @Test("a list of thousands is imported, imported again without a change, and appended to")
    func stored() throws {
        let bed = try Forge.store()
        try bed.take(#"{"id":1,"title":"t","labels":\#(json(1...3000) { #"{"id":\#($0)}"# })}"#, "Issue")
        #expect(try bed.related("Issue", 1, "labels") == (1...3000).map { "\($0)" })
        #expect(try bed.related("Label", 2999, "labelled") == ["1"])
        let before = try bed.sequence
        let report = try bed.take(#"{"id":1,"labels":\#(json(1...3000))}"#, "Issue")
        #expect(report.unchanged == 1)
        #expect(try bed.sequence == before)
        let appended = try bed.take(#"{"id":1,"labels":\#(json(1...3001))}"#, "Issue")
        #expect(appended.updated == 1)
        #expect(try bed.related("Issue", 1, "labels").last == "3001?")
    }

    @Test("a member says of itself that it is in, or no longer in, a long list that another record holds")
    func derivedMembers() throws {
        let id = AttributeDefinition("id", .int)
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Team", key: ["id"], attributes: [id],
                    relationships: [
                        RelationshipDefinition("people", to: "Person", many: true, ordered: true, inverse: "teams")
                    ]),
                EntityDefinition(
                    "Person", key: ["id"], attributes: [id],
                    relationships: [RelationshipDefinition("teams", to: "Team", many: true, inverse: "people")]),
            ]), Mapping(entities: ["Person": EntityMapping(declared: ["teams"])]))
        try bed.take(#"[{"id":1,"people":\#(json(1...2000))},{"id":2,"people":[1]}]"#, "Team")
        try bed.take(#"{"id":5000,"teams":[1]}"#, "Person")
        #expect(try bed.related("Team", 1, "people").last == "5000")
        #expect(try bed.related("Team", 1, "people").count == 2001)
        try bed.take(#"{"id":1,"teams":[2]}"#, "Person")
        #expect(try bed.related("Team", 1, "people").first == "2?")
        #expect(try bed.related("Team", 1, "people").count == 2000)
        #expect(try bed.related("Person", 1, "teams") == ["2"])
    }

    @Test("a joined relationship takes nothing from JSON, and its attribute does")
    func joined() throws {
        let login = AttributeDefinition("login", .string, optional: true, indexed: true)
        let schema = Schema([
            EntityDefinition(
                "User", key: ["id"], attributes: [AttributeDefinition("id", .int), login],
                relationships: [
                    RelationshipDefinition("peers", to: "User", many: true, joinedBy: .init("login", equals: "login"))
                ])
        ])
        let bed = try TestStore(schema, Mapping(entities: ["User": EntityMapping(declared: ["peers"])]))
        let report = try bed.take(#"[{"id":1,"login":"a","peers":[{"id":3}]},{"id":2,"login":"a","peers":7}]"#, "User")
        #expect(report.diagnosticCount == 0)
        #expect(report.unmapped.map(\.path) == ["peers"])
        #expect(try bed.related("User", 1, "peers") == ["1", "2"])
        let mapping = Mapping(entities: ["User": EntityMapping(paths: ["peers": ["p"]])])
        #expect(
            mapping.problems(for: schema).map(\.message)
                == ["a joined relationship has no value in JSON, only its attribute has: remove its paths"])
    }
}
