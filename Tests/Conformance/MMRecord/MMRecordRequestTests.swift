// The request methods of MMRecord.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From MMRecord: requests", .timeLimit(.minutes(2)))
struct MMRecordRequestTests {
    private func api(
        _ bodies: [String: String] = ["/posts": #"{"data": \#(Stream.page), "meta": {"more": false, "max": 103}}"#]
    )
        throws -> APIFixture
    {
        try APIFixture(bodies, Stream.client)
    }

    @Test(
        "MMRecord +startRequestWithURN:data:context:domain:resultBlock:failureBlock: → forge.all(_:): the records in the order of the response, stored with everything nested in them"
    )
    func simple() async throws {
        let api = try api()
        let posts = try await api.client.all(.stream())
        #expect(posts.map(\.id) == [103, 102, 101] && posts.map(\.author.key) == [1, 2, 1])
        #expect(try api.fetch(Stream.Author.all).map(\.username) == ["user1", "user2"])
        // MMRecord left Counts without an author: one for each occurrence of the author.
        #expect(try api.count("Counts") == 2 && api.count("Source") == 3 && api.count("CoverImage") == 2)
    }

    // A block could not throw, and an undefined server called neither of the two blocks.
    @Test(
        "MMRecord failureBlock → `try await`: a refusal is thrown once, with its status, and nothing is stored"
    )
    func failure() async throws {
        let api = try api()
        await #expect {
            _ = try await api.client.all(.post(7))
        } throws: {
            if case .request(.status(404, _, _, _), _)? = $0 as? CacheError { true } else { false }
        }
        #expect(try api.count("Post") == 0)
    }

    @Test(
        "MMRecord +startRequestWithURN:data: with parameters → RecordRequest.get(_:_:): values that the path does not name are the query"
    )
    func parameters() async throws {
        let api = try api(["/posts?count=2": #"{"data": []}"#])
        #expect(try await api.client.all(.stream(2)).isEmpty)
        #expect(api.server.targets == ["/posts?count=2"])
    }

    @Test(
        "MMRecord +startRequestWithURN:data:context:domain:customResponseBlock:resultBlock:failureBlock: → forge.all(_:value:), forge.one(_:value:): a closure sees the whole JSON, and its values come with the records, for every page"
    )
    func customValue() async throws {
        let api = try api()
        let (posts, newest) = try await api.client.all(.stream()) { json in json["meta"]?["max"] }
        #expect(posts.count == 3 && newest == [.number("103")])
        await #expect(throws: CancellationError.self) {
            _ = try await api.client.all(.stream()) { _ -> Int in throw CancellationError() }
        }
    }

    // The key path of a method, which only the cache read, and which an option could not change.
    @Test(
        "MMRecord +keyPathForMetaData → ResponseValue, RecordRequest.metadata(_:): typed values beside the records, also of stored answers"
    )
    func metadata() async throws {
        let api = try api(), request = RecordRequest.stream().metadata(.newest).metadata(.hasMore)
        for policy in [CachePolicy.networkFirst, .cacheOnly] {
            let page = try await api.client.page(request.policy(policy))
            let (newest, hasMore) = (try page[.newest], try page[.hasMore])
            #expect(newest == 103 && hasMore == false && page.records.count == 3)
        }
    }

    @Test(
        "MMRecord +startPagedRequestWithURN:data:context:domain:resultBlock:failureBlock: → forge.pages(_:): each page is imported when it is asked for, and a loop that is left requests no more"
    )
    func pages() async throws {
        let api = try api([
            "/posts":
                #"{"data": [\#(Stream.post(4, by: 1)), \#(Stream.post(3, by: 1))], "meta": {"min": 3, "more": true}}"#,
            "/posts?before_id=3": #"{"data": [\#(Stream.post(2, by: 2))], "meta": {"min": 2, "more": true}}"#,
            "/posts?before_id=2": #"{"data": [], "meta": {"min": null, "more": false}}"#,
        ])
        let request = RecordRequest<Stream.Post>.get(
            "/posts", records: "data",
            pagination: .cursor(path: "meta.min", sends: .query("before_id"), hasMore: "meta.more"))
        var seen: [[Int64]] = []
        for try await page in api.client.pages(request) { seen.append(page.records.map(\.id)) }
        #expect(seen == [[4, 3], [2], []])
        for try await page in api.client.pages(request) {
            #expect(page.records.count == 2 && page.next != nil)
            break
        }
        #expect(api.server.targets.count == 4)
    }

    // A paging block that always set its flag asked for the same page for ever.
    @Test(
        "MMRecord *requestNextPage = YES → forge.pages(_:): a cursor that repeats itself ends the list with an error, and the pages before it stay"
    )
    func pageLoop() async throws {
        let api = try api([
            "/posts": #"{"data": [\#(Stream.post(4, by: 1))], "meta": {"next": "a"}}"#,
            "/posts?after=a": #"{"data": [\#(Stream.post(3, by: 1))], "meta": {"next": "a"}}"#,
        ])
        await #expect(throws: CacheError.self) {
            _ = try await api.client.all(
                RecordRequest<Stream.Post>.get(
                    "/posts", records: "data", pagination: .cursor(path: "meta.next", sends: .query("after"))))
        }
        #expect(try api.fetch(Stream.Post.all).map(\.id) == [3, 4])
    }

