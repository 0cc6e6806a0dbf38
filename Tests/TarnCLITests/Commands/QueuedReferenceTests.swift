// Queued changes that refer to other records: by keys that were replaced, and in their URLs.

import Foundation
import TestSupport
import Testing

@Suite("Command line: references of queued changes", .timeLimit(.minutes(2)))
struct QueuedReferenceTests {
    @Test("after a push, an update that is not queued refers to the record by the key that its creation has printed")
    func printedKeyAsValue() async throws {
        let folder = try TemporaryFolder()
        var api = ModelAPI()
        api.items[7] = ModelAPI.Item(title: "a")
        let server = try ModelServer(api)
        let file = try folder.write("tarn.yaml", ModelAPI.yaml(base: server.base))
        func run(_ arguments: String...) async throws -> TarnProcess.Result {
            try await tarn(arguments + ["--file", file])
        }
        try await expectSuccess(run("sync", "--quiet"))
        let made = try await run("create", "Item", "--set", "title=new")
        let key = try #require(made.lines.first)
        try await expectSuccess(run("create", "Comment", "--set", "text=c", "--set", "item=7"))
        #expect(try await run("push").output == "2 sent\n")
        let changed = try await run("update", "Comment", "--all", "--set", "item=\(key)")
        #expect(changed.status == 0 && changed.output.contains("\"changed\":1"), "\(changed.output)\(changed.error)")
        // Both creations are sent at the same time: which of them gets the first key is up to the server.
        let found = try await run("list", "Comment", "--where", "item.title = new", "--format", "ndjson")
        #expect(found.lines.count == 1, "\(found.output)\(found.error)")
    }

    @Test("the composite key that a creation prints is an argument of other commands: a JSON array")
    func compositeKey() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            store: s.tarn
            api: { base: 'https://api.test.example' }
            entities:
              Place:
                key: [region, number]
                attributes: { region: string, number: int, name: string? }
                write: { create: 'PUT /places/{region}/{number}' }
            """)
        let made = try await tarn(
            "create", "Place", "--key", #"["r 9", 6]"#, "--set", "name=a", "--file", file)
        #expect(made.output == "[\"r 9\",6]\n", "\(made.output)\(made.error)")
        let key = try #require(made.lines.first)
        let found = try await tarn("get", "Place", key, "--file", file)
        #expect(found.status == 0 && found.output.contains("r 9"), "\(found.output)\(found.error)")
    }

    @Test("outbox show names the changes that a change waits for because of its URL")
    func waitsForURL() async throws {
        let folder = try TemporaryFolder(),
            server = try ScriptedServer { request in
                .init(body: request.target == "/projects" ? #"[{"id":1,"name":"a"}]"# : #"[{"id":2,"project":1}]"#)
            }
        let file = try folder.write(
            "tarn.yaml",
            """
            store: s.tarn
            api: { base: '\(server.base)' }
            entities:
              Project:
                key: id
                attributes: { id: int, name: string }
                write: { update: 'PATCH /projects/{id}' }
              Issue:
                key: id
                attributes: { id: int, title: string? }
                relationships: { project: { to: Project } }
                write: { update: 'PATCH /projects/{project.name}/issues/{id}' }
            endpoints:
              projects: { path: /projects, entity: Project, paginate: single_page }
              issues: { path: /issues, entity: Issue, paginate: single_page }
            """)
        try await expectSuccess(tarn("sync", "--file", file, "--quiet"))
        try await expectSuccess(tarn("update", "Project", "--all", "--set", "name=b", "--queue", "--file", file))
        try await expectSuccess(tarn("update", "Issue", "--all", "--set", "title=t", "--queue", "--file", file))
        let shown = try await tarn("outbox", "show", "2", "--file", file)
        #expect(shown.output.contains("waits for operation 1\n"), "\(shown.output)\(shown.error)")
        #expect(try await !tarn("outbox", "show", "1", "--file", file).output.contains("waits for"))
    }
}
