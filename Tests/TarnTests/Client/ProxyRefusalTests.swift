// Refusals of proxies, as syncs and changes name them.

import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Refusals of proxies", .timeLimit(.minutes(2)))
struct ProxyRefusalTests {
    @Test("a proxy that demands a password is named with the way out, also if the description declares it")
    func demand() async throws {
        let proxy = try ScriptedServer { _ in
            ScriptedServer.Answer(status: "407 Proxy Authentication Required", body: "no")
        }
        let folder = try TemporaryFolder()
        let description = try Description.parse(
            """
            api: { base: 'http://api.example', transport: { proxy: '\(proxy.base)' } }
            entities:
              Issue: { key: id, attributes: { id: int, title: string }, write: { update: 'PATCH /issues/{id}' } }
            endpoints:
              issues: { path: /issues, entity: Issue, paginate: single_page }
            """, file: folder("tarn.yaml"))
        let store = try Store.open(at: folder("proxied.tarn"), schema: description.schema)
        let client = try APIClient(description, store: store) { CurlTransport($1.transport) }
        let wayOut = "in `http_proxy`, and remove `proxy` under `transport`"
        let failure = try #require(await APIMirror(client).sync().failures.first)
        #expect("\(failure)".contains("the proxy demands") && "\(failure)".contains(wayOut), "\(failure)")
        try await store.write { try $0.put("Issue", RecordKey(1), [.init("title", .string("a"))]) }
        let outbox = client.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        let stop = try #require(try await outbox.drain().stop)
        #expect(stop.message.contains("the proxy demands") && stop.message.contains(wayOut), "\(stop)")
        #expect(!stop.message.contains("the server returned"), "\(stop)")
        #expect(try outbox.operations().first?.state == .pending)
    }
}
