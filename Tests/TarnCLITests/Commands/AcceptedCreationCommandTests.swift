// Creations that the server has accepted, on the command line.

import Foundation
import TestSupport
import Testing

@Suite("Command line: accepted creations", .timeLimit(.minutes(5)))
struct AcceptedCreationCommandTests {
    /// A model server, and a description of it.
    private struct Place {
        let folder: TemporaryFolder
        let server: ModelServer
        let file: String

        init(_ api: ModelAPI) throws {
            folder = try TemporaryFolder()
            server = try ModelServer(api)
            file = try folder.write("tarn.yaml", ModelAPI.yaml(base: server.base))
        }

        func run(_ arguments: String...) async throws -> TarnProcess.Result {
            try await tarn(arguments + ["--file", file])
        }

        var creations: Int { server.with(\.requests).filter { $0.method == "POST" }.count }
    }

    @Test("a creation that is answered with the key of a record that was here is a warning of push, also in JSON")
    func merged() async throws {
        var api = ModelAPI()
        api.items[7] = ModelAPI.Item(title: "a")
        api.fault = { _ in .status(201, body: #"{"id":7,"title":"a","state":"open","labels":[]}"#) }
        let place = try Place(api)
        try await expectSuccess(place.run("sync", "--quiet"))
        for isJSON in [false, true] {
            try await expectSuccess(place.run("create", "Item", "--set", "title=new"))
            let pushed = try await isJSON ? place.run("push", "--json") : place.run("push")
            #expect(pushed.status == 0, "\(pushed.error)")
            #expect(pushed.error.contains("warning: operation ") && pushed.error.contains("create Item 7: the server"))
            guard isJSON else {
                #expect(pushed.output == "1 sent, 1 merged\n", "\(pushed.output)")
                continue
            }
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(pushed.output.utf8)) as? [String: Any], "\(pushed.output)")
            let warning = try #require((json["warnings"] as? [[String: Any]])?.first, "\(pushed.output)")
            #expect(json["merged"] as? Int == 1 && warning["kind"] as? String == "merged", "\(pushed.output)")
            #expect(warning["record"] as? String == "Item 7" && warning["change"] as? String == "create")
        }
    }

    @Test(
        "discarding an accepted creation warns that the server keeps the record, also after its deletion",
        arguments: [false, true])
    func discard(isDeleted: Bool) async throws {
        var api = ModelAPI()
        api.fault = { _ in .status(201, body: #"{"ok":true}"#) }
        let place = try Place(api)
        try await expectSuccess(place.run("create", "Item", "--set", "title=new"))
        #expect(try await place.run("push").status == 1)
        if isDeleted { try await expectSuccess(place.run("delete", "Item", "--where", "title = new", "--queue")) }
        let discarded = try await place.run("outbox", "discard", "1")
        #expect(discarded.status == 0 && discarded.lines.count == (isDeleted ? 2 : 1), "\(discarded.output)")
        let warning = "warning: the server has accepted the creation 1, and keeps the record: fetch it"
        #expect(
            discarded.error.contains("\(warning), and delete it again if its deletion was queued\n"),
            "\(discarded.error)")
        #expect(try await place.run("outbox", "list", "--format", "ndjson").lines.isEmpty)
    }

    @Test("retry sends an accepted creation only with --accepted; --all and ranges leave it out, and say so")
    func retry() async throws {
        var api = ModelAPI()
        api.fault = { request in
            request.text.contains("refuse") ? nil : .status(201, body: #"{"ok":true}"#)
        }
        let place = try Place(api)
        for title in ["accepted", "refuse"] {
            try await expectSuccess(place.run("create", "Item", "--set", "title=\(title)"))
        }
        #expect(try await place.run("push").status == 1)
        #expect(place.creations == 2)
        let named = try await place.run("outbox", "retry", "1")
        #expect(named.status == 1 && named.error.contains("the server has accepted the creation 1"), "\(named.error)")
        #expect(named.error.contains("--accepted"), "\(named.error)")
        for selection in ["--all", "1-9"] {
            let others = try await place.run("outbox", "retry", selection)
            #expect(others.status == 0 && others.output == "1 change queued again\n", "\(others.output)\(others.error)")
            #expect(others.error.contains("1 accepted creation left out (1)"), "\(others.error)")
            #expect(try await place.run("push").status == 1)
        }
        #expect(place.creations == 4)
        let forced = try await place.run("outbox", "retry", "1", "--accepted")
        #expect(
            forced.status == 0 && forced.output == "1 change queued again\n" && forced.error.isEmpty, "\(forced.error)")
        place.server.with { $0.fault = { _ in nil } }
        #expect(try await place.run("push").output.hasPrefix("1 sent"))
        let keys = place.server.with(\.requests).filter { $0.text.contains("accepted") }.map {
            $0.fields["idempotency-key"]
        }
        #expect(keys.count == 2 && Set(keys).count == 1)
    }
}
