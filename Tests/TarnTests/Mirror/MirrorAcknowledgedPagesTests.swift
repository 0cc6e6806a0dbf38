// `prefetch: false`: a page is committed before the request that acknowledges it.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: pages that the next request acknowledges", .timeLimit(.minutes(5)))
struct MirrorAcknowledgedPagesTests {
    private static let yaml = """
        api: { base: https://api.test.example }
        entities:
          Item: { key: id, attributes: { id: int } }
        endpoints:
          items:
            path: /items
            entity: Item
            paginate: { since_id: { param: offset, includes_named: true, per_page: { limit: 2 } } }
            prefetch: false
        """

    @Test("each page is stored when the next one is requested, however many pages a commit has otherwise")
    func order() async throws {
        let store = try MirrorStore(yaml: Self.yaml), open = try store.open()
        let found = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let offset =
                URLComponents(string: request.url)?.queryItems?.first { $0.name == "offset" }?.value.flatMap { Int($0) }
                ?? 1
            let count = try open.read { try $0.count("Item") }
            found.withLock { $0.append("\(offset): \(count)") }
            let body = (offset..<min(offset + 2, 8)).map { #"{"id":\#($0)}"# }
            return TransportResponse(status: 200, body: Array("[\(body.joined(separator: ","))]".utf8))
        }
        let report = try await store.sync(nil, transport: transport) { $0.mirror.commitUnit = .pages(10) }
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(found.withLock { $0 } == ["1: 0", "3: 2", "5: 4", "7: 6", "8: 7"])
        #expect(try store.count("Item") == 7)
    }

    @Test("commit contradicts it")
    func commit() {
        #expect(throws: DescriptionError.self) {
            try Description.parse(Self.yaml + "\n    commit: walk", file: "tarn.yaml")
        }
    }
}
