import Hummingbird
import TarnMacros
import TarnService

public struct Edge: Sendable {
    public let forge: RecordClient
    public let refreshes: RefreshService

    public init(api: String, repositories: [String], store: String, every interval: Duration = .seconds(60)) throws {
        forge = try RecordClient(base: api, records: Issue.self, User.self, Label.self, Milestone.self, store: store)
        refreshes = try RefreshService(
            repositories.map { [forge] in ScheduledRefresh(.issues($0), of: forge, name: $0, every: interval) })
    }

    public func application(port: Int) -> some ApplicationProtocol {
        Application(router: router, configuration: .init(address: .hostname(port: port)), services: [refreshes])
    }

    public var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("issues/:id") { _, context in try issue(context.parameters.require("id", as: Int64.self)) }
        router.get("issues") { request, _ in try issues(request.uri.queryParameters) }
        router.get("users/:login") { _, context in try user(context.parameters.require("login")) }
        router.get("changes") { request, _ in try await changes(request.uri.queryParameters) }
        router.get("health") { _, _ in
            let health = refreshes.health
            return EditedResponse(status: health.status == .unavailable ? .serviceUnavailable : .ok, response: health)
        }
        return router
    }

    func issue(_ id: Int64) throws -> Response {
        try object { try $0.writeJSON(Issue.self, id, including: \.author, \.labels, into: &$1) }
    }

    func issues(_ query: Parameters) throws -> Response {
        let state = try query.value("state", State.init), author = query.get("author")
        let after = try query.value("after", ContinuationToken.init), limit = query.get("limit", as: Int.self) ?? 50
        let all = Issue.where { issue in
            .ifPresent(state) { issue.state == $0 } && .ifPresent(author) { issue.author.login == $0 }
        }
        let issues = query.get("order") == "number" ? all.order(by: \.number) : all.order(by: \.updatedAt, .descending)
        let page = issues.limit(min(max(limit, 1), 100)).after(after).include(\.author, \.labels)
        var body = Array(#"{"issues":"#.utf8)
        let next = try read { try $0.writeJSONPage(page, into: &body) }
        return json(body + (next.map { #","next":"\#($0.text)"}"# } ?? "}").utf8)
    }

    func user(_ login: String) throws -> Response {
        try object { reader, body in
            guard let user = try reader.first(User.where { $0.login == login }) else { return false }
            return try reader.writeJSON(User.self, user.id, into: &body)
        }
    }

    /// Waits for changes of issues after a token, for half a minute at most.
    func changes(_ query: Parameters) async throws -> Response {
        let start = try query.value("since", ChangeToken.init) ?? read { try $0.changeToken }
        _ = try read { try $0.changes(since: start, limit: 1) }
        let observation = forge.store.observe(entities: ["Issue"]) { try $0.changes(since: start, of: ["Issue"]) }
        let page = try await withThrowingTaskGroup(of: ChangePage?.self) { group in
            group.addTask { try await observation.first { !$0.value.changes.isEmpty }?.value }
            group.addTask {
                try await Task.sleep(for: .seconds(30))
                // Without a change of an issue, the next token is behind the commits of others.
                return try read { try $0.changes(since: start, of: ["Issue"]) }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        let keys = page.map { $0.changes.map { #"{"\#($0.operation)":\#($0.key)}"# } } ?? []
        return json(Array(#"{"changes":[\#(keys.joined(separator: ","))],"next":"\#(page?.token ?? start)"}"#.utf8))
    }

    /// Reads the store. A token that is not, or no longer, one of it is a mistake of the request.
    private func read<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        do { return try forge.store.read(body) } catch StoreError.wrongToken, is ChangeLogError {
            throw HTTPError(.badRequest, message: "the token is of another list or store, or lost: read all again")
        }
    }

    private func object(_ write: (StoreReader, inout [UInt8]) throws -> Bool) throws -> Response {
        var body: [UInt8] = []
        guard try read({ try write($0, &body) }) else { throw HTTPError(.notFound) }
        return json(body)
    }

    private func json(_ body: [UInt8]) -> Response {
        Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(bytes: body)))
    }
}

extension RefreshHealth: @retroactive ResponseEncodable {}

extension Parameters {
    /// A value of the query; nil if there is none.
    fileprivate func value<Result>(_ name: String, _ read: (String) -> Result?) throws -> Result? {
        guard let text = get(name) else { return nil }
        guard let value = read(text) else { throw HTTPError(.badRequest, message: "\(name) is not valid") }
        return value
    }
}
