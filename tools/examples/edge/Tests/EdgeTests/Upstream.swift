import Foundation
import Hummingbird
import Synchronization

/// A forge of 25 issues, ten a page, with Link headers.
final class Upstream: Sendable {
    struct Issue: Sendable {
        var id: Int
        var title: String
        var isOpen: Bool
        var updatedAt: String
    }

    private let state: Mutex<(issues: [Issue], fails: Bool)>

    init() {
        let issues = (1...25).map { id in
            Issue(id: id, title: "t\(id)", isOpen: id % 5 != 0, updatedAt: "2026-03-\(id < 10 ? "0" : "")\(id)T10:00:00Z")
        }
        state = Mutex((issues, false))
    }

    func change(_ body: @Sendable (inout [Issue]) -> Void) { state.withLock { body(&$0.issues) } }
    func fail(_ fails: Bool) { state.withLock { $0.fails = fails } }

    var application: some ApplicationProtocol {
        let router = Router()
        router.get("repos/acme/anvil/issues") { [self] request, _ in
            let (issues, fails) = state.withLock { ($0.issues, $0.fails) }
            guard !fails else { throw HTTPError(.internalServerError) }
            let page = request.uri.queryParameters.get("page", as: Int.self) ?? 1
            let listed = issues.dropFirst((page - 1) * 10).prefix(10).map(Self.json)
            var headers: HTTPFields = [.contentType: "application/json"]
            if page * 10 < issues.count, let host = request.head.authority {
                headers[HTTPFields.Element.Name("Link")!] = "<http://\(host)/repos/acme/anvil/issues?per_page=100&page=\(page + 1)>; rel=\"next\""
            }
            let text = "[" + listed.joined(separator: ",") + "]"
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
        }
        return Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)))
    }

    private static func json(_ issue: Issue) -> String {
        #"""
        {"id":\#(issue.id),"number":\#(issue.id * 10),"title":"\#(issue.title)","body":null,"comments":\#(issue.id % 7),
         "state":"\#(issue.isOpen ? "open" : "closed")","created_at":"2026-01-01T00:00:00Z","updated_at":"\#(issue.updatedAt)",
         "user":{"id":\#(issue.id % 3 + 1),"login":"\#(["ada", "bob", "cyd"][issue.id % 3])","name":null},
         "labels":[{"id":1,"name":"bug","color":"f00"},{"id":\#(issue.id % 2 + 2),"name":"ui","color":"00f"}],"milestone":null}
        """#
    }
}
