// Local changes by the command line that reach a server.

import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Command line: writing back", .timeLimit(.minutes(5)))
struct OutboxCommandTests {
    /// A model server with item 7, and a description whose store has it.
    private struct Place {
        let folder: TemporaryFolder
        let server: ModelServer
        let file: String

        init(_ api: ModelAPI = ModelAPI()) async throws {
            folder = try TemporaryFolder()
            var api = api
            api.items[7] = ModelAPI.Item(title: "a")
            server = try ModelServer(api)
            file = try folder.write("tarn.yaml", ModelAPI.yaml(base: server.base))
            try await expectSuccess(tarn("sync", "--file", file, "--quiet"))
        }

        func run(_ arguments: String...) async throws -> TarnProcess.Result {
            try await tarn(arguments + ["--file", file])
        }
    }

    @Test("a record is created offline, shown at once, and pushed once; a comment follows it")
    func create() async throws {
        let place = try await Place()
        let made = try await place.run("create", "Item", "--set", "title=\"new one\"", "--set", "state=open")
        expectSuccess(made)
        let key = try #require(made.lines.first)
        try await expectSuccess(place.run("create", "Comment", "--set", "text=c", "--set", "item=\(key)", "--queue"))
        #expect(
            try await place.run("list", "Item", "--where", "title = 'new one'", "--format", "ndjson").lines.count == 1)
        let listed = try await place.run("outbox", "list", "--format", "ndjson").lines
        #expect(listed.count == 2 && listed[0].contains(#""change":"create""#), "\(listed)")
        let status = try await place.run("status")
        #expect(status.output.contains("outbox: 2 to send"), "\(status.output)")
        let pushed = try await place.run("push")
        #expect(pushed.status == 0 && pushed.output == "2 sent\n", "\(pushed.output)\(pushed.error)")
        #expect(place.server.with(\.effects) == ["POST item 101 title=new one", "POST comment 102 text=c item=101"])
        #expect(try await place.run("get", "Item", "101", "--format", "json").output.contains("new one"))
        #expect(try await place.run("push").output == "0 sent\n")
        let empty = try await place.run("outbox", "list", "--format", "table")
        #expect(empty.status == 0 && empty.error.contains("the outbox is empty"), "\(empty.error)")
    }

    @Test("after a push, the key that a creation has printed still selects the record")
    func printedKey() async throws {
        let place = try await Place()
        let made = try await place.run("create", "Item", "--set", "title=new", "--send")
        let key = try #require(made.lines.first)
        for arguments in [["update", "Item", "--set", "title=later"], ["delete", "Item"]] {
            let queued = try await tarn(arguments + ["--where", "id = \(key)", "--send", "--file", place.file])
            #expect(queued.output.contains(#"{"matched":1,"queued":1}"#), "\(queued.output)\(queued.error)")
        }
        #expect(place.server.with(\.effects).dropFirst() == ["PATCH item 101 title=later", "DELETE item 101"])
    }

    @Test("changes of an entity without requests stay queued, and push, show and list say why")
    func undeclaredEntity() async throws {
        let place = try await Place()
        try await expectSuccess(place.run("create", "Label", "--set", "name=mine"))
        let yaml = ModelAPI.yaml(base: place.server.base)
            .replacing("write: { create: { request: POST /labels, fields: [name] } }", with: "")
        _ = try place.folder.write("tarn.yaml", yaml)
        let pushed = try await place.run("push")
        #expect(pushed.status == 0, "a change that only waits is no failure")
        #expect(pushed.output == "0 sent; 1 left, 1 without a request\n", "\(pushed.output)")
        #expect(pushed.error.contains("warning: 1 change of Label cannot be sent: "), "\(pushed.error)")
        #expect(pushed.error.contains("entities.Label.write"), "\(pushed.error)")
        let shown = try await place.run("outbox", "show", "1")
        #expect(shown.output.contains("has no entities.Label.write"), "\(shown.output)")
        #expect(try await place.run("push", "--json").output.contains(#""without_request":1"#))
        _ = try place.folder.write("tarn.yaml", ModelAPI.yaml(base: place.server.base))
        #expect(try await place.run("push").output == "1 sent\n")
    }

    @Test("a dead change of an entity without requests does not wait for one")
    func deadOfUndeclaredEntity() async throws {
        let place = try await Place()
        place.server.with { $0.fault = { _ in .status(422) } }
        try await expectSuccess(place.run("create", "Label", "--set", "name=mine"))
        #expect(try await place.run("push").status == 1)
        let yaml = ModelAPI.yaml(base: place.server.base)
            .replacing("write: { create: { request: POST /labels, fields: [name] } }", with: "")
        _ = try place.folder.write("tarn.yaml", yaml)
        let shown = try await place.run("outbox", "show", "1")
        #expect(shown.output.contains("state: dead") && !shown.output.contains("waits for"), "\(shown.output)")
    }

    @Test(
        "a dry run of an update refuses what the update refuses",
        arguments: ["titel=b", "votes=abc", "id=8", "votes=1e400", "title"], [[], ["--queue"], ["--send"]])
    func dryRun(assignment: String, options: [String]) async throws {
        let place = try await Place()
        let arguments = ["update", "Item", "--all", "--set", assignment, "--file", place.file] + options
        let dry = try await tarn(arguments + ["--dry-run"]), real = try await tarn(arguments)
        #expect(dry.status == 2 && dry.error == real.error && dry.output.isEmpty, "\(dry.output)\(dry.error)")
        #expect(real.status == 2, "\(real.output)\(real.error)")
        let right = ["update", "Item", "--all", "--set", "title=b", "--dry-run", "--file", place.file] + options
        #expect(try await tarn(right).output == "{\"matched\":1}\n")
        #expect(place.server.with(\.effects) == [])
        #expect(try await place.run("outbox", "list", "--format", "ndjson").output.isEmpty)
    }

    @Test(
        "a dry run of a queued change refuses a description that cannot be read, as the change does",
        arguments: [["update", "Item", "--all", "--set", "title=b"], ["delete", "Item", "--all"]])
    func dryRunOfInvalidDescription(command: [String]) async throws {
        let place = try await Place()
        let broken = try place.folder.write("broken.yaml", ModelAPI.yaml(base: place.server.base) + "\nnonsense: 1\n")
        let arguments = command + ["--queue", "--store", place.folder("model.tarn"), "--file", broken]
        let dry = try await tarn(arguments + ["--dry-run"]), real = try await tarn(arguments)
        #expect(dry.status != 0 && dry.status == real.status && dry.output.isEmpty, "\(dry.output)\(dry.error)")
        #expect(dry.error.contains("nonsense"), "\(dry.error)")
    }

    @Test("a change of an entity without requests names the entity that needs them")
    func undeclaredRequests() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        for command in [
            ["update", "Item", "--all", "--set", "name=b", "--queue"], ["create", "Item", "--set", "name=b"],
        ] {
            let result = try await tarn(command + ["--file", file])
            #expect(result.status == 2 && result.error.contains("add entities.Item.write, such as"), "\(result)")
        }
    }

    @Test("a queued change of a field that the description does not declare any more is not sent under its old name")
    func undeclaredField() async throws {
        let place = try await Place()
        try await expectSuccess(place.run("update", "Item", "--where", "id = 7", "--set", "votes=3", "--queue"))
        let yaml = ModelAPI.yaml(base: place.server.base)
            .replacing("votes: int?", with: "score: { type: int?, from: votes }")
            .replacing("fields: [title, state, votes]", with: "fields: [title, state, score]")
        _ = try place.folder.write("tarn.yaml", yaml)
        let pushed = try await place.run("push")
        #expect(pushed.output != "1 sent\n" && pushed.error.contains("votes"), "\(pushed.output)\(pushed.error)")
        #expect(place.server.with(\.effects) == [])
    }

    /// Queues a creation, changes the description, and pushes: `votes` is not sent, and stays a local
    /// change.
    ///
    /// - Returns: the place, and the text of the warning.
    private func expectLocalVotes(_ change: (String) -> String) async throws -> (place: Place, warning: String) {
        let place = try await Place()
        try await expectSuccess(place.run("create", "Item", "--set", "title=c", "--set", "votes=4"))
        _ = try place.folder.write("tarn.yaml", change(ModelAPI.yaml(base: place.server.base)))
        let pushed = try await place.run("push")
        #expect(pushed.status == 0 && pushed.output == "1 sent\n", "\(pushed.output)\(pushed.error)")
        #expect(pushed.error.contains("votes is not sent, and stays a local change"), "\(pushed.error)")
        #expect(place.server.with(\.effects) == ["POST item 101 title=c"])
        let status = try await place.run("status", "--json").output
        #expect(status.contains(#""local_changes":{"Item":1}"#), "\(status)")
        return (place, pushed.error)
    }

    @Test("a field of a queued creation that the description does not declare any more stays a local change")
    func undeclaredFieldOfCreation() async throws {
        _ = try await expectLocalVotes {
            $0.replacing("votes: int?", with: "score: { type: int?, from: votes }")
                .replacing("fields: [title, state, votes]", with: "fields: [title, state, score]")
        }
    }

    @Test("a field of a queued creation that the description does not send any more stays a local change")
    func unsentFieldOfCreation() async throws {
        let (place, warning) = try await expectLocalVotes {
            $0.replacing("fields: [title, state, votes]", with: "fields: [title]")
        }
        #expect(warning.contains("local change: entities.Item.write.create.fields lacks it"), "\(warning)")
        #expect(place.server.with(\.requests).last?.text == #"{"title":"c"}"#)
        #expect(try await place.run("get", "Item", "101", "--format", "json").output.contains(#""votes":4"#))
        #expect(try await place.run("push").output == "0 sent\n")
    }

    @Test("a field of a queued creation that was to stay a local change is sent once the description sends it")
    func fieldSentSince() async throws {
        let place = try await Place(), yaml = ModelAPI.yaml(base: place.server.base)
        let short =
            yaml
            .replacing("fields: [title, state, votes]", with: "fields: [title]")
            .replacing("update: 'PATCH /items/{id}'", with: "update: { request: 'PATCH /items/{id}', fields: [title] }")
        _ = try place.folder.write("tarn.yaml", short)
        for title in ["c", "d"] {
            let made = try await place.run("create", "Item", "--set", "title=\(title)", "--set", "votes=4")
            #expect(made.status == 0 && made.error.contains("votes is not sent"), "\(made.error)")
        }
        // A later value of the field is no part of the creation.
        let update = ["update", "Item", "--where", "title = d", "--set", "votes=5", "--queue", "--file", place.file]
        try await expectSuccess(tarn(update))
        let shown = try await place.run("outbox", "show", "1").output
        #expect(shown.contains("not sent, stay local changes: votes\n"), "\(shown)")
        _ = try place.folder.write("tarn.yaml", yaml)
        let pushed = try await place.run("push")
        #expect(pushed.output == "2 sent\n" && !pushed.error.contains("not sent"), "\(pushed.output)\(pushed.error)")
        #expect(place.server.with { $0.items.values.allSatisfy { $0.title == "a" || $0.votes == 4 } })
        let listed = try await place.run("list", "Item", "--where", "title = d", "--format", "ndjson").output
        #expect(listed.contains(#""votes":5"#), "\(listed)")
        let status = try await place.run("status", "--json").output
        #expect(status.contains(#""local_changes":{"Item":1}"#), "\(status)")
    }

    @Test("a field of a queued update that the description does not send any more stays a local change")
    func unsentField() async throws {
        let place = try await Place()
        try await expectSuccess(
            place.run("update", "Item", "--where", "id = 7", "--set", "title=b", "--set", "votes=3", "--queue"))
        let yaml = ModelAPI.yaml(base: place.server.base)
            .replacing("fields: [title, state, votes]", with: "fields: [title]")
            .replacing("update: 'PATCH /items/{id}'", with: "update: { request: 'PATCH /items/{id}', fields: [title] }")
        _ = try place.folder.write("tarn.yaml", yaml)
        let pushed = try await place.run("push")
        #expect(pushed.status == 0 && pushed.output == "1 sent\n", "\(pushed.output)\(pushed.error)")
        let warning = "votes is not sent, and stays a local change: entities.Item.write.update.fields lacks it"
        #expect(pushed.error.contains(warning), "\(pushed.error)")
        #expect(place.server.with(\.effects) == ["PATCH item 7 title=b"])
        let listed = try await place.run("list", "Item", "--format", "ndjson").output
        #expect(listed.contains(#""votes":3"#), "\(listed)")
        let status = try await place.run("status", "--json").output
        #expect(status.contains(#""local_changes":{"Item":1}"#), "\(status)")
        #expect(try await place.run("push").output == "0 sent\n")
    }

    @Test("update and delete are queued, or sent at once")
    func change() async throws {
        let place = try await Place()
        let queued = try await place.run(
            "update", "Item", "--where", "id = 7", "--set", "title=b", "--queue", "--format", "table")
        #expect(queued.output == "1 record found, 1 queued\n", "\(queued.error)")
        #expect(place.server.with { $0.items[7]?.title } == "a")
        let sent = try await place.run(
            "update", "Item", "--where", "id = 7", "--set", "votes=3", "--send", "--format", "table")
        #expect(sent.output == "1 record found, 1 queued\n1 sent\n", "\(sent.output)\(sent.error)")
        #expect(place.server.with { $0.items[7]?.title } == "b" && place.server.with { $0.items[7]?.votes } == 3)
        let deleted = try await place.run("delete", "Item", "--where", "id = 7", "--send", "--format", "json")
        #expect(deleted.status == 0, "\(deleted.error)")
        #expect(place.server.with(\.items).isEmpty)
    }

    @Test("a refusal is exit 1 with its reason; it is shown, retried and discarded")
    func dead() async throws {
        let place = try await Place()
        try await expectSuccess(place.run("update", "Item", "--all", "--set", "title='refuse me'", "--queue"))
        let pushed = try await place.run("push")
        #expect(pushed.status == 1 && pushed.error.contains("422: the text is refused"), "\(pushed.error)")
        let shown = try await place.run("outbox", "show", "1").output
        for text in ["update Item 7", "state: dead, 1 attempt", #"title: "a" → "refuse me""#, "the text is refused"] {
            #expect(shown.contains(text), "\(shown)")
        }
        #expect(try await place.run("outbox", "list", "--state", "pending", "--format", "ndjson").lines.isEmpty)
        #expect(try await place.run("outbox", "retry", "--all").output == "1 change queued again\n")
        #expect(try await place.run("push").status == 1)
        #expect(try await place.run("outbox", "discard", "1").output == "discarded 1: update Item 7\n")
        #expect(try await place.run("get", "Item", "7", "--format", "json").output.contains(#""title":"a""#))
        let again = try await place.run("outbox", "discard", "1")
        #expect(again.status == 1 && again.error.contains("the outbox has no operation 1"), "\(again.error)")
    }

    @Test("many changes are discarded or retried by ranges, from the standard input, by their state, or all")
    func many() async throws {
        let place = try await Place()
        for number in 1...6 {
            let title = number < 3 ? "refuse me" : "t\(number)"
            try await expectSuccess(place.run("create", "Item", "--set", "title='\(title)'"))
        }
        let discarded = try await place.run("outbox", "discard", "5-9")
        #expect(discarded.lines.map { $0.prefix(12) } == ["discarded 6:", "discarded 5:"], "\(discarded.error)")
        let piped = try await shell("echo 4 | \"$TARN\" outbox discard - --file '\(place.file)'")
        #expect(piped.lines.map { $0.prefix(12) } == ["discarded 4:"], "\(piped.error)")
        for command in ["discard", "retry"] {
            let unread = try await shell("\"$TARN\" outbox \(command) - --file '\(place.file)' <&-")
            #expect(unread.status == 1 && unread.error.contains("standard input cannot be read"), "\(unread)")
        }
        #expect(try await place.run("push").output.hasPrefix("1 sent"))
        #expect(try await place.run("outbox", "retry", "1-3").output == "2 changes queued again\n")
        #expect(try await place.run("outbox", "discard", "--all", "--state", "dead").output.isEmpty)
        #expect(try await place.run("outbox", "discard", "--all").lines.count == 2)
        #expect(try await place.run("outbox", "list", "--format", "ndjson").lines.isEmpty)
        for arguments in [[], ["1", "--all"], ["1", "--state", "dead"], ["4-2"], ["x"]] {
            let wrong = try await tarn(["outbox", "discard", "--file", place.file] + arguments)
            #expect(wrong.status == 2, "\(wrong.output)\(wrong.error)")
        }
    }

    @Test("offline is exit 5, and missing credentials are exit 4; nothing is lost")
    func failures() async throws {
        var api = ModelAPI()
        api.fault = { _ in .status(401, body: #"{"message":"who are you"}"#) }
        let place = try await Place(api)
        try await expectSuccess(place.run("update", "Item", "--all", "--set", "title=b", "--queue"))
        let refused = try await place.run("push")
        #expect(refused.status == 4 && refused.error.contains("who are you"), "\(refused.error)")
        let offline = try await place.run("push", "--base", "http://127.0.0.1:1")
        #expect(offline.status == 5 && offline.error.contains("nothing is lost"), "\(offline.error)")
        place.server.with { $0.fault = { _ in nil } }
        try await expectSuccess(place.run("outbox", "retry", "1"))
        #expect(try await place.run("push", "--json").output.contains(#""sent":1,"#))
    }

    @Test("a failure that may pass is an error of the command, and is shown as one")
    func passingFailure() async throws {
        var api = ModelAPI()
        api.fault = { _ in .status(500, body: "{}") }
        let place = try await Place(api)
        try await expectSuccess(place.run("update", "Item", "--all", "--set", "title=b", "--queue"))
        let pushed = try await place.run("push")
        #expect(pushed.status == 1 && pushed.error.contains("500"), "\(pushed.error)")
        #expect(pushed.errorLines.allSatisfy { $0.hasPrefix("tarn: ") }, "\(pushed.error)")
    }

    @Test("push --watch sends what another process queues, and ends when it is interrupted")
    func watch() async throws {
        let place = try await Place()
        let process = try TarnProcess(["push", "--watch", "--file", place.file])
        for number in 0..<2 {
            try await expectSuccess(place.run("create", "Item", "--set", "title=t\(number)"))
            try await eventually("sent") { place.server.with(\.effects).count == number + 1 }
        }
        process.send(SIGINT)
        #expect(await process.end().status == 130)
    }

    @Test("a description without requests is exit 2 with the way out")
    func undeclared() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        for (words, example) in [
            (["push"], "write: { update: 'PATCH /issues/{id}' }"),
            (["create", "Item", "--set", "id=1"], "entities.Item.write, such as write: { create: 'POST /issues' }"),
            (["delete", "Item", "--where", "id = 1", "--queue"], "write: { delete: 'DELETE /issues/{id}' }"),
        ] {
            let result = try await tarn(words + ["--file", file])
            #expect(result.status == 2 && result.error.contains(example), "\(result.error)")
        }
    }

    @Test("queueing needs no credentials, and one API without them does not stop the changes of the other one")
    func credentials() async throws {
        let folder = try TemporaryFolder(), server = try ModelServer()
        let file = try folder.write(
            "tarn.yaml",
            """
            store: two.tarn
            apis:
              forge: { base: '\(server.base)' }
              people: { base: '\(server.base)', auth: { bearer: { env: TARN_TEST_NO_TOKEN } } }
            entities:
              Item: { key: id, attributes: { id: int, title: string }, write: { create: POST /items } }
              Label: { key: id, api: people, attributes: { id: int, name: string }, write: { create: POST /labels } }
            """)
        try await expectSuccess(tarn("create", "Label", "--set", "name=n", "--file", file))
        try await expectSuccess(tarn("create", "Item", "--set", "title=t", "--file", file))
        let pushed = try await tarn("push", "--file", file)
        #expect(pushed.status == 4 && pushed.output == "1 sent; 1 left\n", "\(pushed.output)\(pushed.error)")
        #expect(pushed.error.contains("the changes of people wait"), "\(pushed.error)")
        #expect(pushed.error.contains("TARN_TEST_NO_TOKEN is not set"), "\(pushed.error)")
        #expect(server.with(\.effects) == ["POST item 101 title=t"])
    }

    @Test("--queue without a store is exit 6 and creates none; with --immutable it is exit 2")
    func noStore() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", ModelAPI.yaml(base: "http://127.0.0.1:1"))
        for command in ["update", "delete"] {
            let values = command == "update" ? ["--set", "title=b"] : []
            let result = try await tarn([command, "Item", "--all"] + values + ["--queue", "--file", file])
            #expect(result.status == 6 && result.error.contains("no such store"), "\(result.error)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder("model.tarn")))
        let place = try await Place()
        let result = try await place.run("update", "Item", "--all", "--set", "title=b", "--queue", "--immutable")
        #expect(result.status == 2 && result.error.contains("--immutable"), "\(result.error)")
    }

    @Test("a field that no request sends is warned of; a change that waits for a dead one is counted")
    func warnings() async throws {
        let folder = try TemporaryFolder(), server = try ModelServer()
        let file = try folder.write(
            "tarn.yaml",
            """
            store: one.tarn
            api: { base: '\(server.base)' }
            entities:
              Item:
                key: id
                attributes: { id: int, title: string, note: string? }
                write: { create: { request: POST /items, fields: [title] }, update: 'PATCH /items/{id}' }
            """)
        let made = try await tarn("create", "Item", "--set", "title='refuse me'", "--set", "note=mine", "--file", file)
        #expect(made.status == 0 && made.error.contains("warning: note is not sent"), "\(made.error)")
        #expect(made.error.contains("entities.Item.write.create.fields lacks it"), "\(made.error)")
        #expect(try await tarn("push", "--file", file).status == 1)
        let key = try #require(made.lines.first)
        try await expectSuccess(
            tarn("update", "Item", "--where", "id = \(key)", "--set", "note=later", "--queue", "--file", file))
        let pushed = try await tarn("push", "--file", file)
        #expect(
            pushed.status == 0 && pushed.output == "0 sent; 1 left, 1 behind dead ones; 1 dead (tarn outbox list)\n",
            "\(pushed.output)\(pushed.error)")
    }

    @Test("a change whose push was killed is discarded with a warning")
    func killed() async throws {
        let gate = ThreadGate()
        var api = ModelAPI()
        api.fault = { _ in
            gate.wait()
            return .dropped
        }
        let place = try await Place(api)
        defer { gate.open() }
        try await expectSuccess(place.run("update", "Item", "--all", "--set", "title=b", "--queue"))
        let process = try TarnProcess(["push", "--file", place.file])
        try await gate.reached()
        let busy = try await place.run("outbox", "discard", "1")
        #expect(busy.status == 1 && busy.error.contains("is sending"), "\(busy.error)")
        process.send(SIGKILL)
        _ = await process.end()
        let discarded = try await place.run("outbox", "discard", "1")
        #expect(discarded.output == "discarded 1: update Item 7\n", "\(discarded.error)")
        #expect(discarded.error.contains("the server may have it"), "\(discarded.error)")
        #expect(try await place.run("get", "Item", "7", "--format", "json").output.contains(#""title":"a""#))
    }

    @Test("a creation whose push was killed while the server carried it out is sent again, and not doubled")
    func killedCreation() async throws {
        let gate = ThreadGate(), isHeld = Mutex(true)
        var api = ModelAPI()
        api.fault = { _ in
            if isHeld.withLock({ held in
                defer { held = false }
                return held
            }) {
                gate.wait()
            }
            return nil
        }
        let place = try await Place(api)
        defer { gate.open() }
        let key = try #require(try await place.run("create", "Item", "--set", "title=new").lines.first)
        let process = try TarnProcess(["push", "--file", place.file])
        try await gate.reached()
        process.send(SIGKILL)
        _ = await process.end()
        gate.open()
        try await expectSuccess(
            place.run("update", "Item", "--where", "id = \(key)", "--set", "title=later", "--queue"))
        #expect(try await place.run("push").output == "2 sent\n")
        #expect(place.server.with(\.effects) == ["POST item 101 title=new", "PATCH item 101 title=later"])
        #expect(try await place.run("list", "Item", "--format", "ndjson").lines.count == 2)
    }

    @Test("an interrupted push prints what it has sent, and what is dead and left")
    func interruptedPush() async throws {
        let gate = ThreadGate()
        defer { gate.open() }
        var api = ModelAPI()
        api.fault = { request in
            if request.text.contains("refused") { return .status(422, body: "{}") }
            if request.text.contains("stall") { gate.wait() }
            return nil
        }
        let place = try await Place(api)
        try await expectSuccess(place.run("create", "Item", "--set", "title=refused"))
        let key = try await place.run("create", "Item", "--set", "title=good").line(0)
        // It waits for its item.
        try await expectSuccess(place.run("create", "Comment", "--set", "text=stall", "--set", "item=\(key)"))
        let process = try TarnProcess(["push", "--file", place.file])
        try await gate.reached()
        // Until the two other answers are stored.
        var listed: [String] = []
        for _ in 0..<300 where listed.count != 2 || !listed.contains(where: { $0.contains("\"dead\"") }) {
            listed = try await place.run("outbox", "list", "--format", "ndjson").lines
        }
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
        #expect(result.output == "1 sent; 1 left; 1 dead (tarn outbox list)\n", "\(result.output)")
        #expect(result.error.contains("422") && result.error.contains("interrupted"), "\(result.error)")
    }

    @Test("a used-up rate limit is exit 7")
    func limited() async throws {
        var api = ModelAPI()
        api.fault = { _ in .status(429, fields: ["Retry-After": "3600"]) }
        let place = try await Place(api)
        for attempt in 1...2 {
            try await expectSuccess(place.run("create", "Item", "--set", "title=t\(attempt)"))
            let pushed = try await place.run("push")
            #expect(pushed.status == 7, "\(pushed.output)\(pushed.error)")
        }
    }
}
