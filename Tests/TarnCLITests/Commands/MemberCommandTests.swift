// `tarn update --add` and `--remove`: requests for single members of a relationship.

import TestSupport
import Testing

@Suite("Command line: members of relationships", .timeLimit(.minutes(2)))
struct MemberCommandTests {
    private let folder: TemporaryFolder
    private let server: ScriptedServer
    private let file: String

    /// The requests that were no pages.
    private var writes: [String] { server.requests.filter { $0.method != "GET" }.map { "\($0.method) \($0.target)" } }

    init() async throws {
        folder = try TemporaryFolder()
        server = try ScriptedServer { request in
            switch (request.method, request.target) {
            case ("GET", "/issues"):
                return .init(
                    body: """
                        [{"id":17,"title":"a","labels":[{"name":"bug"},{"name":"old"}]},
                         {"id":18,"title":"b","labels":[{"name":"old"}]}]
                        """)
            case ("GET", _): return .init(body: #"[{"id":5,"text":"x","issue":17}]"#)
            default: return .init(status: "204 No Content")
            }
        }
        file = try folder.write(
            "tarn.yaml",
            """
            store: s.tarn
            api: { base: '\(server.base)' }
            entities:
              Label: { key: name, attributes: { name: string } }
              Note:
                key: id
                attributes: { id: int, text: string }
                relationships: { issue: { to: Issue, inverse: notes } }
              Issue:
                key: id
                attributes: { id: int, title: string }
                relationships: { labels: [Label], notes: { to: [Note], inverse: issue } }
                write:
                  update: 'PATCH /issues/{id}'
                  relationships:
                    labels:
                      add: 'PUT /issues/{id}/labels/{member.name}'
                      remove: 'DELETE /issues/{id}/labels/{member.name}'
                    notes: { remove: 'DELETE /issues/{id}/notes/{member.id}' }
            endpoints:
              issues: { path: /issues, entity: Issue, paginate: single_page }
              notes: { path: /notes, entity: Note, paginate: single_page }
            """)
        try await expectSuccess(tarn("sync", "--file", file, "--quiet"))
    }

    private func update(_ arguments: String...) async throws -> TarnProcess.Result {
        try await tarn(["update", "Issue"] + arguments + ["--file", file])
    }

    /// The labels of the issues.
    private func labels() async throws -> String {
        try await tarn("list", "Issue", "--fields", "id,labels", "--format", "ndjson", "--file", file).output
    }

    @Test("each member is a request, beside the changed fields, and the list changes at once")
    func addAndRemove() async throws {
        let queued = try await update(
            "--where", "id = 17", "--set", "title=z", "--add", "labels=new", "--add", "labels=bug", "--remove",
            "labels=old", "--add", "labels=a b", "--queue")
        #expect(queued.status == 0 && queued.output.contains("\"matched\":1,\"queued\":4"), "\(queued)")
        let stored = try await labels()
        #expect(stored.contains(#"{"id":17,"labels":["bug","new","a b"]}"#), "\(stored)")
        try await expectSuccess(tarn("push", "--file", file))
        #expect(
            Set(writes) == [
                "PATCH /issues/17", "DELETE /issues/17/labels/old", "PUT /issues/17/labels/new",
                "PUT /issues/17/labels/a%20b",
            ], "\(writes)")
    }

    @Test("all records of a condition get the member, with --send, and a dry run only counts")
    func ofMany() async throws {
        let counted = try await update("--all", "--remove", "labels=old", "--send", "--dry-run")
        #expect(counted.status == 0 && counted.output.contains("\"matched\":2"), "\(counted)")
        #expect(try await labels().components(separatedBy: "\"old\"").count == 3 && writes.isEmpty)
        let sent = try await update("--all", "--remove", "labels=old", "--send")
        #expect(sent.status == 0, "\(sent)")
        #expect(Set(writes) == ["DELETE /issues/17/labels/old", "DELETE /issues/18/labels/old"], "\(writes)")
    }

    @Test("a key may begin with a scalar that combines with the sign before it")
    func combining() async throws {
        let queued = try await update("--where", "id = 18", "--add", "labels=\u{301}x", "--queue")
        #expect(queued.status == 0, "\(queued)")
        #expect(try await labels().contains("\u{301}x"))
    }

    @Test("members of a list that is the inverse of a reference are keys of the other records")
    func inverse() async throws {
        let sent = try await update("--where", "id = 17", "--remove", "notes=5", "--send")
        #expect(sent.status == 0 && writes == ["DELETE /issues/17/notes/5"], "\(sent) \(writes)")
        let refused = try await update("--where", "id = 17", "--add", "notes=5", "--send")
        #expect(refused.error.contains("entities.Issue.write.relationships.notes.add"), "\(refused)")
    }

    @Test(
        "what cannot be a member is a usage error that names it",
        arguments: [
            (["--add", "labels=new"], "add --queue or --send"),
            (["--add", "labels", "--queue"], "--add labels: not relationship=key"),
            (["--add", "label=new", "--queue"], "--add label=new: Issue has no label: did you mean labels?"),
            (["--add", "label=new", "--queue", "--dry-run", "--immutable"], "--add label=new: Issue has no label"),
            (["--add", "notes=x", "--queue"], "--add notes=x: key of Note: expected int, found x"),
            (["--add", "labels=x", "--remove", "labels=x", "--queue"], "more than once"),
            (["--queue"], "--add or --remove relationship=key"),
        ])
    func wrong(arguments: [String], text: String) async throws {
        let result = try await tarn(["update", "Issue", "--all"] + arguments + ["--file", file])
        #expect(result.status == 2 && result.error.contains(text), "\(result)")
        #expect(try await tarn("outbox", "list", "--file", file).output.isEmpty)
    }
}
