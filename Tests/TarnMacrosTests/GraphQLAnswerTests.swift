// Answers of GraphQL servers that are no whole lists, and requests that cannot be answered.

import Synchronization
import TarnMacros
import TestSupport
import Testing

@Record private struct PlacedTask: Equatable {
    @Key var id: String
    var title: String?
    @Attribute(from: "@position") var place: Int?
}

@Record private struct Viewer: Equatable {
    @Key var id: String
}

@Suite("Answers of GraphQL servers", .timeLimit(.minutes(2)))
struct GraphQLAnswerTests {
    private struct API {
        let folder: TemporaryFolder
        let client: RecordClient
        let server: AnsweringTransport

        init(_ answer: @escaping @Sendable (TransportRequest) -> AnsweringTransport.Answer) throws {
            folder = try TemporaryFolder()
            server = AnsweringTransport { answer($0) }
            client = try RecordClient(
                base: "http://made.example", records: PlacedTask.self, Viewer.self, store: folder("made.tarn"),
                transport: server
            ) { $0.api.retry.attempts = 1 }
        }

        func stored() throws -> [PlacedTask] { try client.store.read { try $0.fetch(PlacedTask.all) } }
    }

    private static func request(_ places: GraphQLRequest.Records...) -> GraphQLRequest {
        GraphQLRequest("query($after: String) { made }", records: places)
    }

    private static let tasks = GraphQLRequest.Records("repo.tasks", "PlacedTask", cursor: "after")

    private static func page(_ number: Int, of count: Int) -> String {
        #"{"data":{"viewer":{"id":"u"},"repo":{"tasks":{"pageInfo":{"hasNextPage":\#(number < count),"#
            + #""endCursor":"c\#(number)"},"nodes":[{"id":"t\#(number)a"},{"id":"t\#(number)b"}]}}}}"#
    }

    @Test(
        "a part of a list never passes for the whole",
        arguments: [
            #"{"repo":{"tasks":{"pageInfo":{"endCursor":"c2"},"nodes":[]}}}"#,
            #"{"repo":{"tasks":{"pageInfo":{"hasNextPage":"true","endCursor":"c2"},"nodes":[]}}}"#,
            #"{"repo":{"tasks":{"pageInfo":{"hasNextPage":null,"endCursor":"c2"},"nodes":[]}}}"#,
            #"{"repo":{"tasks":{"pageInfo":null,"nodes":[]}}}"#,
            #"{"repo":{"tasks":{"pageInfo":{"hasNextPage":false},"nodes":null}}}"#, #"{"repo":{"tasks":null}}"#,
            #"{"repo":null}"#, "{}",
        ])
    func incompleteLists(data: String) async throws {
        let count = Mutex(0)
        let api = try API { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return .init(body: isFirst ? Self.page(1, of: 3) : #"{"data":\#(data)}"#)
        }
        await #expect(throws: RemoteError.self) {
            try await api.client.fetch(Self.request(Self.tasks), through: GraphQLBridge())
        }
        #expect(try api.stored() == [] && api.server.requests.count == 2)
    }

    @Test("positions count over all pages, and a place without a cursor is read once")
    func pages() async throws {
        let count = Mutex(0)
        let api = try API { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .init(body: Self.page(number, of: 3))
        }
        let result = try await api.client.fetch(
            Self.request(Self.tasks, .init("viewer", "Viewer")), through: GraphQLBridge())
        #expect(try api.client.records(Viewer.self, of: result) == [Viewer(id: "u")])
        #expect(try api.client.records(PlacedTask.self, of: result).map(\.place) == [0, 1, 2, 3, 4, 5])
        #expect(api.server.requests.count == 3)
    }

    @Test(
        "a document that asks for a connection without its records is an error, and no list without records",
        arguments: [
            #"{"pageInfo":{"hasNextPage":false},"edges":[{"cursor":"a"},{"cursor":"b"}]}"#,
            #"{"pageInfo":{"hasNextPage":false,"endCursor":"a"}}"#,
        ], [nil, "after"])
    func unaskedRecords(connection: String, cursor: String?) async throws {
        let api = try API { _ in .init(body: #"{"data":{"repo":{"tasks":\#(connection)}}}"#) }
        await #expect(throws: RemoteError.self) {
            try await api.client.fetch(
                Self.request(.init("repo.tasks", "PlacedTask", cursor: cursor)), through: GraphQLBridge())
        }
        // Elements that are null are left out.
        let edges = #"[null,{"node":null},{"node":{"id":"t1"}}]"#
        let other = try API { _ in .init(body: #"{"data":{"repo":{"tasks":{"edges":\#(edges)}}}}"#) }
        _ = try await other.client.fetch(Self.request(.init("repo.tasks", "PlacedTask")), through: GraphQLBridge())
        #expect(try other.stored().map(\.id) == ["t1"])
    }

    @Test("a wrong place is an error: before anything is sent if it is no path of keys")
    func wrongPlaces() async throws {
        let api = try API { _ in .init(body: Self.page(1, of: 1)) }, bridge = GraphQLBridge()
        for path in ["repo.*", "repo.tasks[0]", "@root.repo"] as [JSONPath] {
            await #expect(throws: RemoteError.self) {
                try await api.client.fetch(Self.request(.init(path, "PlacedTask")), through: bridge)
            }
        }
        let twice = GraphQLRequest.Records("repo.others", "PlacedTask", cursor: "after")
        await #expect(throws: RemoteError.self) {
            try await api.client.fetch(Self.request(Self.tasks, twice), through: bridge)
        }
        #expect(api.server.requests.isEmpty)
        await #expect(throws: RemoteError("the data has no such place of records", path: ["repo.task"])) {
            try await api.client.fetch(Self.request(.init("repo.task", "PlacedTask")), through: bridge)
        }
    }

    @Test("a response that is no answer of a GraphQL server is an error with its status and the reason")
    func otherResponses() async throws {
        let cases: [(answer: AnsweringTransport.Answer, reason: String)] = [
            (.init(body: "<html>log in</html>"), "(200) is not valid JSON at byte 0"),
            (.init(body: ""), "the document is empty"),
            (.init(status: 403, body: #"{"data":{"message":"forbidden"}}"#), "the server returned 403"),
            (.init(status: 500, body: Self.page(1, of: 1)), "the server returned 500"),
        ]
        for (answer, reason) in cases {
            let api = try API { _ in answer }
            let error = await #expect(throws: (any Error).self) {
                try await api.client.fetch(Self.request(Self.tasks), through: GraphQLBridge())
            }
            #expect(error.map { "\($0)".contains(reason) } == true, "\(reason)")
            #expect(try api.stored() == [])
        }
        // Text that is not UTF-8 is not replaced.
        let operation = RemoteOperation("POST", "/graphql", info: Self.request(Self.tasks))
        let body: [UInt8] = Array(#"{"data":{"a":""#.utf8) + [0xFF] + Array(#""}}"#.utf8)
        #expect(throws: RemoteError("POST /graphql: the response (200) is not valid JSON at byte 14: not valid UTF-8."))
        {
            try GraphQLBridge().answer(
                TransportResponse(status: 200, headers: TransportHeaders(), body: body), to: operation)
        }
    }
}
