// `tarn push --watch` beside changes of the description.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Command line: a push that keeps running", .timeLimit(.minutes(5)))
struct PushWatchTests {
    /// A model server with item 7, and a store that has it.
    private struct Place {
        let folder: TemporaryFolder
        let server: ModelServer
        let file: String

        /// - Parameter edit: changes the description before the first sync.
        init(_ edit: (String) -> String = { $0 }) async throws {
            folder = try TemporaryFolder()
            var api = ModelAPI()
            api.items[7] = ModelAPI.Item(title: "a")
            server = try ModelServer(api)
            file = try folder.write("tarn.yaml", edit(ModelAPI.yaml(base: server.base)))
            try await expectSuccess(tarn("sync", "--file", file, "--quiet"))
        }

        /// A push that has sent a change, and waits for the next one.
        func waitingPush() async throws -> TarnProcess {
            let process = try TarnProcess(["push", "--watch", "--file", file])
            try await update("title=first")
            try await eventually("sent") { server.with(\.effects).count == 1 }
            return process
        }

        func update(_ assignment: String) async throws {
            try await expectSuccess(
                tarn("update", "Item", "--where", "id = 7", "--set", assignment, "--queue", "--file", file))
        }

        /// Replaces the description in one step.
        func replaceDescription(_ edit: (String) -> String = { $0 }) throws {
            let next = try folder.write("next.yaml", edit(ModelAPI.yaml(base: server.base)))
            #expect(rename(next, file) == 0)
        }

        private var isQueued: Bool {
            get async throws {
                try await !tarn("outbox", "list", "--file", file, "--format", "ndjson").lines.isEmpty
            }
        }

        func expectLast(_ effect: String, of process: TarnProcess) async throws {
            try await eventually("sent") { server.with(\.effects).count == 2 }
            #expect(server.with(\.effects).last == effect)
            // The server has the change before the store has its answer.
            let deadline = ContinuousClock.now + .seconds(60)
            while try await isQueued, ContinuousClock.now < deadline {}
            #expect(try await !isQueued)
            process.send(SIGINT)
            let result = await process.end()
            #expect(result.status == 130, "\(result.error)")
        }
    }

    @Test("push --watch sends a field that the description has got while it runs")
    func newField() async throws {
        let place = try await Place {
            $0.replacing(", votes: int?", with: "").replacing("fields: [title, state, votes]", with: "fields: [title]")
        }
        let process = try await place.waitingPush()
        try place.replaceDescription()
        try await place.update("votes=3")
        try await place.expectLast("PATCH item 7 votes=3", of: process)
    }

    @Test("push --watch goes on with a field that was renamed in the description and in the store while it runs")
    func renamedField() async throws {
        let place = try await Place(), process = try await place.waitingPush()
        try place.replaceDescription {
            $0.replacing("title: string", with: "headline: { type: string, was: title, from: title }")
                .replacing("fields: [title, state, votes]", with: "fields: [headline, state, votes]")
        }
        try await place.update("headline=second")
        try await place.expectLast("PATCH item 7 title=second", of: process)
    }

    @Test("push --watch tells once that a server cannot be reached")
    func unreachable() async throws {
        let place = try await Place(), dead = DeadPort()
        try await place.update("title=first")
        let process = try TarnProcess([
            "push", "--watch", "--file", place.file, "--base", "http://127.0.0.1:\(dead.port)",
        ])
        try await eventually("told") { process.error.contains("could not connect") }
        // A second line would follow at once.
        try await Task.sleep(for: .milliseconds(200))
        process.send(SIGINT)
        let result = await process.end(), lines = result.errorLines.filter { $0.contains("could not connect") }
        #expect(!lines.isEmpty && lines.allSatisfy { $0.contains("operation 1, update Item 7") }, "\(result.error)")
        #expect(result.output.contains("0 sent, 1 failed; 1 left"), "\(result.output)")
    }

    @Test("push --watch goes on if the description is invalid for a moment, while it is edited and the push begins")
    func editedAtTheBeginning() async throws {
        let place = try await Place(), path = place.folder("edited.yaml")
        let older = ModelAPI.yaml(base: place.server.base)
            .replacing("fields: [title, state, votes]", with: "fields: [title]")
        func lead(to target: String) {
            #expect(symlink(target, path + ".new") == 0 && rename(path + ".new", path) == 0)
        }
        // What each reading of the file finds: the older description, a part of it, and the new one.
        let pipes = ["first", "second"].map { place.folder($0) }
        for pipe in pipes { #expect(mkfifo(pipe, 0o600) == 0) }
        lead(to: pipes[0])
        let process = try TarnProcess(["push", "--watch", "--file", path])
        for (text, (pipe, next)) in zip([older, "apis: ["], [(pipes[0], pipes[1]), (pipes[1], place.file)]) {
            var end: Int32 = -1
            try await eventually("the description is read") {
                end = open(pipe, O_WRONLY | O_NONBLOCK)
                return end >= 0
            }
            #expect(write(end, text, text.utf8.count) == text.utf8.count)
            lead(to: next)
            close(end)
        }
        try await place.update("state=closed")
        try await eventually("sent") { !place.server.with(\.effects).isEmpty }
        #expect(place.server.with(\.effects) == ["PATCH item 7 state=closed"])
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
    }
}
