// The entities of specifications: records of different schemas share none.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Entities of a specification")
struct ProposedEntityTests {
    private typealias Specification = TestSpecification

    private static let named = Specification.object(#""id":{"type":"integer"},"name":{"type":"string"}"#)

    @Test(
        "lists of different schemas are different entities, whatever their paths end with",
        arguments: [
            ("/products/categories", "/blog/categories", "ProductCategory", "BlogCategory"),
            ("/project_types", "/user_types", "ProjectType", "UserType"),
            ("/hooks/list", "/users/list", "Hook", "User"),
        ])
    func otherSchemas(_ first: String, _ second: String, _ a: String, _ b: String) async throws {
        let server = try ScriptedServer { request in
            .init(body: ItemList.items(1...(request.target == first ? 5 : 7)))
        }
        let proposal = try await Specification(
            paths: [
                (first, Specification.get(Specification.list(a))), (second, Specification.get(Specification.list(b))),
            ], schemas: [a: Self.named, b: Self.named], server: server.base
        ).proposal()
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count(a) == 5 && mirror.count(b) == 7, "\(proposal.text)")
    }

    @Test("nested records of different schemas are different entities, forms of one schema are not")
    func nestedSchemas() async throws {
        func nested(_ list: String, _ owner: String) -> String {
            let items = #""items":\#(Specification.list(list))"#
            return Specification.object(
                #""id":{"type":"integer"},\#(items),"owner":\#(Specification.reference(owner))"#)
        }
        let proposal = try await Specification(
            paths: [
                ("/orders", Specification.get(Specification.list("Order"))),
                ("/invoices", Specification.get(Specification.list("Invoice"))),
                ("/users", Specification.get(Specification.list("User"))),
            ],
            schemas: [
                "Order": nested("OrderItem", "simple-user"), "Invoice": nested("InvoiceItem", "Organization"),
                "OrderItem": Self.named, "InvoiceItem": Self.named, "User": Self.named, "simple-user": Self.named,
                "Organization": Self.named,
            ], server: "https://a.example"
        ).proposal()
        #expect(
            Set(proposal.entities) == ["Order", "Invoice", "User", "OrderItem", "InvoiceItem", "Organization"]
                || Set(proposal.entities)
                    == ["Order", "Invoice", "User", "OrderItem", "InvoiceItem", "Organization", "SimpleUser"],
            "\(proposal.entities)")
    }

