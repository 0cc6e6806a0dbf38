// The paths of BMO: text, |variables| and (optional groups).

import Foundation
import TarnDescription
import TarnMacros
import TestSupport
import Testing

@Suite("From BMO: REST paths", .timeLimit(.minutes(2)))
struct BMOPathTests {
    private typealias Request = RecordRequest<Gallery.Tag>

    /// The target of the request that is sent; nil if none is.
    private func target(_ path: String, _ values: Request.Parameters = [:]) async throws -> String? {
        let server = try ScriptedServer { _ in .init(body: "[]") }
        let folder = try TemporaryFolder()
        let client = try Gallery.client(server.base, folder("s.tarn"))
        _ = try? await client.all(Request.get(path, values, pagination: .headerLink()))
        return server.targets.first
    }

    @Test(
        "BMO RESTPath(\"hello/|world|\") → RecordRequest.get(\"/hello/{world}\"): constants and variables",
        arguments: [
            ("/hello", "/hello"), ("/{a}", "/x"), ("/hello/{a}", "/hello/x"), ("/{a}{b}", "/xy"),
            ("/{a}-{b}/c", "/x-y/c"),
        ])
    func variables(_ path: String, _ expected: String) async throws {
        #expect(try await target(path, ["a": "x", "b": "y"])?.split(separator: "?").first.map(String.init) == expected)
    }

    // BMO encoded nothing: a slash in a value led to another path.
    @Test("BMO values of RESTPath variables → {name} and {+name}: values are percent-encoded; {+name} keeps slashes")
    func encoding() async throws {
        #expect(try await target("/tags/{name}", ["name": "a/b c?d"]) == "/tags/a%2Fb%20c%3Fd")
        #expect(try await target("/repos/{+name}", ["name": "a/b"]) == "/repos/a/b")
    }

    @Test(
        "BMO optional groups of a RESTPath, nested or not → groups in parentheses: a group without all of its values is left out",
        arguments: [
            ("/a(/{x})", "/a"), ("/a(/{x}(/{a}))", "/a"), ("/a(/{a}(/{y}))", "/a/1"), ("(/a/{a})/b", "/a/1/b"),
            ("/a(/{x})(/{a})", "/a/1"), ("/a(/b)", "/a/b"),
        ])
    func groups(_ path: String, _ expected: String) async throws {
        let path = "\(Request.get(path, ["a": "1", "y": nil]))".replacing("GET ", with: "").replacing("{a}", with: "1")
        #expect(path == expected)
    }

    // The part was dropped without a word, and the request was an empty success.
    @Test(
        "BMO missing variable outside of a group → CacheError: the request fails and names the variable; nothing is sent"
    )
    func missing() async throws {
        let folder = try TemporaryFolder()
        let client = try Gallery.client("http://127.0.0.1:9", folder("s.tarn"))
        await #expect {
            _ = try await client.all(Request.get("/tags/{name}"))
        } throws: {
            "\($0)".contains("{name}")
        }
    }

    @Test(
        "BMO invalid RESTPath (nil of its initializer) → CacheError: a template that is not valid fails its request, and nothing is sent",
        arguments: ["/{", "/{a", "/{a}{", "/{}", "/{!a}"])
    func invalid(_ path: String) async throws {
        #expect(try await target(path, ["a": "x"]) == nil)
    }

    @Test(
        "BMO variable with a key path, |parent.id| → {milestone.number} with for_each: attributes of a stored record, also through its relationships"
    )
    func keyPaths() async throws {
        let api = try APIFixture([
            "/albums": #"[{"id": 4, "owner": {"id": 5, "name": "ida"}}]"#,
            "/users/ida/albums/4/photos": #"[{"id": 1}]"#,
        ]) {
            base, store in
            let description = try Description.parse(
                """
                api: { base: '\(base)' }
                entities:
                  Album: { key: id, attributes: { id: int }, relationships: { owner: User } }
                  User: { key: id, attributes: { id: int, name: string } }
                  Photo: { key: id, attributes: { id: int }, relationships: { album: { to: Album, inverse: photos } } }
                endpoints:
                  albums: { path: /albums, entity: Album }
                  photos:
                    path: '/users/{album.owner.name}/albums/{album.id}/photos'
                    for_each: { entity: Album, parent: album }
                    entity: Photo
                """, file: "tarn.yaml")
            return RecordClient(
                try APIClient(
                    description, store: Store.open(at: store, schema: description.schema),
                    transport: CurlTransport(description.api.transport)))
        }
        let report = await APIMirror(api.client.client).sync()
        #expect(report.failures.isEmpty)
        #expect(
            try api.client.store.read { try $0.record("Photo", RecordKey(1))?["album"] } == .reference(RecordKey(4)))
    }
}
