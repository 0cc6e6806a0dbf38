// The ids of syncs, by which the lists of limited syncs take turns.

import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: ids of syncs")
struct SyncRunTests {
    @Test("the next sync of an API that was finished has a later id, also if both have the same time")
    func laterID() throws {
        let store = try MirrorStore(yaml: itemsYAML("paginate: single_page"))
        let mirror = try APIMirror(
            store.description, store: try store.open(),
            transport: ClosureTransport { _ in TransportResponse(status: 200) })
        for _ in 0..<20 {
            let run = try SyncRun(mirror, [("items", "f")], isAll: true, apis: ["a", "b"], authScope: "")
            let next = try #require(run.continued(for: ["b"], hasProgress: true))
            #expect(try #require(next.syncs["a"]) > run.id(of: "a") && next.syncs["b"] == run.id(of: "b"))
        }
    }
}
