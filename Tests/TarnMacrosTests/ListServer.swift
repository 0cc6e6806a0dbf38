// A server of one list, in the pagination style that the request's path names.

import Foundation
import Synchronization
import TarnMacros
import TestSupport

@Record struct Entry: Equatable {
    @Key var id: Int64
    @Index var rank: Int?
    var title: String?
}

extension RecordRequest where Value == Entry {
    static func entries(_ style: String = "link") -> Self { .get("/\(style)") }
    static var linkedInBody: Self { .get("/json", records: "items", pagination: .jsonLink(path: "next")) }
    static var numbered: Self {
        .get("/number", records: "items", pagination: .pageNumber(.query("page"), totalPages: "pages"))
    }
    static var byOffset: Self {
        .get("/offset", records: "items", pagination: .offset(.query("offset"), total: "total"))
    }
    static var byCursor: Self {
        .get("/cursor", records: "items", pagination: .cursor(path: "cursor", sends: .query("cursor")))
    }
}

/// A list of ids on pages of three, over real HTTP.
final class ListServer: Sendable {
    private struct State {
        var ids: [Int64] = []
        /// Statuses that replace the next answers; an empty one does not.
        var failures: [String] = []
        var fields: [String] = []
    }

    private let state = Mutex(State())
    let gate = ThreadGate()
    /// Whether requests wait at the gate.
    let isHeld = Mutex(false)

    static let size = 3

    func set(_ ids: Int64...) { state.withLock { $0.ids = ids } }
    func set(_ ids: [Int64]) { state.withLock { $0.ids = ids } }
    func fail(_ statuses: String...) { state.withLock { $0.failures = statuses } }
    func send(_ fields: String...) { state.withLock { $0.fields = fields } }

    static func json(_ id: Int64) -> String { #"{"id":\#(id),"title":"t\#(id)"}"# }

    func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        if isHeld.withLock(\.self) { gate.wait() }
        let (ids, failure, own) = state.withLock { state in
            (state.ids, state.failures.isEmpty ? nil : state.failures.removeFirst(), state.fields)
        }
        if let failure, !failure.isEmpty { return .init(status: failure) }
        guard let url = URLComponents(string: request.target) else { return .init(status: "400 Bad Request") }
        let query = Dictionary((url.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        let size = ListServer.size, pages = max(1, (ids.count + size - 1) / size)
        func list(_ start: Int) -> String {
            "[" + ids.dropFirst(max(0, start)).prefix(size).map(ListServer.json).joined(separator: ",") + "]"
        }
        let page = Int(query["page"] ?? "") ?? 1, base = "http://\(request.field("Host") ?? "")\(url.path)"
        switch url.path {
        case "/number":
            return .init(fields: own, body: #"{"pages":\#(pages),"items":\#(list((page - 1) * size))}"#)
        case "/offset":
            let offset = Int(query["offset"] ?? "") ?? 0
            return .init(fields: own, body: #"{"total":\#(ids.count),"items":\#(list(offset))}"#)
        case "/cursor":
            let start = Int(query["cursor"] ?? "") ?? 0
            let next = start + size < ids.count ? "\"\(start + size)\"" : "null"
            return .init(fields: own, body: #"{"cursor":\#(next),"items":\#(list(start))}"#)
        case "/json":
            func link(_ page: Int) -> String { (1...pages).contains(page) ? "\"\(base)?page=\(page)\"" : "null" }
            return .init(
                fields: own,
                body: #"{"next":\#(link(page + 1)),"previous":\#(link(page - 1)),"items":\#(list((page - 1) * size))}"#)
        case "/loop": return .init(fields: own + ["Link: <\(base)?page=\(page % 2 + 1)>; rel=\"next\""], body: list(0))
        default:
            var links: [String] = []
            if page > 1 { links.append("<\(base)?page=\(page - 1)>; rel=\"prev\"") }
            if page < pages { links.append("<\(base)?page=\(page + 1)>; rel=\"next\"") }
            let body = list((page - 1) * size), tag = SHA.tag(body + links.joined())
            return .tagged(
                tag, request, body, fields: own + (links.isEmpty ? [] : ["Link: " + links.joined(separator: ", ")]))
        }
    }

    /// A tag that differs for different texts of a test.
    private enum SHA {
        static func tag(_ text: String) -> String {
            String(text.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
        }
    }
}

extension ScriptedServer.Answer {
    fileprivate static func tagged(
        _ tag: String, _ request: ScriptedServer.Request, _ body: String, fields: [String]
    ) -> Self {
        let fields = ["ETag: \"\(tag)\""] + fields
        return request.hasTag(tag)
            ? .init(status: "304 Not Modified", fields: fields) : .init(fields: fields, body: body)
    }
}

/// A list server with a client of it.
struct ListAPI {
    let list = ListServer()
    let server: ScriptedServer
    let folder: TemporaryFolder
    let client: RecordClient

    init() throws {
        let list = list
        folder = try TemporaryFolder()
        server = try ScriptedServer { list.answer($0) }
        client = try ListAPI.client(server.base, folder)
    }

    static func client(_ base: String, _ folder: TemporaryFolder) throws -> RecordClient {
        try RecordClient(base: base, records: Entry.self, store: folder("entries.tarn")) { $0.api.retry.attempts = 1 }
    }

    func stored() throws -> [Int64] { try client.store.read { try $0.fetch(Entry.all).map(\.id) } }
}

extension ListState where Value == Entry {
    var ids: [Int64] { items.map(\.id) }
}
