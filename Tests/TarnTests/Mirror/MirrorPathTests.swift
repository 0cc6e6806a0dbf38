// Paths that are filled from stored records, through relationships and in the ancestors' style.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: paths from records", .timeLimit(.minutes(5)))
struct MirrorPathTests {
    private static func yaml(_ path: String, _ rest: String = "") -> String {
        """
        api: { base: 'https://api.test.example' }
        entities:
          Owner: { key: id, attributes: { id: int, login: string } }
          Repository:
            key: id
            attributes: { id: int, name: string }
            relationships: { owner: Owner }
          Issue:
            key: id
            attributes: { id: int, number: int }
            relationships: { repository: Repository }
          Comment: { key: id, attributes: { id: int } }
        endpoints:
          issues: { path: /issues, entity: Issue }
          comments:
            path: '\(path)'
            for_each: Issue
            entity: Comment
        \(rest)
        """
    }

    private static let issues = """
        [{"id":1,"number":7,"repository":{"id":5,"name":"an/vil","owner":{"id":9,"login":"ada"}}},{"id":2,"number":8,"repository":null}]
        """

    @Test(
        "a name leads through to-one relationships to an attribute, with or without the record's name, in braces or behind a colon",
        arguments: [
            "/repos/{issue.repository.owner.login}/{issue.repository.name}/issues/{issue.number}.json",
            "/repos/:repository.owner.login/:repository.name/issues/:number.json",
            "/repos/:issue.repository.owner.login/{repository.name}/issues/{number}.json",
            "/repos{/repository.owner.login,repository.name}/issues/:number.json",
        ])
    func throughRelationships(path: String) async throws {
        let server = try LocalServer([
            recording("/issues", Self.issues), recording("/repos/ada/an%2Fvil/issues/7.json", #"[{"id":70}]"#),
        ])
        let store = try MirrorStore(yaml: Self.yaml(path))
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        // The second issue lacks a value for the path: it is not requested.
        #expect(server.requests.count == 2)
        #expect(try store.count("Comment") == 1)
    }

    @Test("lists and the query may be in the path; what stands there is not sent twice")
    func expressions() async throws {
        let server = try LocalServer([
            recording("/issues", Self.issues), recording("/c/7?kind=a&kind=b&state=open", "[]"),
            recording("/c/8?kind=a&kind=b&state=open", "[]"),
        ])
        let store = try MirrorStore(
            yaml: Self.yaml("/c/{issue.number}{?kind*}", "    with: { kind: [a, b], state: open }"))
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty && server.requests.count == 3, "\(report.texts)")
    }

    @Test(
        "a path that leads nowhere is an error that names the step",
        arguments: [
            (
                "/{issue.repositry.name}",
                "{issue.repositry.name}: unknown to-one relationship \"repositry\": did you mean \"repository\"?"
            ),
            ("/{issue.repository.nam}", "{issue.repository.nam}: unknown attribute \"nam\": did you mean \"name\"?"),
            ("/{issue.repository}", "{issue.repository}: unknown attribute \"repository\""),
            ("/:nummer", "no value for {nummer}"),
            ("/{issue.number", "unmatched {"), ("/{#issue.number}", "a path cannot have a fragment"),
            ("/a?b={issue.number}", "a path cannot have a query"),
        ])
    func problems(path: String, says: String) {
        let error = #expect(throws: DescriptionError.self) { try Description.parse(Self.yaml(path), file: "tarn.yaml") }
        #expect(error?.description.contains("endpoints.comments.path: \(says)") == true, "\(error?.description ?? "")")
    }
}