    @Test("identifiers with a type, as in JSON:API, have the type in their key, or are records of this type")
    func identifiers() async throws {
        func specification(_ type: String) -> Specification {
            let identifier = Specification.object(#""id":{"type":"string"},"type":\#(type)"#)
            let relation = #"{"type":"object","properties":{"data":\#(identifier)}}"#
            func record(_ type: String, _ more: String = "") -> String {
                Specification.object(
                    #""id":{"type":"string"},"type":{"type":"string","enum":["\#(type)"]},"n":{"type":"integer"}\#(more)"#
                )
            }
            return Specification(
                paths: [
                    ("/articles", Specification.get(Specification.list("Article"))),
                    ("/people", Specification.get(Specification.list("Person"))),
                ],
                schemas: [
                    "Article": record("articles", #","author":\#(relation),"editor":\#(relation)"#),
                    "Person": record("people"),
                ], server: "https://a.example")
        }
        let open = try await specification(#"{"type":"string"}"#).proposal()
        #expect(open.text.contains("key: [type, id]") && open.entities.count == 3, "\(open.text)")
        let declared = try await specification(#"{"type":"string","enum":["people"]}"#).proposal()
        #expect(declared.entities.count == 2 && declared.text.contains("to: Person"), "\(declared.text)")
    }

    @Test("of several lists, the one named like the path is described, and the others are named")
    func envelope() async throws {
        let lists = #""agents":\#(Specification.list("User")),"tickets":\#(Specification.list("Item"))"#
        let facets = #""facets":\#(Specification.list("User")),"products":\#(Specification.list("Item"))"#
        let proposal = try await Specification(
            paths: [
                ("/tickets", Specification.get(#"{"type":"object","properties":{\#(lists)}}"#)),
                ("/products", Specification.get(#"{"type":"object","properties":{\#(facets)}}"#)),
            ], schemas: ["User": Self.named, "Item": Self.named], server: "https://a.example"
        ).proposal()
        #expect(proposal.text.contains("records: tickets") && proposal.text.contains("records: products"))
        #expect(
            proposal.uncertain.count == 1 && proposal.uncertain[0].contains("The answer also has `agents`"),
            "\(proposal.uncertain)")
    }

    @Test("a record with a list in it is no list: neither by its path, nor inside of an object")
    func details() async throws {
        let record = Specification.object(
            #""code":{"type":"string"},"tags":\#(Specification.list("Item"))"#, required: "code")
        let proposal = try await Specification(
            paths: [
                ("/instances", Specification.get(Specification.list("Instance"))),
                (
                    "/instances/{code}",
                    Specification.get(
                        Specification.reference("Instance"), Specification.path("code", #"{"type":"string"}"#))
                ),
                (
                    "/own",
                    Specification.get(#"{"type":"object","properties":{"x":\#(Specification.reference("Instance"))}}"#)
                ),
            ], schemas: ["Instance": record, "Item": Self.named], server: "https://a.example"
        ).proposal()
        #expect(proposal.endpoints == ["instances"], "\(proposal.text)")
    }

    @Test("a path may name the parents of parents, also if their variables have other names")
    func grandparents() async throws {
        let id = Specification.path("id"), issue = Specification.path("issue_id")
        let slug = Specification.path("slug", #"{"type":"string"}"#), project = Specification.path("project_id")
        let workspace = Specification.object(
            #""id":{"type":"integer"},"slug":{"type":"string"}"#, required: "slug")
        let proposal = try await Specification(
            paths: [
                (
                    "/workspaces/{slug}/projects/{project_id}/issues/{issue_id}/comments",
                    Specification.get(Specification.list("Comment"), slug, project, issue)
                ),
                ("/workspaces", Specification.get(Specification.list("Workspace"))),
                ("/workspaces/{slug}/projects", Specification.get(Specification.list("Project"), slug)),
                (
                    "/workspaces/{slug}/projects/{id}/issues.json",
                    Specification.get(Specification.list("Issue"), slug, id)
                ),
            ],
            schemas: ["Workspace": workspace, "Project": Self.named, "Issue": Self.named, "Comment": Self.named],
            server: "https://a.example"
        ).proposal()
        #expect(
            proposal.text.contains(
                "/workspaces/{issue.project.workspace.slug}/projects/{issue.project.id}/issues/{issue.id}/comments"),
            "\(proposal.text)")
    }

    @Test(
        "a list inside of records, and the whole list of a URL for each, are one relationship",
        arguments: [true, false])
    func excerpt(namesOwner: Bool) async throws {
        let server = try ScriptedServer { request in
            func comments(_ issue: Int, _ count: Int) -> String {
                let owner = namesOwner ? #","issue_id":\#(issue)"# : ""
                let comments = (1...count).map { #"{"id":\#(issue * 10 + $0),"text":"c\#(issue)-\#($0)"\#(owner)}"# }
                return "[" + comments.joined(separator: ",") + "]"
            }
            let path = request.target.split(separator: "?")[0], segments = path.split(separator: "/")
            if path == "/issues" {
                let issues = (1...3).map {
                    #"{"id":\#($0),"title":"t\#($0)","comments_count":5,"comments":\#(comments($0, 2))}"#
                }
                return .init(body: "[" + issues.joined(separator: ",") + "]")
            }
            guard segments.count == 3, segments[2] == "comments", let issue = Int(segments[1]), (1...3).contains(issue)
            else { return .init(status: "404 Not Found") }
            return .init(body: comments(issue, 5))
        }
        let proposal = try await propose(urls: [server.base + "/issues", server.base + "/issues/1/comments"])
        let list = "comments: { to: [Comment], inverse: issue, to_many: append }"
        let reference = "issue: { to: Issue, \(namesOwner ? "from: issue_id, " : "")inverse: comments }"
        #expect(proposal.text.contains(list) && proposal.text.contains(reference), "\(proposal.text)")
        #expect(proposal.uncertain == [] && !proposal.text.contains("the rest is not synced"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.related("Issue", "comments") == (15, 0), "\(proposal.text)")
    }

    @Test("an endpoint whose path names the parent of its parent follows the one that sets it")
    func order() async throws {
        let server = try ScriptedServer { request in
            let parts = request.target.split(separator: "/").map(String.init)
            switch (parts.count, parts.last) {
            case (1, "groups"): return .init(body: ItemList.items(1...2))
            case (1, _): return .init(body: ItemList.items(1...3))
            case (3, _): return .init(body: parts[1] == "1" ? ItemList.items(1...2) : ItemList.items(3...3))
            default: return .init(body: #"[{"id":\#(parts[3])\#(parts[1]),"name":"r"}]"#)
            }
        }
        let proposal = try await Specification(
            paths: [
                (
                    "/groups/{groupId}/members/{userId}/roles",
                    Specification.get(
                        Specification.list("Role"), Specification.path("groupId"), Specification.path("userId"))
                ), ("/users", Specification.get(Specification.list("User"))),
                ("/groups", Specification.get(Specification.list("Group"))),
                ("/groups/{id}/members", Specification.get(Specification.list("User"), Specification.path("id"))),
            ], schemas: ["Role": Self.named, "User": Self.named, "Group": Self.named], server: server.base
        ).proposal()
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Role") == 3, "\(proposal.text)")
        let shared = proposal.uncertain.filter { $0.contains("records may have the same User") }
        #expect(shared.count == 1 && shared[0].hasPrefix("endpoint members: "), "\(proposal.uncertain)")
        #expect(shared[0].contains("`key: [group, id]`"), "\(shared)")
    }

    @Test("lists inside of records that have elements in common stay as they are")
    func shared() async throws {
        let server = try ScriptedServer { request in
            func labels(_ ids: [Int]) -> String {
                "[" + ids.map { #"{"id":\#($0),"text":"l\#($0)"}"# }.joined(separator: ",") + "]"
            }
            let path = request.target.split(separator: "?")[0]
            if path == "/issues" {
                let issues = (1...3).map { #"{"id":\#($0),"title":"t\#($0)","labels":\#(labels([7, 10 + $0]))}"# }
                return .init(body: "[" + issues.joined(separator: ",") + "]")
            }
            guard path.hasPrefix("/issues/"), path.hasSuffix("/labels"), let issue = Int(path.dropFirst(8).prefix(1))
            else { return .init(status: "404 Not Found") }
            return .init(body: labels([7, 10 + issue, 20 + issue]))
        }
        let proposal = try await propose(urls: [server.base + "/issues", server.base + "/issues/1/labels"])
        #expect(!proposal.text.contains("to_many: append"), "\(proposal.text)")
        #expect(proposal.text.contains("labels: { to: [Label], ordered: true, inverse: issues }"), "\(proposal.text)")
    }
}
