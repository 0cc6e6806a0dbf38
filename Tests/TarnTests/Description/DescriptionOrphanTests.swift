// Commits and orphans of endpoints, and local changes of entities, in a description.

import Tarn
import TarnDescription
import Testing

@Suite("Description file: commits, orphans and local changes")
struct DescriptionOrphanTests {
    private func endpoint(_ lines: String, _ name: String = "issues") throws -> Endpoint {
        let text = soundDescription.replacing(
            name == "issues" ? "    paginate: header_link" : "    for_each: {",
            with: name == "issues" ? "    paginate: header_link\n    \(lines)" : "    \(lines)\n    for_each: {")
        return try #require(try Description.parse(text, file: "forge.yaml").endpoints.first { $0.name == name })
    }

    @Test(
        "what is committed together is read",
        arguments: [
            ("commit: page", Endpoint.CommitUnit.pages(1)), ("commit: walk", .scan),
            ("commit: { every: 20 }", .pages(20)), ("", .pages(1)),
        ])
    func commit(written: String, unit: Endpoint.CommitUnit) throws {
        #expect(try endpoint(written).commitUnit == unit)
    }

    @Test(
        "rules for orphans are read, in short and in full",
        arguments: [
            ("", nil), ("orphans: keep", nil), ("orphans: after_two_scans", Orphans()),
            ("orphans: after_one_scan", Orphans(scans: 1)),
            ("orphans: entity", Orphans(.entity)), ("orphans: {}", Orphans()),
            ("orphans: { scope: entity, after: one_scan }", Orphans(.entity, scans: 1)),
            (
                "orphans: { after: two_scans, keep: state = open, allow_empty: true }",
                Orphans(keep: .compare("state", .equal, .string("open")), allowsEmpty: true)
            ),
            (
                "orphans: { where: 'milestone is missing', check: '/repos/{owner}/issues/{issue.id}' }",
                Orphans(.matching(.isMissing("milestone")), check: "/repos/{owner}/issues/{issue.id}")
            ),
        ] as [(String, Orphans?)])
    func orphans(written: String, orphans: Orphans?) throws {
        #expect(try endpoint(written).orphans == orphans)
    }

    @Test(
        "an endpoint with several entities may take what its walks have listed",
        arguments: [
            ("after_two_scans", Orphans()), ("after_one_scan", Orphans(scans: 1)), ("keep", nil),
            (
                "{ scope: listed, after: one_scan, allow_empty: true, then: delete }",
                Orphans(scans: 1, allowsEmpty: true)
            ),
        ] as [(String, Orphans?)])
    func envelope(written: String, orphans: Orphans?) throws {
        let text = soundDescription.replacing(
            "    records: $\n    entity: Issue",
            with: "    records: { data: Issue, labels: Label }\n    orphans: \(written)")
        let endpoint = try #require(try Description.parse(text, file: "forge.yaml").endpoints.first)
        #expect(endpoint.orphans == orphans && endpoint.envelope.map(\.entity) == ["Issue", "Label"])
    }

