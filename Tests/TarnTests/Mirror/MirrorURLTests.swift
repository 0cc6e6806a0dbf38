// Endpoints that follow URLs in attributes, and children of lists: every detail once.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: URLs in attributes")
struct MirrorURLTests {
    private static func yaml(_ follow: String) -> String {
        """
        api:
          base: https://a.example/api
          aliases: [http://old.example/v1]
          follow: ['\(follow)']
          headers: { X-Own: secret }
          auth: { bearer: { env: TOKEN } }
          parameters: { format: json }
        entities:
          Ref: { key: name, attributes: { name: string, url: url?, rank: int? } }
          Item: { key: id, attributes: { id: int, ref: { type: string?, from: '@param.ref.name' }, rank: { type: int?, from: '@param.ref.rank' } } }
        endpoints:
          refs: { path: /refs, entity: Ref, paginate: single_page }
          items: { url: '{url}', for_each: Ref, entity: Item, paginate: single_page }
        """
    }

    @Test(
        "an endpoint requests the URL in an attribute: absolute, relative, below an alias; each once, with credentials for the API only"
    )
    func follows() async throws {
        let other = try ScriptedServer { _ in .init(body: #"{"id":90}"#) }
        let urls = [
            "a1": "https://a.example/api/items/1", "a2": "/api/items/2", "a3": "items/3",
            "a4": "http://old.example/v1/items/4", "a5": "/items/5", "a6": "https://A.example:443/api/items/1",
            "a7": "/api/items/7?format=xml", "b1": other.base + "/90", "c1": "https://evil.example/1", "c2": "http://[",
        ]
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/api/items/") else {
                let refs = urls.sorted { $0.key < $1.key }.map {
                    #"{"name":"\#($0.key)","url":"\#($0.value)","rank":7}"#
                }
                return .init(body: "[" + (refs + [#"{"name":"z","url":null}"#]).joined(separator: ",") + "]")
            }
            let id = request.target.dropFirst("/api/items/".count).prefix { $0.isNumber }
            return .tagged("\(id)", request, #"{"id":\#(id)}"#)
        }
        let store = try MirrorStore(yaml: Self.yaml(other.base))
        let report = try await store.sync(server.base + "/api", environment: ["TOKEN": "t0ken"])
        #expect(
            Set(server.targets) == [
                "/api/refs?format=json", "/api/items/1?format=json", "/api/items/2?format=json",
                "/api/items/3?format=json",
                "/api/items/4?format=json", "/api/items/5?format=json", "/api/items/7?format=xml",
            ])
        #expect(server.requests.count == 7)
        #expect(server.requests.allSatisfy { $0.field("Authorization") == "Bearer t0ken" && $0.field("X-Own") != nil })
        #expect(other.targets == ["/90"])
        #expect(other.requests.allSatisfy { $0.field("Authorization") == nil && $0.field("X-Own") == nil })
        #expect(try store.read { try $0.count("Item") } == 7)
        // The child has values of its parent that the request does not name.
        #expect(try store.record("Item", 2)["ref"] == .string("a2"))
        #expect(try store.record("Item", 90)["rank"] == .int(7))
        let items = try #require(report.endpoint("items"))
        // The import has refused what is no URL.
        #expect(items.skippedParents.map(\.count) == [2])
        let failures = items.failures.map(\.description)
        #expect(failures.count == 1 && failures[0].contains("skipped 1 Ref"), "\(failures)")
        #expect(failures[0].contains("{ref.url} leads to another server: https://evil.example/1; allowed: "))
        #expect(failures[0].contains("api.follow"))

        let again = try await store.sync(server.base + "/api", environment: ["TOKEN": "t0ken"])
        #expect(again.endpoint("items")?.notModified == 6)
    }

    @Test("a list of {name, url} and its details: every detail once, all references resolve, and then only 304s")
    func madeAPI() async throws {
        let made = MadeAPI(size: 25)
        let server = try ScriptedServer(made.answer)
        let store = try MirrorStore(yaml: MadeAPI.yaml)
        let base = server.base + "/api/v2"
        let report = try await store.sync(base)
        #expect(report.failures.isEmpty, "\(report.texts.prefix(5))")
        #expect(server.requests.count == made.detailCount + made.pageCount)
        #expect(Set(server.targets).count == server.requests.count)
        #expect(report.endpoints.allSatisfy { $0.report.diagnostics.isEmpty })
        let census = try Self.census(store)
        #expect(census == (made.detailCount, 0, 7 * made.size * MadeAPI.kinds.count, 0))
        #expect(try store.read { try $0.count("Town") } == MadeAPI.pageSize)
        let before = try store.dump()

        let second = try await store.sync(base)
        #expect(second.failures.isEmpty && server.requests.count == 2 * (made.detailCount + made.pageCount))
        for endpoint in second.endpoints {
            #expect(endpoint.notModified == endpoint.pages && endpoint.pages > 0, "\(endpoint)")
        }
        let after = try store.dump()
        #expect(after == before, "\(zip(after, before).first { $0 != $1 } ?? ("", ""))")
    }

    /// The numbers of records, of partial ones, of references and of those that lead nowhere.
    private static func census(_ store: MirrorStore) throws -> (Int, Int, Int, Int) {
        var records = 0, partial = 0, references = 0, missing = 0
        try store.read { reader in
            for entity in reader.catalog.entities where entity.parent == nil {
                try reader.forEach(entity.name) { record in
                    records += 1
                    if record.isPartial { partial += 1 }
                    for relationship in reader.catalog.relationships(of: entity) {
                        try reader.forEachRelated(record.entity, record.key, relationship.name) { target in
                            references += 1
                            if target.record == nil { missing += 1 }
                            return true
                        }
                    }
                    return true
                }
            }
        }
        return (records, partial, references, missing)
    }

    @Test(
        "ids in a list, and URLs in a list, are children, too",
        arguments: ["[3,\"1\",2]", "[\"/items/3\",\"https://a.example/items/1\",2]"])
    func bareKeys(list: String) async throws {
        let server = try ScriptedServer { request in
            if request.target == "/top" { return .init(body: list) }
            return .init(body: #"{"id":\#(request.target.split(separator: "/")[1]),"title":"t"}"#)
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://a.example }
                entities:
                  Item: { key: id, url: '/items/{id}', attributes: { id: int, title: string } }
                endpoints:
                  top:
                    path: /top
                    entity: Item
                    paginate: single_page
                    children:
                      items: { path: '/items/{id}', paginate: single_page }
                """)
        let report = try await store.sync(server.base)
        #expect(
            report.failures.isEmpty && report.endpoints.allSatisfy { $0.report.diagnostics.isEmpty }, "\(report.texts)")
        #expect(server.targets.first == "/top")
        #expect(server.targets.dropFirst().sorted() == ["/items/1", "/items/2", "/items/3"])
        #expect(try store.record("Item", 3)["title"] == .string("t"))
        #expect(try store.read { try $0.record("Item", RecordKey(3))?.isPartial } == false)
    }

    @Test("a child may list other records, which belong to the listed one, and have children of its own")
    func otherEntities() throws {
        let description = try Description.parse(
            """
            api: { base: 'https://a.example' }
            entities:
              Post: { key: id, attributes: { id: int } }
              Comment: { key: id, attributes: { id: int }, relationships: { post: Post } }
            endpoints:
              posts:
                path: /posts
                entity: Post
                children:
                  comments:
                    path: /posts/{id}/comments
                    entity: Comment
                    parent: post
                    children:
                      comment: { path: '/comments/{id}' }
            """, file: "t.yaml")
        #expect(description.endpoints.map(\.name) == ["posts", "comments", "comment"])
        #expect(description.endpoints.map(\.path) == ["/posts", "/posts/{post.id}/comments", "/comments/{comment.id}"])
        #expect(description.endpoints.map(\.forEach?.parent) == [nil, "post", nil])
        #expect(description.endpoints.map(\.listsExcerpts) == [false, true, false])
        #expect(description.endpoints[1].place == "t.yaml:10")
    }

    @Test(
        "mistakes of url and children are reported with their place",
        arguments: [
            ("{ url: '{a.url}', entity: A }", "3:13: endpoints.e.url: {a.url} is a value of no record: write for_each"),
            ("{ url: /a/b, for_each: A, entity: A }", "3:13: endpoints.e.url: \"/a/b\" is not one attribute in braces"),
            ("{ url: '{a.uri}', for_each: A, entity: A }", "3:13: endpoints.e.url: {a.uri}: unknown attribute"),
            (
                "{ url: '{a.url}', path: /a, for_each: A, entity: A }",
                "3:13: endpoints.e.url: path and url exclude each other"
            ),
            (
                "{ path: /a, children: { b: { path: '/{id}' } } }",
                "3:18: endpoints.e.children: children need the entity"
            ),
            (
                "{ path: /a, entity: A, children: { e: { path: '/{id}' } } }",
                "3:41: endpoints.e.children.e: another endpoint has this name"
            ),
            (
                "{ path: /a, entity: A, children: { b: { path: '/x' } } }",
                "endpoints.e.children.b.for_each: the path does not use"
            ),
            (
                "{ path: /a, entity: A, children: { b: { pth: '/x' } } }",
                "3:46: endpoints.e.children.b.pth: unknown key"
            ),
            ("{ path: /a, entity: A, parent: a }", "3:37: endpoints.e.parent: only a child has a parent"),
            ("{ path: /a, entity: A, children: { b: { path: '/{id}', parent: a } } }", "unknown relationship \"a\""),
        ])
    func mistakes(endpoint: String, expected: String) {
        let yaml = """
            { api: { base: 'https://a.example' }, entities: { A: { key: id, attributes: { id: int, url: url } } },
            endpoints: {
              e: \(endpoint) } }
            """
        do throws(DescriptionError) {
            _ = try Description.parse(yaml, file: "t.yaml")
            Issue.record("no error")
        } catch { #expect(error.description.contains(expected), "\(error)") }
    }
}
