// The keys of proposals: no two records of the server share one.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Keys of a proposal")
struct ProposedKeyTests {
    private typealias Specification = TestSpecification

    private static let users = "[" + (1...5).map { #"{"id":\#($0),"name":"u\#($0)"}"# }.joined(separator: ",") + "]"

    /// Five users with 30 notes, which are numbered within each user by `key`.
    private func server(_ key: String?, isGlobal: Bool = false) throws -> ScriptedServer {
        try ScriptedServer { request in
            let segments = request.target.split(separator: "/")
            if request.target == "/users" { return .init(body: ProposedKeyTests.users) }
            guard segments.count == 3, segments[2] == "notes", let user = Int(segments[1]) else {
                return .init(status: "404 Not Found")
            }
            let notes = (1...2 * user).map { number in
                let key = key.map { #""\#($0)":\#(isGlobal ? user * 100 + number : number),"# } ?? ""
                return #"{\#(key)"text":"\#(key.isEmpty ? "same" : "\(user)-\(number)")"}"#
            }
            return .init(body: "[" + notes.joined(separator: ",") + "]")
        }
    }

    private func specification(_ key: String?, base: String, detail: String? = nil) -> Specification {
        let properties = (key.map { #""\#($0)":{"type":"integer"},"# } ?? "") + #""text":{"type":"string"}"#
        var paths = [
            ("/users", Specification.get(Specification.list("User"))),
            ("/users/{user_id}/notes", Specification.get(Specification.list("Note"), Specification.path("user_id"))),
        ]
        if let detail {
            let item = Specification.get(
                Specification.reference("Note"), Specification.path("user_id"), Specification.path(key ?? "id"))
            paths.append((detail, item))
        }
        return Specification(
            paths: paths,
            schemas: [
                "User": Specification.object(#""id":{"type":"integer"},"name":{"type":"string"}"#),
                "Note": Specification.object(properties, required: key ?? "text"),
            ], server: base)
    }

    private func expectNotes(_ proposal: Proposal, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean(sourceLocation: sourceLocation)
        #expect(try mirror.count("Note") == 30, "\(proposal.text)", sourceLocation: sourceLocation)
        #expect(try mirror.related("Note", "user") == (30, 0), sourceLocation: sourceLocation)
    }

    @Test(
        "the key of a list for each record contains the record, if it is a position or a number below it",
        arguments: [
            (String?.none, String?.none, "key: [user, position]"), ("number", nil, "key: [user, number]"),
            ("id", "/users/{user_id}/notes/{id}", "key: [user, id]"),
        ])
    func parent(key: String?, detail: String?, text: String) async throws {
        let server = try server(key)
        let proposal = try await specification(key, base: server.base, detail: detail).proposal()
        #expect(proposal.text.contains(text) && proposal.uncertain == [], "\(proposal.uncertain)\n\(proposal.text)")
        try await expectNotes(proposal)
    }

    @Test(
        "the same from URLs",
        arguments: [("id", "[user, id]"), ("number", "[user, number]"), (nil, "[user, position]")])
    func urls(key: String?, text: String) async throws {
        let server = try server(key)
        let proposal = try await propose(urls: [server.base + "/users", server.base + "/users/2/notes"])
        #expect(proposal.text.contains("key: \(text)") && proposal.findings == [], "\(proposal.text)")
        try await expectNotes(proposal)
    }

    @Test("ids are compared between the lists of several records", arguments: [true, false])
    func siblings(isGlobal: Bool) async throws {
        let server = try server("id", isGlobal: isGlobal)
        let proposal = try await specification("id", base: server.base).proposal(live: true)
        #expect(proposal.text.contains("key: [user, id]") == !isGlobal, "\(proposal.text)")
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
        try await expectNotes(proposal)
    }

    @Test("a list for each record, of records that several of these lists have, gives them no parent")
    func sharedRecords() async throws {
        let server = try ScriptedServer { request in
            if request.target == "/users" { return .init(body: ProposedKeyTests.users) }
            let segments = request.target.split(separator: "/")
            guard segments.count == 3, segments[2] == "groups", let user = Int(segments[1]) else {
                return .init(status: "404 Not Found")
            }
            let groups = (user...user + 1).map { #"{"id":\#(100 + $0),"title":"g\#($0)"}"# }
            return .init(body: "[" + groups.joined(separator: ",") + "]")
        }
        let proposal = try await propose(urls: [server.base + "/users", server.base + "/users/1/groups"])
        #expect(
            proposal.text.contains("for_each: User\n") && !proposal.text.contains("parent: user }"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("the same Group") }, "\(proposal.uncertain)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        #expect(mirror.report.failures.isEmpty && mirror.report.report.updated == 0, "\(proposal.text)")
        #expect(try mirror.count("Group") == 6)
    }

    @Test("records that several lists have keep their parent if the path of another list needs it")
    func sharedRecordsOfPath() async throws {
        let server = try ScriptedServer { request in
            if request.target == "/users" { return .init(body: ProposedKeyTests.users) }
            let segments = request.target.split(separator: "/")
            guard segments.count == 3, segments[2] == "groups", let user = Int(segments[1]) else {
                return .init(body: "[]")
            }
            let groups = (user...user + 1).map { #"{"id":\#(100 + $0),"title":"g\#($0)"}"# }
            return .init(body: "[" + groups.joined(separator: ",") + "]")
        }
        let user = Specification.path("user_id"), group = Specification.path("group_id")
        let members = "/users/{user_id}/groups/{group_id}/members"
        let specification = Specification(
            paths: [
                ("/users", Specification.get(Specification.list("User"))),
                ("/users/{user_id}/groups", Specification.get(Specification.list("Group"), user)),
                (members, Specification.get(Specification.list("Member"), user, group)),
            ],
            schemas: [
                "User": Specification.object(#""id":{"type":"integer"},"name":{"type":"string"}"#),
                "Group": Specification.object(#""id":{"type":"integer"},"title":{"type":"string"}"#),
                "Member": Specification.object(#""id":{"type":"integer"},"note":{"type":"string"}"#),
            ], server: server.base)
        let proposal = try await specification.proposal(live: true)
        #expect(proposal.text.contains("for_each: { entity: User, parent: user }"), "\(proposal.text)")
        #expect(
            proposal.text.contains("path: /users/{group.user.id}/groups/{group.id}/members"), "\(proposal.text)")
    }

    @Test(
        "numbers and names that differ in the lists of three records need not differ in those of others",
        arguments: ["number", "slug"])
    func differing(key: String) async throws {
        let server = try ScriptedServer { request in
            if request.target == "/users" { return .init(body: ProposedKeyTests.users) }
            let segments = request.target.split(separator: "/")
            guard segments.count == 3, segments[2] == "notes", let user = Int(segments[1]) else {
                return .init(status: "404 Not Found")
            }
            // The last user has the keys of the first one.
            let notes = (1...4).map { number in
                let value = "\(user % 4 * 10 + number)"
                return
                    #"{"\#(key)":\#(key == "slug" ? JSONValue.string("s" + value).text : value),"text":"\#(user)-\#(number)"}"#
            }
            return .init(body: "[" + notes.joined(separator: ",") + "]")
        }
        let proposal = try await propose(urls: [server.base + "/users", server.base + "/users/1/notes"])
        #expect(proposal.text.contains("key: [user, \(key)]"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Note") == 20 && mirror.related("Note", "user") == (20, 0), "\(proposal.text)")
    }

    @Test("without live answers, an id in lists for each record is uncertain, with the alternative")
    func uncertain() async throws {
        let proposal = try await specification("id", base: "https://a.example").proposal()
        #expect(proposal.uncertain.count == 1 && proposal.uncertain[0].hasPrefix("entity Note: "))
        #expect(proposal.text.contains("# or key: [user, id]"), "\(proposal.text)")
    }

    @Test(
        "a list for an unknown value of its path does not show that a key is unique in the whole API",
        arguments: ["id", "number"])
    func unknownValue(key: String) async throws {
        var specification = specification(key, base: "https://a.example")
        specification.paths.append(
            (
                "/projects/{project_id}/notes",
                Specification.get(Specification.list("Note"), Specification.path("project_id"))
            ))
        let proposal = try await specification.proposal()
        #expect(proposal.uncertain.contains { $0.hasPrefix("entity Note: ") }, "\(proposal.uncertain)")
        // The records of the other list have no user.
        #expect(!proposal.text.contains("[user, \(key)]"), "\(proposal.text)")
    }

    @Test("an id that alone names a record in another path is unique")
    func detailAlone() async throws {
        let proposal = try await specification("id", base: "https://a.example", detail: "/notes/{id}").proposal()
        #expect(proposal.uncertain == [] && proposal.text.contains("    key: id\n"), "\(proposal.text)")
    }

    @Test("positions in lists of several values of the path contain the value")
    func partitions() async throws {
        let server = try ScriptedServer { request in
            .init(body: "[" + Array(repeating: #"{"text":"same"}"#, count: 3).joined(separator: ",") + "]")
        }
        let proposal = try await Specification(
            paths: [
                (
                    "/{lang}/notes",
                    Specification.get(
                        Specification.list("Note"),
                        Specification.path("lang", #"{"type":"string","enum":["de","en"]}"#))
                )
            ], schemas: ["Note": Specification.object(#""text":{"type":"string"}"#, required: "text")],
            server: server.base
        ).proposal()
        #expect(proposal.text.contains("key: [lang, position]"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Note") == 6)
    }

    @Test(
        "without a sample, an id is the key although it is a number or nullable, and a name or an address is none",
        arguments: [
            (#""id":{"type":"number"},"title":{"type":"string"}"#, "", "key: id\n"),
            (#""id":{"type":"integer","nullable":true},"name":{"type":"string"}"#, "", "key: id\n"),
            (#""name":{"type":"string"},"email":{"type":"string"}"#, "", "key: position "),
            (#""label":{"type":"string"},"slug":{"type":"string"}"#, "", "key: slug "),
            (#""name":{"type":"string"},"size":{"type":"integer"}"#, "/items/{name}", "key: name "),
            (#""id":{"type":"integer","format":"uint64"}"#, "", "id: { type: string, from: '{id}' }"),
        ])
    func declaredKeys(_ properties: String, detail: String, text: String) async throws {
        var paths = [("/items", Specification.get(Specification.list("Item")))]
        if !detail.isEmpty {
            paths.append(
                (
                    detail,
                    Specification.get(
                        Specification.reference("Item"), Specification.path("name", #"{"type":"string"}"#))
                ))
        }
        let proposal = try await Specification(
            paths: paths, schemas: ["Item": Specification.object(properties, required: "none")],
            server: "https://a.example"
        ).proposal()
        let found = proposal.text.replacing("\n    key: position\n", with: "\n    key: position \n")
        #expect(found.contains(text) || found.contains(text.trimmingCharacters(in: .whitespaces) + "\n"), "\(found)")
        if text.hasPrefix("key: id") { #expect(proposal.text.contains("id: int"), "\(proposal.text)") }
    }

    @Test("kinds that declare their ids separately share no key")
    func separateKinds() async throws {
        let server = try ScriptedServer { _ in
            let kinds = ["photo", "video"].flatMap { kind in (1...5).map { #"{"type":"\#(kind)","id":\#($0)}"# } }
            return .init(body: "[" + kinds.joined(separator: ",") + "]")
        }
        func specification(_ discriminator: String) -> Specification {
            let kinds = ["Photo", "Video"].map(Specification.reference).joined(separator: ",")
            return Specification(
                paths: [
                    ("/feed", Specification.get(#"{"type":"array","items":{"oneOf":[\#(kinds)]\#(discriminator)}}"#))
                ],
                schemas: [
                    "Photo": Specification.object(
                        #""id":{"type":"integer"},"type":{"type":"string"},"w":{"type":"integer"}"#),
                    "Video": Specification.object(
                        #""id":{"type":"integer"},"type":{"type":"string"},"len":{"type":"integer"}"#),
                ], server: server.base)
        }
        let mapping = ##"{"photo":"#/components/schemas/Photo","video":"#/components/schemas/Video"}"##
        let proposal = try await specification(#","discriminator":{"propertyName":"type","mapping":\#(mapping)}"#)
            .proposal()
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Photo") == 5 && mirror.count("Video") == 5, "\(proposal.text)")
        // Without a discriminator, nothing tells the kinds apart.
        let plain = try await specification("").proposal()
        #expect(plain.uncertain.count == 1 && plain.uncertain[0].hasPrefix("entity Feed: "), "\(plain.uncertain)")
    }

    @Test("kinds refer to the schema with the discriminator by allOf")
    func inheritedKinds() async throws {
        let server = try ScriptedServer { _ in
            let animals = (0..<10).map {
                $0 % 2 == 0
                    ? #"{"id":\#($0),"kind":"Cat","meow":true}"# : #"{"id":\#($0),"kind":"Puppy","bark":1,"age":2}"#
            }
            return .init(body: "[" + animals.joined(separator: ",") + "]")
        }
        func heir(_ parent: String, _ property: String) -> String {
            #"{"allOf":[\#(Specification.reference(parent)),{"type":"object","properties":{\#(property)}}]}"#
        }
        let proposal = try await Specification(
            paths: [("/animals", Specification.get(Specification.list("Animal")))],
            schemas: [
                "Animal":
                    ##"{"type":"object","required":["id","kind"],"properties":{"id":{"type":"integer"},"kind":{"type":"string"},"mother":{"$ref":"#/components/schemas/Animal"}},"discriminator":{"propertyName":"kind"}}"##,
                "Cat": heir("Animal", #""meow":{"type":"boolean"}"#),
                "Dog": heir("Animal", #""bark":{"type":"integer"}"#),
                "Puppy": heir("Dog", #""age":{"type":"integer"}"#),
            ], server: server.base
        ).proposal()
        #expect(proposal.text.contains("    key: id\n") && proposal.uncertain == [], "\(proposal.text)")
        #expect(proposal.text.contains("mother: { to: Animal"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Animal") == 10 && mirror.count("Cat") == 5 && mirror.count("Puppy") == 5)
    }
}
