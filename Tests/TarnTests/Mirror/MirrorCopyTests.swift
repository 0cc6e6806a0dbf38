// Syncs into copies of a store: its responses stay usable.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: copies of a store", .timeLimit(.minutes(5)))
struct MirrorCopyTests {
    @Test(
        "responses that were fetched with credentials are confirmed in a backup too, and in a backup of it"
    )
    func confirmed() async throws {
        var store = try MirrorStore(yaml: itemsYAML(api: "  auth: { bearer: { env: TOKEN } }"))
        let transport = ClosureTransport { request in
            #expect(request.headers["Authorization"] == "Bearer hush")
            var headers = TransportHeaders()
            headers["ETag"] = "\"a\""
            if request.headers["If-None-Match"] == "\"a\"" { return TransportResponse(status: 304, headers: headers) }
            return TransportResponse(status: 200, headers: headers, body: Array(#"[{"id":1,"name":"n"}]"#.utf8))
        }
        func sync() async throws -> SyncReport {
            try await store.sync(nil, transport: transport, environment: ["TOKEN": "hush"])
        }
        #expect(try await sync().notModified == 0)
        for place in ["backup", "again"] {
            let copy = store.folder.path + "/\(place).tarn"
            try store.open().backup(to: copy)
            store.description.storePath = copy
            let report = try await sync()
            #expect(report.failures.isEmpty && report.notModified == 1 && report.pages == 1, "\(report.texts)")
        }
        // Other credentials have other responses.
        let other = ClosureTransport { request in
            #expect(request.headers["If-None-Match"] == nil)
            return TransportResponse(status: 200, body: Array(#"[{"id":2,"name":"n"}]"#.utf8))
        }
        let report = try await store.sync(nil, transport: other, environment: ["TOKEN": "another"])
        #expect(report.failures.isEmpty, "\(report.texts)")
    }
}
