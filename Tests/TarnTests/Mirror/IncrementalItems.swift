// The description and the server of the tests of incremental scans.

import Foundation
import Synchronization
import Tarn
import TestSupport

/// A server of records with a time, two on a page, that filters by `since` and logs the requests.
final class IncrementalItems: Sendable {
    static let first = [
        (1, "2026-01-01T10:00:00Z"), (2, "2026-01-02T10:00:00Z"), (3, "2026-01-03T10:00:30.5Z"),
    ]

    static func yaml(_ since: String, type: String = "date", more: String = "paginate: header_link") -> String {
        """
        api: { base: https://api.test.example }
        entities:
          Item: { key: id, attributes: { id: int, changedAt: \(type), kind: string? } }
        endpoints:
          items:
            path: /items
            entity: Item
            since: \(since)
            \(more)
        """
    }

    let state = Mutex((items: [(id: Int, at: String)](), log: [String](), failing: Set<String>()))

    func set(_ items: [(Int, String)]) { state.withLock { $0.items = items } }
    var log: [String] {
        state.withLock { state in
            defer { state.log = [] }
            return state.log
        }
    }

    var transport: ClosureTransport {
        ClosureTransport { [self] request in
            let target = request.url.replacing("https://api.test.example", with: "")
            let (items, fails) = state.withLock { state in
                state.log.append(target.removingPercentEncoding ?? target)
                return (state.items, state.failing.contains(target))
            }
            if fails { return TransportResponse(status: 404) }
            let values = URLComponents(string: request.url)?.queryItems ?? []
            let since = values.first { $0.name == "since" }?.value
            let page = values.first { $0.name == "page" }?.value.flatMap { Int($0) } ?? 1
            let found = items.filter { item in since.map { item.at >= $0 } ?? true }
            let part = found.dropFirst(2 * (page - 1)).prefix(2)
            var headers = TransportHeaders()
            if found.count > 2 * page {
                let rest = since.map { "&since=\($0)" } ?? ""
                headers["Link"] = "</items?page=\(page + 1)\(rest)>; rel=next"
            }
            let body = part.map { #"{"id":\#($0.id),"changed_at":"\#($0.at)"}"# }.joined(separator: ",")
            return TransportResponse(status: 200, headers: headers, body: Array("[\(body)]".utf8))
        }
    }
}
