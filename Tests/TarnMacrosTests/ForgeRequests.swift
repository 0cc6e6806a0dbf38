// The requests of a forge, as a program declares them, and a server that answers them.

import Foundation
import TarnMacros
import TestSupport

extension RecordRequest where Value == Issue {
    static func issues(_ repository: String, state: State? = nil) -> Self {
        .get("/repos/{+repository}/issues", ["repository": repository, "state": state?.rawValue, "per_page": "2"])
    }
    static func issue(_ number: Int) -> Self { .get("/issues/{number}", ["number": "\(number)"]) }
}

extension RecordRequest where Value == Issue {
    static func search(_ text: String) -> Self {
        .post("/search", body: .json(.object([.init("query", .string("{text}"))])), ["text": text], records: "items")
    }
}

extension RecordRequest where Value == Label {
    static func labels(_ repository: String, name: String? = nil) -> Self {
        .get("/repos/{+repository}/labels(/{name})", ["repository": repository, "name": name])
    }
}

/// A server of three issues on two pages, and of two labels.
struct ForgeServer {
    let server: ScriptedServer
    let folder: TemporaryFolder
    let client: RecordClient

    static func issue(_ id: Int, _ more: String = "") -> String {
        #"{"id":\#(id),"number":\#(id * 10),"title":"t\#(id)","state":"open","user":{"id":5,"login":"ada"},"labels":[]\#(more)}"#
    }

    init(_ answer: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer? = { _ in nil }) throws {
        server = try ScriptedServer { answer($0) ?? Self.answer($0) }
        folder = try TemporaryFolder()
        client = try Self.client(server.base, folder)
    }

    static func client(_ base: String, _ folder: TemporaryFolder) throws -> RecordClient {
        try RecordClient(
            base: base, records: Issue.self, User.self, Label.self, Milestone.self, store: folder("forge.tarn")
        ) { $0.api.retry.attempts = 1 }
    }

    private static func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        let base = "http://" + (request.field("Host") ?? "")
        return switch request.target {
        case "/repos/acme/anvil/issues?per_page=2":
            .tagged(
                "a", request, "[\(issue(1)),\(issue(2))]",
                "Link: <\(base)/repos/acme/anvil/issues?per_page=2&page=2>; rel=\"next\"")
        case "/repos/acme/anvil/issues?per_page=2&page=2": .tagged("b", request, "[\(issue(3))]")
        case "/repos/acme/anvil/issues?state=closed&per_page=2": .init(body: "[]")
        case "/issues/7": .tagged("c", request, issue(7))
        case "/issues/8": .init(fields: ["Cache-Control: no-store"], body: issue(8))
        case "/issues/9": .init(body: "[\(issue(1)),\(issue(2))]")
        case "/search": .init(body: "{\"items\":[\(issue(4))]}")
        case "/repos/acme/anvil/labels": .tagged("l", request, #"[{"id":1,"name":"bug"},{"id":2,"name":"ui"}]"#)
        case "/repos/acme/anvil/labels/ui": .init(body: #"{"id":2,"name":"ui"}"#)
        default: .init(status: "404 Not Found", body: #"{"message":"no such page"}"#)
        }
    }
}
