// Stored responses that cannot be read, while another endpoint is scanned.

import Tarn
import Testing

@testable import TarnStore

@Suite("Mirror: responses that cannot be read")
struct DamagedResponseTests {
    @Test("a sync that cannot read a response of another endpoint stores nothing, and takes no record for an orphan")
    func otherEndpoint() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: id, attributes: { id: int, name: string } }
                  Other: { key: id, attributes: { id: int, name: string } }
                endpoints:
                  items: { path: /items, entity: Item, paginate: header_link, orphans: after_one_scan }
                  other: { path: /other, entity: Other, paginate: header_link }
                """)
        func sync(_ items: [Int], _ other: [[Int]], _ names: Set<String>? = nil) async throws -> SyncReport {
            let pages = writtenPages([items]) + writtenPages(other, path: "/other")
            return try await store.sync(nil, transport: try WrittenTransport(pages), names: names) {
                $0.concurrency = 1
            }
        }
        for other in [[[1, 2]], [[1, 2], [7]]] { #expect(try await sync([1, 2, 3], other).failures.isEmpty) }
        // The second page was stored after the note of the mappings: the next sync reads it.
        try await store.open().write { writer in
            var found: UInt64?
            try writer.access.responses.forEach { view in
                if view.url.hasSuffix("/other?page=2") { found = view.id }
                return true
            }
            let table = writer.access.state.responses
            try withUnsafeBytes(of: try #require(found).bigEndian) { key in
                var row = Array(try #require(try writer.access.raw.get(table, key)))
                row[row.count - 1] ^= 1
                try row.withUnsafeBytes { try writer.access.raw.put(table, key, $0) }
            }
        }
        let report = try await sync([1, 2, 3, 4], [[1, 2], [7]], ["items"])
        #expect(report.failures.count == 1 && report.texts.first?.contains("damaged") == true, "\(report.texts)")
        #expect(report.orphans?.deleted ?? 0 == 0 && report.pages == 0)
        #expect(try store.items() == [1, 2, 3])
    }
}
