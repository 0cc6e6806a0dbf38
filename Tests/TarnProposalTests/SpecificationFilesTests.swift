// Specifications that are written in several files.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Specifications in several files")
struct SpecificationFilesTests {
    private let sampler = Sampler(
        CurlTransport(), options: SampleRequest.options(pages: 1, headers: [], token: "token-of-the-API"))

    /// Writes files, and reads the first one as a specification.
    private func proposal(_ files: [(path: String, text: String)], in folder: TemporaryFolder) async throws -> Proposal
    {
        for (path, text) in files {
            let url = URL(fileURLWithPath: folder(path))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        let specification = try await sampler.specification(folder(files[0].path), servers: [])
        return try Proposal([], specification: specification)
    }

    private static func specification(paths: String, schemas: String = "{}") -> String {
        #"{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://api.example"}],"#
            + #""paths":\#(paths),"components":{"schemas":\#(schemas)}}"#
    }

    private static func list(_ reference: String) -> String {
        #"{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":"#
            + #"{"type":"array","items":{"$ref":"\#(reference)"}}}}}}}}"#
    }

    private static func object(_ field: String) -> String {
        #"{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"\#(field)":{"type":"string"}}}"#
    }

    /// The specification with each path, schema and parameter in a file of its own, in folders.
    private static func split(_ specification: OpenAPIDocument) -> [(path: String, text: String)] {
        var files: [(path: String, text: String)] = []
        func file(_ name: String) -> String { name.replacing("/", with: "_").replacing(/[{}]/, with: "") }
        /// Replaces references to components by references to their files.
        func moved(_ value: JSONValue, up: String) -> JSONValue {
            switch value {
            case .array(let elements): return .array(elements.map { moved($0, up: up) })
            case .object(let members):
                return .object(
                    members.map { member in
                        var member = member
                        if case .string(let text) = member.value, text.hasPrefix("#/components/"),
                            case let parts = text.split(separator: "/"), parts.count == 4
                        {
                            // Schemas are one file each, the others are members of a file.
                            member.value = .string(
                                parts[2] == "schemas"
                                    ? "\(up)components/\(parts[2])/\(parts[3]).json"
                                    : "\(up)components/\(parts[2]).json#/\(parts[3])")
                        } else {
                            member.value = moved(member.value, up: up)
                        }
                        return member
                    })
            default: return value
            }
        }
        var root = specification.root.members
        for index in root.indices {
            if root[index].key == "paths" {
                let paths = root[index].value.members.map { path in
                    let name = "paths/\(file(path.key)).json"
                    files.append((name, moved(path.value, up: "../").text))
                    return JSONValue.Member(path.key, .object([.init("$ref", .string("./" + name))]))
                }
                root[index].value = .object(paths)
            } else if root[index].key == "components" {
                for kind in root[index].value.members where kind.key != "securitySchemes" {
                    guard kind.key == "schemas" else {
                        files.append(("components/\(kind.key).json", moved(kind.value, up: "../").text))
                        continue
                    }
                    for schema in kind.value.members {
                        files.append(("components/schemas/\(schema.key).json", moved(schema.value, up: "../../").text))
                    }
                }
                let schemas = (root[index].value["schemas"]?.members ?? []).map { schema in
                    JSONValue.Member(
                        schema.key, .object([.init("$ref", .string("components/schemas/\(schema.key).json"))]))
                }
                root[index].value = .object(
                    root[index].value.members.filter { $0.key == "securitySchemes" } + [
                        .init("schemas", .object(schemas))
                    ])
            }
        }
        return [("openapi.json", moved(.object(root), up: "").text)] + files
    }

    @Test(
        "a specification in files of its own for each path and schema has the proposal of one file",
        arguments: [
            "forge.json", "shop.yaml", "cms.yaml",
        ])
    func divided(name: String) async throws {
        let body = try Sampler.contents(ofFile: Checkout.root + "/tools/init-compare/specifications/" + name)
        let specification = try OpenAPIDocument(body, name: "openapi.json"), folder = try TemporaryFolder()
        let whole = try Proposal([], specification: specification)
        let files = SpecificationFilesTests.split(specification)
        #expect(files.count > 10)
        let divided = try await proposal(files, in: folder)
        // The introduction names the file, and its lines break by the length of the path.
        func parts(_ text: String) -> [Substring] { text.split(separator: "\n\n", maxSplits: 1) }
        #expect(parts(divided.text).count == 2 && parts(divided.text).last == parts(whole.text).last)
        #expect(parts(divided.text).first?.contains(folder("openapi.json")) == true)
        #expect(divided.uncertain == whole.uncertain)
    }

    @Test("schemas of the same name in several files are several entities")
    func equalNames() async throws {
        let proposal = try await proposal(
            [
                (
                    "api/openapi.json",
                    SpecificationFilesTests.specification(
                        paths: "{\"/users\":\(SpecificationFilesTests.list("users/schema.json")),"
                            + "\"/posts\":\(SpecificationFilesTests.list("posts/schema.json#/definitions/Item")),"
                            + "\"/pages\":\(SpecificationFilesTests.list("../pages/all.json#/definitions/Item")),"
                            + "\"/again\":{\"$ref\":\"openapi.json#/paths/~1users\"}}")
                ),
                ("api/users/schema.json", SpecificationFilesTests.object("login")),
                ("api/posts/schema.json", #"{"definitions":{"Item":\#(SpecificationFilesTests.object("title"))}}"#),
                ("pages/all.json", #"{"definitions":{"Item":\#(SpecificationFilesTests.object("slug"))}}"#),
            ], in: try TemporaryFolder())
        #expect(proposal.entities.count == 3, "\(proposal.text)")
        #expect(proposal.endpoints.count == 4 && proposal.uncertain == [], "\(proposal.text)")
        for field in ["login: { type: string?", "title: string?", "slug: { type: string?"] {
            #expect(proposal.text.contains(field), "\(field) in\n\(proposal.text)")
        }
    }

    @Test("references in circles, and schemas of equal names within one file")
    func circles() async throws {
        let item = "#/paths/~1users/get/responses/200/content/application~1json/schema/items"
        let users = SpecificationFilesTests.list("user.yaml")
        let posts =
            #"{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":"#
            + #"{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"#
            + #""title":{"type":"string"},"author":{"$ref":"\#(item)"}}}}}}}}}}"#
        let proposal = try await proposal(
            [
                (
                    "openapi.json",
                    SpecificationFilesTests.specification(
                        paths: "{\"/users\":\(users),\"/posts\":\(posts),\"/loop\":{\"$ref\":\"loop.yaml\"}}")
                ),
                (
                    "user.yaml",
                    """
                    type: object
                    required: [id]
                    properties:
                      id: { type: integer }
                      login: { type: string }
                      manager: { $ref: 'user.yaml' }
                      flag: { $ref: 'flags/missing.yaml#/Flag' }
                    """
                ),
                ("loop.yaml", "$ref: loop.yaml"),
            ], in: try TemporaryFolder())
        #expect(proposal.entities == ["User", "Post"], "\(proposal.text)")
        #expect(
            proposal.text.contains("author: { to: User") && proposal.text.contains("manager: { to: User"),
            "\(proposal.text)")
        #expect(
            proposal.uncertain.count == 2
                && proposal.uncertain[0].hasPrefix("GET /loop is not described: it refers to itself"))
        #expect(proposal.text.contains("flag: json?"), "\(proposal.text)")
        #expect(proposal.text.contains("# flags/missing.yaml is not read: no such file."), "\(proposal.text)")
    }

    @Test("a document that cannot be read leaves out its lists, with the reason, and no text of it")
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder("pipe.yaml"), 0o600) == 0)
        let references = [
            ("missing.yaml", "no such file"), ("secret.yaml", "not valid YAML"), ("pipe.yaml", "it is no file"),
            ("https://other.example/x.yaml", "it is no relative path"), ("/etc/passwd", "it is no relative path"),
            ("user.json#/nothing", "which does not exist"), ("folder", "it is no file"),
        ]
        let paths = references.enumerated().map { "\"/p\($0)\":\(SpecificationFilesTests.list($1.0))" }
        let proposal = try await proposal(
            [
                (
                    "openapi.json",
                    SpecificationFilesTests.specification(
                        paths:
                            "{\(paths.joined(separator: ",")),\"/users\":\(SpecificationFilesTests.list("user.json"))}")
                ),
                ("user.json", SpecificationFilesTests.object("login")),
                ("secret.yaml", "password: [hunter2\nother: }"), ("folder/x.yaml", "{}"),
            ], in: folder)
        #expect(proposal.endpoints == ["users"], "\(proposal.text)")
        #expect(proposal.uncertain.count == references.count, "\(proposal.uncertain)")
        for (text, (_, reason)) in zip(proposal.uncertain, references) {
            #expect(text.contains(reason), "\(reason): \(text)")
        }
        #expect(!proposal.text.contains("hunter2"), "\(proposal.text)")
        // The path is that of the specification alone, as the command has it.
        #expect(proposal.text.split(separator: folder.path).count == 2, "\(proposal.text)")
    }

    @Test("a specification on a server: documents of the same server only, with its credentials if it is the API's")
    func server() async throws {
        let other = try ScriptedServer { _ in .init(body: SpecificationFilesTests.object("secret")) }
        let away = other.base
        let server = try ScriptedServer { request in
            guard request.target == "/openapi.json" else { return .init(body: SpecificationFilesTests.object("login")) }
            return .init(
                body: SpecificationFilesTests.specification(
                    paths: "{\"/users\":\(SpecificationFilesTests.list("schemas/user.json")),"
                        + "\"/away\":\(SpecificationFilesTests.list("\(away)/schemas/user.json")),"
                        + "\"/file\":\(SpecificationFilesTests.list("file:///etc/passwd"))}"))
        }
        for isOwn in [true, false] {
            let specification = try await sampler.specification(
                server.base + "/openapi.json", servers: isOwn ? [server.base] : ["https://api.example"])
            let proposal = try Proposal([], specification: specification)
            #expect(proposal.endpoints == ["users"] && proposal.entities == ["User"], "\(proposal.text)")
            #expect(proposal.uncertain.count == 2, "\(proposal.uncertain)")
            let sent = server.requests.suffix(2)
            #expect(sent.map(\.target) == ["/openapi.json", "/schemas/user.json"])
            #expect(sent.allSatisfy { ($0.field("Authorization") != nil) == isOwn })
        }
        #expect(other.requests.isEmpty)
    }

    @Test("a document that redirects to another server is not read; one of a specification that has moved is")
    func redirects() async throws {
        let other = try ScriptedServer { _ in .init(body: SpecificationFilesTests.object("secret")) }
        let away = other.base
        let server = try ScriptedServer { request in
            switch request.target {
            case "/openapi.json": return .init(status: "302 Found", fields: ["Location: /v3/openapi.json"])
            case "/v3/openapi.json":
                return .init(
                    body: SpecificationFilesTests.specification(
                        paths: "{\"/users\":\(SpecificationFilesTests.list("user.json")),"
                            + "\"/away\":\(SpecificationFilesTests.list("away.json"))}"))
            case "/v3/away.json": return .init(status: "302 Found", fields: ["Location: \(away)/x.json"])
            case "/v3/user.json": return .init(body: SpecificationFilesTests.object("login"))
            default: return .init(status: "404 Not Found")
            }
        }
        let specification = try await sampler.specification(server.base + "/openapi.json", servers: [server.base])
        let proposal = try Proposal([], specification: specification)
        #expect(proposal.endpoints == ["users"] && other.requests.isEmpty, "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("redirects to another server") }, "\(proposal.uncertain)")
    }
}