    // MMRecord delivered no error, and no further callback.
    @Test(
        "MMRecord paged request that fails on its second page → forge.pages(_:): the failure is thrown, and the first page stays"
    )
    func failingPage() async throws {
        let api = try api(["/posts": #"{"data": [\#(Stream.post(4, by: 1))], "meta": {"next": "a"}}"#])
        var seen: [Int64] = []
        await #expect(throws: CacheError.self) {
            for try await page in api.client.pages(
                RecordRequest<Stream.Post>.get(
                    "/posts", records: "data", pagination: .cursor(path: "meta.next", sends: .query("after"))))
            { seen += page.records.map(\.id) }
        }
        #expect(seen == [4])
        #expect(try api.fetch(Stream.Post.all).map(\.id) == [4])
    }

    @Test(
        "MMRecord +startRequestWithURN:data:context:domain:fetchRequest:customResponseBlock:resultBlock:failureBlock: → forge.answers(_:local:): first the stored records of a query, then those after the server's answer"
    )
    func fetchFirst() async throws {
        let api = try api()
        let query = Stream.Post.where { $0.author == 1 }.order(by: \.id)
        for expected in [[], [101, 103]] as [[Int64]] {
            var answers: [[Int64]] = []
            for try await answer in api.client.answers(.stream(), local: query) {
                answers.append(answer.records.map(\.id))
                if case .remote = answer { break }
            }
            #expect(answers == [expected, [101, 103]])
        }
    }

    // MMRecord called only the failure block: a caller could not tell what is still there.
    @Test(
        "MMRecord fetch-first request offline → RequestAnswer.failed(_:kept:): the failure comes with the records that the store keeps"
    )
    func fetchFirstOffline() async throws {
        let api = try api()
        _ = try await api.client.all(.stream())
        api.answer("/posts", "", status: "503 Service Unavailable")
        var kept: [Int64]?
        for try await answer in api.client.answers(.post(7), local: Stream.Post.all) {
            if case .failed(_, let records) = answer {
                kept = records.map(\.id)
                break
            }
        }
        #expect(kept == [101, 102, 103])
    }

    @Test(
        "MMRecord +startBatchedRequestsInExecutionBlock:withCompletionBlock: → forge.batch(_:): the records of all requests, together"
    )
    func batch() async throws {
        let api = try api(["/posts": #"{"data": \#(Stream.page)}"#, "/users": #"{"data": [\#(Stream.author(9))]}"#])
        let (posts, authors) = try await api.client.batch(.stream(), .authors())
        #expect(posts.count == 3 && authors.map(\.id) == [9])
    }

    // One failure of a batch made every later request report a failure, although it was saved.
    @Test(
        "MMRecord batched requests of which one fails → forge.batch(_:): the others are stored, and the first failure is thrown"
    )
    func batchFailure() async throws {
        let api = try api(["/users": #"{"data": [\#(Stream.author(9))]}"#])
        await #expect(throws: CacheError.self) { _ = try await api.client.batch(.stream(), .authors()) }
        #expect(try api.fetch(Stream.Author.all).map(\.id) == [9])
    }

    @Test(
        "MMRecord batch that is saved request by request → forge.batch(_:atomic:): all of it is one change, or nothing is stored"
    )
    func atomicBatch() async throws {
        let api = try api(["/users": #"{"data": [\#(Stream.author(9))]}"#])
        await #expect(throws: MirrorError.self) {
            _ = try await api.client.batch(.stream(), .authors(), atomic: true)
        }
        #expect(try api.count("Author") == 0)
        api.answer("/posts", #"{"data": \#(Stream.page)}"#)
        let (posts, authors) = try await api.client.batch(.stream(), .authors(), atomic: true)
        #expect(posts.count == 3 && authors.count == 1)
    }

    // The receiver was updated only if its key was equal as JSON: "7" was not 7.
    @Test(
        "MMRecord -startDetailRequestWithDomain:resultBlock:failureBlock: → forge.one(_:): the detail updates the stored record"
    )
    func detail() async throws {
        let api = try api()
        _ = try await api.client.all(.stream())
        api.answer("/posts/102", #"{"data": {"id": 102, "text": "in full", "user": {"id": 2}}}"#)
        let detail = try await api.client.one(.post(102))
        #expect(detail.text == "in full" && detail.replies == 1)
        #expect(try api.count("Post") == 3)
        #expect(try api.get(Stream.Author.self, 2)?.username == "user2")
    }

    @Test(
        "MMRecord -recordDetailURN → DetailedRecord.detail, forge.detail(of:): a type declares the request for one of its records, and a record, or a key, is fetched anew"
    )
    func declaredDetail() async throws {
        let api = try APIFixture(["/topics/70": #"{"id": 7, "number": 70, "title": "in full"}"#]) {
            try RecordClient(base: $0, records: Topic.self, store: $1)
        }
        try await api.client.store.write { try $0.put(Topic(id: 7, number: 70)) }
        let topic = try #require(try api.get(Topic.self, 7))
        #expect(try await api.client.detail(of: topic).title == "in full")
        #expect(try await api.client.detail(Topic.self, 7).title == "in full")
        #expect(try api.get(Topic.self, 7)?.title == "in full")
    }

    @Record struct Topic: Equatable, DetailedRecord {
        @Key var id: Int64
        var number: Int
        var title: String?
        static let detail = RecordRequest<Topic>.get("/topics/{number}")
    }

    @Test(
        "MMRecord +cancelRequestsWithDomain: → Task.cancel(): the transfer of this task ends, and nothing of it is stored"
    )
    func cancel() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { _ in
            gate.wait()
            return .init(body: #"{"data": \#(Stream.page)}"#)
        }
        let folder = try TemporaryFolder()
        let client = try Stream.client(server.base, folder("s.tarn"))
        let task = Task { try await client.all(.stream()) }
        try await gate.reached()
        task.cancel()
        await #expect(throws: (any Error).self) { _ = try await task.value }
        gate.open()
        #expect(try client.store.read { try $0.count("Post") } == 0)
    }

    @Test(
        "MMRecord +registerServerClass: and +server → RecordClient(base:records:store:transport:): a client has its transport, and there is no global registry"
    )
    func servers() async throws {
        struct Recorded: Transport {
            let body: String
            func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
                TransportResponse(status: 200, headers: TransportHeaders(), body: Array(body.utf8))
            }
        }
        let folder = try TemporaryFolder()
        for (name, id) in [("a", 1), ("b", 2)] as [(String, Int64)] {
            let client = try RecordClient(
                base: "https://\(name).test.example", records: Stream.Author.self, Stream.Post.self,
                Stream.Counts.self, Stream.CoverImage.self, Stream.Source.self, store: folder(name),
                transport: Recorded(body: #"{"data": [\#(Stream.author(Int(id)))]}"#))
            #expect(try await client.all(.authors()).map(\.id) == [id])
        }
    }

    // A response that claims success, and is not one: MMRecord deleted or stored a record of it.
    @Test(
        "MMRecord response that is no list and no object → MirrorError.response: a text or a number in place of records is a failure, and no record"
    )
    func noRecords() async throws {
        let api = try api([
            "/posts": "\"<html>busy</html>\"", "/posts?count=1": "not json", "/posts?count=2": #"{"date": []}"#,
        ])
        for count in [nil, 1, 2] {
            await #expect(throws: CacheError.self) { _ = try await api.client.all(.stream(count)) }
        }
        #expect(try api.count("Post") == 0)
    }

    // MMRecord 1.4.0 reported an empty list as a failure, and 1.5 a missing key path as an empty list.
    @Test(
        "MMRecord empty result set (error 7) → forge.all(_:): an empty list is a success, a missing key path is not"
    )
    func empty() async throws {
        let api = try api(["/posts": #"{"data": []}"#, "/users": #"{"dat": []}"#])
        #expect(try await api.client.all(.stream()).isEmpty)
        await #expect(throws: CacheError.self) { _ = try await api.client.all(.authors()) }
    }
}