    @Test("an endpoint with an owner may take what the owner has, and unlink instead of deleting")
    func owner() throws {
        #expect(
            try endpoint("orphans: { scope: owner, then: unlink }", "ofMilestone").orphans
                == Orphans(.owner, action: .unlink))
    }

    @Test(
        "another rule for local changes is another mapping: pages are fetched again; another rule for orphans or commits is none"
    )
    func fingerprint() async throws {
        var store = try MirrorStore(yaml: itemsYAML())
        let path = store.path
        let yaml = itemsYAML("commit: walk\n    orphans: entity\n    paginate: header_link")
        for (yaml, notModified) in [
            (itemsYAML(), 0), (yaml, 1), (yaml.replacing("entities:", with: "  local: keep\nentities:"), 0),
            (itemsYAML(attributes: "    local: server"), 0), (itemsYAML(attributes: "    local: server"), 1),
        ] {
            store.description = try Description.parse(yaml, file: "tarn.yaml")
            store.description.storePath = path
            #expect(try await store.scan([[1]]).notModified == notModified, "\(yaml)")
        }
    }

    @Test("what is done with local changes is said by the API or an entity")
    func local() throws {
        let plain = try Description.parse(soundDescription, file: "forge.yaml")
        #expect(plain.mapping.local(of: "User", in: plain.schema) == .fields)
        let api = try Description.parse(
            soundDescription.replacing("  naming:", with: "  local: keep\n  naming:"), file: "forge.yaml")
        #expect(api.mapping.local(of: "User", in: api.schema) == .keep)
        let entity = try Description.parse(
            soundDescription.replacing("  User:\n    key: id", with: "  User:\n    key: id\n    local: server"),
            file: "forge.yaml")
        #expect(
            entity.mapping.local(of: "User", in: entity.schema) == .server
                && entity.mapping.local(of: "Issue", in: entity.schema) == .fields)
    }

    @Test(
        "what is wrong is said with its place",
        arguments: [
            .init(
                "    records: $", "    commit: row\n    records: $",
                "37:13: endpoints.issues.commit: unknown unit \"row\": expected one of page, walk; or write { every: 20 }"
            ),
            .init(
                "    records: $", "    commit: { every: 0 }\n    records: $",
                "37:22: endpoints.issues.commit.every: expected a whole number of at least 1"),
            .init(
                "    records: $", "    commit: {}\n    records: $",
                "37:5: endpoints.issues.commit.every: missing: write every: 20"),
            .init(
                "    records: $", "    orphans: after_two_scan\n    records: $",
                "37:14: endpoints.issues.orphans: unknown rule for orphans \"after_two_scan\": did you mean \"after_two_scans\"?"
            ),
            .init(
                "    records: $", "    orphans: { scop: entity }\n    records: $",
                "37:16: endpoints.issues.orphans.scop: unknown key \"scop\": did you mean \"scope\"?"),
            .init(
                "    records: $", "    orphans: { scope: all }\n    records: $",
                "37:23: endpoints.issues.orphans.scope: unknown scope \"all\""),
            .init(
                "    records: $", "    orphans: { scope: owner }\n    records: $",
                "37:23: endpoints.issues.orphans.scope: missing owner: declare it with for_each"),
            .init(
                "    records: $", "    orphans: { scope: entity, where: all }\n    records: $",
                "37:23: endpoints.issues.orphans.scope: where and scope exclude each other"),
            .init(
                "    records: $", "    orphans: { after: three_scans }\n    records: $",
                "37:23: endpoints.issues.orphans.after: unknown number of scans"),
            .init(
                "    records: $", "    orphans: { keep: stat = open }\n    records: $",
                "37:22: endpoints.issues.orphans.keep: Issue: unknown field \"stat\": did you mean \"state\"?"),
            .init(
                "    records: $", "    orphans: { keep: state = shut }\n    records: $",
                "37:30: endpoints.issues.orphans.keep: Issue.state: unknown value \"shut\""),
            .init(
                "    records: $", "    orphans: { then: archive }\n    records: $",
                "37:22: endpoints.issues.orphans.then: unknown end \"archive\": expected one of delete, unlink"),
            .init(
                "    records: $", "    orphans: { then: unlink }\n    records: $",
                "37:22: endpoints.issues.orphans.then: missing owner to unlink from"),
            .init(
                "    records: $", "    orphans: { check: /issues }\n    records: $",
                "37:23: endpoints.issues.orphans.check: the path does not use {issue.…}"),
            .init(
                "    records: $", "    orphans: { check: '/issues/{issue.nr}' }\n    records: $",
                "37:23: endpoints.issues.orphans.check: {issue.nr}: unknown attribute \"nr\""),
            .init(
                "    records: $", "    orphans: { check: '/{x}/{issue.id}' }\n    records: $",
                "37:23: endpoints.issues.orphans.check: no value for {x}: write with: { x: … }"),
            .init(
                "    records: $", "    orphans: { allow_empty: yes }\n    records: $",
                "37:29: endpoints.issues.orphans.allow_empty: expected true or false"),
            .init(
                "    records: $\n    entity: Issue", "    records: { data: Issue, labels: Label }\n    orphans: entity",
                "38:14: endpoints.issues.orphans: the endpoint lists several entities, so only"),
            .init(
                "    records: $\n    entity: Issue",
                "    records: { data: Issue, labels: Label }\n    orphans: { scope: entity, keep: id = 1, check: '/{issue.id}', then: unlink }",
                "38:23: endpoints.issues.orphans.scope: the endpoint lists several",
                "38:37: endpoints.issues.orphans.keep: the endpoint lists",
                "38:52: endpoints.issues.orphans.check: the endpoint lists",
                "38:73: endpoints.issues.orphans.then: the endpoint lists"),
            .init(
                "    records: $\n    entity: Issue",
                "    records: { data: Issue, labels: Label }\n    orphans: { where: id = 1 }",
                "38:23: endpoints.issues.orphans.where: the endpoint lists"),
            .init(
                "  naming:", "  local: mine\n  naming:",
                "7:10: api.local: unknown rule for local changes \"mine\": expected one of fields, keep, server"),
        ] as [BrokenDescription])
    func problems(row: BrokenDescription) { row.check() }
}
