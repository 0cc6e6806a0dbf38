// The options of MMRecord that are options of one request.

import Foundation
import Logging
import TarnMacros
import TestSupport
import Testing

@Suite("From MMRecord: options of a request", .timeLimit(.minutes(2)))
struct MMRecordCallOptionTests {
    private func api(_ bodies: [String: String] = ["/posts": #"{"data": \#(Stream.page)}"#]) throws -> APIFixture {
        try APIFixture(bodies, Stream.client)
    }

    // The records went to the caller's context, and with its next save to disk.
    @Test(
        "MMRecordOptions.automaticallyPersistsRecords = NO → RecordRequest.persisting(false): the records are returned, and nothing is stored"
    )
    func notPersisted() async throws {
        let api = try api()
        #expect(
            try await api.client.all(.stream().persisting(false)).map(\.text) == ["post 103", "post 102", "post 101"])
        #expect(try api.count("Post") == 0 && api.count("Author") == 0)
        #expect(try await api.client.all(.stream()).count == 3)
        #expect(try api.count("Post") == 3)
    }

    // A second record with an injected key crashed, or became nil.
    @Test(
        "MMRecordOptions.entityPrimaryKeyInjectionBlock for one request → RecordRequest.injectingKeys(_:): a key from the record, or from the enclosing one"
    )
    func injectedKeys() async throws {
        let item = #"{"text": "same", "code": 5, "user": {"id": 1, "handle": "a"}}"#
        let api = try api(["/posts": #"{"data": [\#(item), \#(item)]}"#])
        let posts = try await api.client.all(
            .stream().injectingKeys { entity, json, _ in entity == "Post" ? ["id": json["code"] ?? .null] : [:] })
        #expect(posts.map(\.id) == [5, 5] || posts.map(\.id) == [5])
        #expect(try api.fetch(Stream.Post.all).map(\.id) == [5])
    }

    @Test(
        "MMRecordOptions.recordPrePopulationBlock for one request → RecordRequest.editing(_:), filtering(_:), editingDrafts(_:): before the key is read, or before records are merged; nested ones, too"
    )
    func editing() async throws {
        let api = try api()
        let request = RecordRequest<Stream.Post>.stream()
            .filtering { _, json in json["id"] != .string("102") }
            .editing { _, json in json["text"] = .string("edited \(json["id"]?.text ?? "")") }
            .editingDrafts { draft in if draft.entity == "Author" { draft.set("name", .string("nested")) } }
        #expect(try await api.client.all(request).map(\.text) == [#"edited "103""#, #"edited "101""#])
        #expect(try api.fetch(Stream.Author.all).map(\.name) == ["nested"])
    }

    // The bundled servers compared the classes of domains: all requests of a view controller's class.
    @Test(
        "MMRecord +cancelRequestsWithDomain: → RecordRequest.domain(_:) and forge.cancel(domain:): the calls of a domain end, others go on"
    )
    func domains() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { request in
            if request.target == "/posts" { gate.wait() }
            return .init(body: #"{"data": []}"#)
        }
        let folder = try TemporaryFolder()
        let client = try Stream.client(server.base, folder("s.tarn"))
        let task = Task { try await client.all(.stream().domain("timeline")) }
        try await gate.reached()
        #expect(client.cancel(domain: "profile") == 0)
        #expect(client.cancel(domain: "timeline") == 1)
        await #expect {
            _ = try await task.value
        } throws: {
            ($0 as? CacheError)?.isCancelled == true
        }
        #expect(try await client.all(.authors().domain("profile")).isEmpty)
        gate.open()
    }

    @Test(
        "MMRecord +setLoggingLevel: and the log of MMRecordDebugger → RecordRequest.logging(to:): the answer of one request, with its source and its counts"
    )
    func logging() async throws {
        let logs = LogStore(), logger = logs.logger(.info)
        let api = try api()
        _ = try await api.client.all(.stream().logging(to: logger))
        _ = try await api.client.all(.stream())
        #expect(logs.lines.count == 1 && logs.lines.first?.contains("info") == true)
    }

    // The requests of a batch shared one set of options, and one failure.
    @Test(
        "MMRecord batch of any number of requests → forge.results(of:): the records or the failure of each"
    )
    func results() async throws {
        let api = try api([
            "/posts/1": #"{"data": \#(Stream.post(1, by: 1))}"#, "/posts/3": #"{"data": \#(Stream.post(3, by: 1))}"#,
        ])
        let results = await api.client.results(of: (1...3).map { .post($0) })
        #expect(results.map { (try? $0.get())?.map(\.id) } == [[1], nil, [3]])
        #expect(try await api.client.batch([.post(1), .post(3)], atomic: true).map { $0.map(\.id) } == [[1], [3]])
    }

    // The block saw every record of the class that the page did not have, and ran after errors, too.
    @Test(
        "MMRecordOptions.deleteOrphanedRecordBlock for one request → RecordRequest.removingOrphans(_:where:): after a complete list, what its earlier lists had and it lacks; a closure keeps records"
    )
    func orphans() async throws {
        let api = try api()
        let request = RecordRequest.stream().removingOrphans(Orphans(scans: 1)) { $0.text != "post 102" }
        _ = try await api.client.all(request)
        try await api.client.store.write { writer in
            try writer.put(
                Stream.Post(
                    id: 7, text: "of another list", replies: 0, author: Reference(1)))
        }
        api.answer("/posts", #"{"data": [\#(Stream.post(103, by: 1))]}"#)
        _ = try await api.client.all(request)
        #expect(try api.fetch(Stream.Post.all).map(\.id) == [7, 102, 103])
        api.answer("/posts", #"{"data": []}"#)
        _ = try await api.client.all(request)
        api.answer("/posts", "", status: "500 Internal Server Error")
        await #expect(throws: CacheError.self) { _ = try await api.client.all(request.policy(.networkOnly)) }
        #expect(try api.count("Post") == 3)
    }

    @Test(
        "MMRecord responses with records of several classes → RecordRequest.also(_:at:): the other records of an envelope, imported as one change"
    )
    func envelopes() async throws {
        let api = try api(["/posts": #"{"data": [], "people": [\#(Stream.author(8))]}"#])
        #expect(try await api.client.all(.stream().also(Stream.Author.self, at: "people")).isEmpty)
        #expect(try api.fetch(Stream.Author.all).map(\.id) == [8])
    }

    @Test(
        "MMRecord request without a time limit of its own → RecordRequest.deadline(_:): the time that a call may take, with its retries"
    )
    func deadline() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { _ in
            gate.wait()
            return .init(body: #"{"data": []}"#)
        }
        let folder = try TemporaryFolder()
        let client = try Stream.client(server.base, folder("s.tarn"))
        await #expect {
            _ = try await client.all(.stream().deadline(.milliseconds(100)))
        } throws: {
            if case .request(.transport(let error), _)? = $0 as? CacheError { error.kind == .timeout } else { false }
        }
        gate.open()
    }
}
