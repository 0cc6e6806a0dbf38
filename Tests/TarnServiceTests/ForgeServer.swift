// A forge with three pages of issues and one of labels, and a client of it.

import Foundation
import Synchronization
import TarnDescription
import TarnMacros
import TestSupport

@Record struct Issue: Equatable {
    @Key var id: Int64
    var title: String
    var labels: References<Label>
}

@Record struct Label: Equatable {
    @Key var id: Int64
    var name: String
}

extension RecordRequest where Value == Issue {
    static func issues() -> Self { .get("/issues") }
}

extension RecordRequest where Value == Label {
    static func labels() -> Self { .get("/labels", ["access_token": "s3cret"]) }
}

final class ForgeServer: Sendable {
    /// The work of the server before it answers a target.
    typealias Script = @Sendable (String) -> ScriptedServer.Answer?

    let server: ScriptedServer
    let folder: TemporaryFolder

    init(_ script: @escaping Script = { _ in nil }) throws {
        folder = try TemporaryFolder()
        server = try ScriptedServer { script($0.target) ?? ForgeServer.answer($0) }
    }

    private static func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        let base = "http://" + (request.field("Host") ?? "")
        func page(_ number: Int, next: Int?) -> ScriptedServer.Answer {
            let link = next.map { "Link: <\(base)/issues?page=\($0)>; rel=\"next\"" }
            let body = #"[{"id":\#(number),"title":"t\#(number)","labels":[{"id":1,"name":"bug"}]}]"#
            return .tagged("p\(number)", request, body, link ?? "X-Last: yes")
        }
        return switch request.target {
        case "/issues": page(1, next: 2)
        case "/issues?page=2": page(2, next: 3)
        case "/issues?page=3": page(3, next: nil)
        case "/labels?access_token=s3cret": .tagged("l", request, #"[{"id":1,"name":"bug"},{"id":2,"name":"ui"}]"#)
        default: .init(status: "404 Not Found")
        }
    }

    func client(
        _ transport: (any Transport)? = nil, _ configure: (inout Description) -> Void = { _ in }
    ) throws -> RecordClient {
        let token = try folder.write("token", "t0ken")
        return try RecordClient(
            base: server.base, records: Issue.self, Label.self, store: folder("forge.tarn"), transport: transport
        ) {
            $0.api.retry.attempts = 1
            $0.api.authentication = .bearer(.file(token))
            configure(&$0)
        }
    }

    /// A mirror of the issues, over a store of its own.
    func mirror() throws -> APIMirror {
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: '\(server.base)' }
            entities:
              Issue: { key: id, attributes: { id: int, title: string }, ignore: [labels] }
            endpoints:
              issues: { path: /issues, entity: Issue, paginate: header_link }
            """)
        let description = try Description.load(path: file)
        let store = try Store.open(at: folder("mirror.tarn"), schema: description.schema)
        return try APIMirror(description, store: store, transport: CurlTransport())
    }
}

/// A switch that tests flip while a server runs.
final class Switch: Sendable {
    private let value = Mutex(false)

    var isOn: Bool { value.withLock(\.self) }

    func turn(on isOn: Bool) { value.withLock { $0 = isOn } }
}
