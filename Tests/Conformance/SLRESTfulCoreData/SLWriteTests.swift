// The part of SLRESTfulCoreData's query interface that sends: create, save, delete, relationships.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From SLRESTfulCoreData: changes that are sent", .timeLimit(.minutes(2)))
struct SLWriteTests {
    @Record struct Parent: Equatable {
        @Key var id: Int = 0
        var name: String?
        @Attribute(from: "info.city") var city: String?
        var children = Inverse<Child>()
        @Relationship(ordered: true) var friends: References<Child>?
    }

    @Record struct Child: Equatable {
        @Key var id: Int = 0
        var name: String?
        @Relationship(from: "parent_id", inverse: \Parent.children) var guardian: Reference<Parent>?
    }

    /// A member that its owner identifies.
    @Record struct Step: Equatable {
        @Key @Relationship(from: "parent_id") var guardian: Reference<Parent>
        @Key var number: Int = 0
        var text: String?
    }

    /// The requests of `CRUDBaseURL`: `POST base`, `PUT` and `DELETE base/:id`.
    private static func crud(_ base: String) -> WriteRequests {
        WriteRequests(
            create: WriteRequest("POST", base), update: WriteRequest("PUT", base + "/{id}"),
            delete: WriteRequest("DELETE", base + "/{id}"))
    }

    private func fixture(_ change: (inout [String: WriteRequests]) -> Void = { _ in }) throws -> WriteFixture {
        var writes = ["Parent": Self.crud("/parents"), "Child": Self.crud("/children")]
        change(&writes)
        return try WriteFixture(writes) {
            try RecordClient(base: $0, records: Parent.self, Child.self, Step.self, store: $1) { $0.api.retry = .never }
        }
    }

    @Test(
        "SLRESTfulCoreData -createWithCompletionHandler: (testThatManagedObjectCreatesWithCRUDBaseURL) → outbox.create(_:): POST of the record; the server's id replaces the temporary one"
    )
    func create() async throws {
        let api = try fixture()
        api.answer("POST /parents", #"{"id": 5, "name": "a"}"#, status: "201 Created")
        let made = try await api.outbox.create(Parent(name: "a", city: "c"))
        #expect(try api.get(Parent.self, made.id) == made)
        try await api.drain()
        #expect(api.sent == [#"POST /parents {"name":"a","info":{"city":"c"},"friends":null}"#])
        #expect(try api.fetch(Parent.all) == [Parent(id: 5, name: "a", city: "c")])
        // The object is still the same one.
        #expect(try api.get(Parent.self, made.id)?.id == 5)
    }

    @Test(
        "SLRESTfulCoreData -saveWithCompletionHandler: (PUT to CRUDBaseURL/:id) → outbox.update(_:_:_:) with WriteRequest(\"PUT\", …): sends the whole record, and takes the answer"
    )
    func save() async throws {
        let api = try fixture()
        try api.put(Parent(id: 5, name: "a", city: "c"))
        api.answer("PUT /parents/5", #"{"id": 5, "name": "b (edited)", "info": {"city": "c"}}"#)
        try await api.outbox.update(Parent.self, 5) { $0.name = "b" }
        #expect(try api.get(Parent.self, 5)?.name == "b")
        try await api.drain()
        #expect(api.sent == [#"PUT /parents/5 {"id":5,"name":"b","info":{"city":"c"},"friends":null}"#])
        #expect(try api.get(Parent.self, 5) == Parent(id: 5, name: "b (edited)", city: "c"))
    }

    @Test(
        "SLRESTfulCoreData -saveWithCompletionHandler: that sends everything → outbox.update(_:_:_:) with WriteRequest(\"PATCH\", …): sends what differs; without a difference, nothing"
    )
    func patch() async throws {
        let api = try fixture { $0["Parent"]?.update = WriteRequest("PATCH", "/parents/{id}") }
        try api.put(Parent(id: 5, name: "a", city: "c"))
        #expect(try await api.outbox.update(Parent.self, 5) { $0.name = "a" } == nil)
        try await api.outbox.update(Parent.self, 5) { $0.city = nil }
        try await api.drain()
        #expect(api.sent == [#"PATCH /parents/5 {"info":{"city":null}}"#])
        #expect(try api.get(Parent.self, 5) == Parent(id: 5, name: "a"))
    }

    @Test(
        "SLRESTfulCoreData -deleteWithCompletionHandler: (DELETE of CRUDBaseURL/:id) → outbox.delete(_:_:): deletes here at once, then there; 404 and 410 count as done",
        arguments: ["204 No Content", "404 Not Found", "410 Gone"])
    func delete(status: String) async throws {
        let api = try fixture()
        try api.put(Parent(id: 5))
        api.answer("DELETE /parents/5", status: status)
        try await api.outbox.delete(Parent.self, 5)
        #expect(try api.get(Parent.self, 5) == nil)
        #expect(try await api.drain().sent == 1)
        #expect(api.sent == ["DELETE /parents/5"])
    }

    // The object was made anew from its JSON, without relationships and excluded attributes.
    @Test(
        "SLRESTfulCoreData -deleteToURL:completionHandler: that makes the object anew after a failure → outbox.discard(_:): restores the record with its relationships"
    )
    func refusedDelete() async throws {
        let api = try fixture()
        try api.put(Parent(id: 5))
        try api.put(Child(id: 7, name: "a", guardian: Reference(5)))
        api.answer("DELETE /children/7", #"{"message": "in use"}"#, status: "403 Forbidden")
        let operation = try #require(try await api.outbox.delete(Child.self, 7))
        let report = try await api.outbox.drain()
        #expect(report.dead == 1 && report.problems.first?.failure.message.contains("in use") == true)
        #expect(try api.get(Child.self, 7) == nil)
        try await api.outbox.discard(operation)
        #expect(try api.get(Child.self, 7) == Child(id: 7, name: "a", guardian: Reference(5)))
    }

    @Test(
        "SLRESTfulCoreData -postToURL:completionHandler: and -putToURL:completionHandler: with a prefix (+registerJSONPrefix:) → WriteRequest.places and .records: the body and the answer below a key"
    )
    func prefix() async throws {
        let api = try fixture { writes in
            for keyPath in [\WriteRequests.create, \.update] {
                writes["Parent"]?[keyPath: keyPath]?.places = [
                    "id": "parent.id", "name": "parent.name", "city": "parent.city",
                ]
                writes["Parent"]?[keyPath: keyPath]?.fields = ["id", "name", "city"]
                writes["Parent"]?[keyPath: keyPath]?.records = "parent"
            }
        }
        api.answer("POST /parents", #"{"parent": {"id": 5, "name": "a"}}"#)
        api.answer("PUT /parents/5", #"{"parent": {"id": 5, "name": "b"}}"#)
        _ = try await api.outbox.create(Parent(name: "a"))
        try await api.drain()
        try await api.outbox.update(Parent.self, 5) { $0.name = "b" }
        try await api.drain()
        #expect(
            api.sent == [
                #"POST /parents {"parent":{"name":"a","city":null}}"#,
                #"PUT /parents/5 {"parent":{"id":5,"name":"b","city":null}}"#,
            ])
    }

    @Test(
        "SLRESTfulCoreData -add<Relationship>Object:withCompletionHandler: (POST to the relationship's URL) → outbox.create(_:) with the owner in the URL: the new member gets the server's id"
    )
    func addCreated() async throws {
        let api = try fixture { $0["Child"]?.create = WriteRequest("POST", "/parents/{guardian.id}/children") }
        try api.put(Parent(id: 5))
        api.answer("POST /parents/5/children", #"{"id": 7, "name": "a", "parent_id": 5}"#)
        _ = try await api.outbox.create(Child(name: "a", guardian: Reference(5)))
        try await api.drain()
        #expect(api.sent == [#"POST /parents/5/children {"name":"a","parent_id":5}"#])
        #expect(try api.fetch(Child.all) == [Child(id: 7, name: "a", guardian: Reference(5))])
    }

    // The id of a parent that was not sent yet was null in the URL.
    @Test(
        "SLRESTfulCoreData -add<Relationship>Object:withCompletionHandler: to an object that is new itself → outbox.create(_:): waits for the owner, and has the owner's new id in URL and body"
    )
    func addToCreated() async throws {
        let api = try fixture { $0["Child"]?.create = WriteRequest("POST", "/parents/{guardian.id}/children") }
        api.answer("POST /parents", #"{"id": 5, "name": "p"}"#)
        api.answer("POST /parents/5/children", #"{"id": 7, "name": "a", "parent_id": 5}"#)
        let parent = try await api.outbox.create(Parent(name: "p"))
        _ = try await api.outbox.create(Child(name: "a", guardian: Reference(parent.id)))
        try await api.drain()
        #expect(
            api.sent == [
                #"POST /parents {"name":"p","info":{"city":null},"friends":null}"#,
                #"POST /parents/5/children {"name":"a","parent_id":5}"#,
            ])
    }

    @Test(
        "SLRESTfulCoreData -add<Relationship>Object:withCompletionHandler: and -delete<Relationship>Object:withCompletionHandler: (DELETE /5/children/7) → outbox.add(_:to:_:), outbox.remove(_:from:_:): change the list, and send each member; the answer is imported"
    )
    func members() async throws {
        let api = try fixture { writes in
            let one = "/parents/{id}/friends/{member.id}"
            writes["Parent"]?.relationships["friends"] = .init(
                add: WriteRequest("PUT", one), remove: WriteRequest("DELETE", one))
        }
        let parent = Parent(id: 5), child = Child(id: 7, name: "a")
        try api.put(parent)
        try api.put(child)
        api.answer("PUT /parents/5/friends/7", #"{"id": 7, "name": "a friend"}"#)
        try await api.outbox.add(child, to: parent, \.friends)
        #expect(try api.get(Parent.self, 5)?.friends?.keys == [7])
        try await api.drain()
        #expect(try api.get(Child.self, 7)?.name == "a friend")
        try await api.outbox.remove(child, from: parent, \.friends)
        try await api.drain()
        #expect(api.sent == ["PUT /parents/5/friends/7", "DELETE /parents/5/friends/7"])
        #expect(try api.get(Parent.self, 5)?.friends?.keys == [])
    }

    @Test(
        "SLRESTfulCoreData +registerCRUDBaseURL: and +registerCRUDBaseURL:forRelationship: → WriteRequests.base, WriteRequests.MemberRequests.base: base URLs by entity and by relationship"
    )
    func bases() async throws {
        let other = try ScriptedServer { _ in .init(status: "204 No Content") }
        let members = try ScriptedServer { _ in .init(status: "204 No Content") }
        let api = try fixture { writes in
            writes["Child"]?.base = other.base + "/v2"
            writes["Parent"]?.relationships["friends"] = .init(
                add: WriteRequest("PUT", "/friends/{id}/{member.id}"), base: members.base)
        }
        try api.put(Parent(id: 5))
        try api.put(Child(id: 7))
        try await api.outbox.update(Parent.self, 5) { $0.name = "p" }
        try await api.outbox.update(Child.self, 7) { $0.name = "c" }
        try await api.outbox.add(Child(id: 7), to: Parent(id: 5), \.friends)
        try await api.drain()
        #expect(api.server.targets == ["/parents/5"])
        #expect(other.targets == ["/v2/children/7"] && members.targets == ["/friends/5/7"])
    }

    // Both keys of such an object were the server's.
    @Test(
        "SLRESTfulCoreData +uniqueIdentifierOfJSONObjects of a member of its owner → @Key on both parts: the owner stays, and the server assigns the other part"
    )
    func ownedKey() async throws {
        let api = try fixture {
            $0["Step"] = WriteRequests(create: WriteRequest("POST", "/parents/{guardian.id}/steps"))
        }
        try api.put(Parent(id: 5))
        api.answer("POST /parents/5/steps", #"{"parent_id": 5, "number": 3, "text": "a"}"#)
        let made = try await api.outbox.create(Step(guardian: Reference(5), text: "a"))
        #expect(made.guardian == Reference(5) && made.number < 0)
        try await api.drain()
        #expect(api.sent == [#"POST /parents/5/steps {"text":"a","parent_id":5}"#])
        #expect(try api.fetch(Step.all) == [Step(guardian: Reference(5), number: 3, text: "a")])
    }

    // A failed update was not looked at, and the mode went on line again.
    @Test(
        "SLRESTfulCoreData CloudBridge -reenableOnlineMode with hasPendingCloudBridgeChanges → outbox.drain(): what was changed off line is sent in order; a refusal is reported, and blocks no other record"
    )
    func offline() async throws {
        let api = try fixture()
        try api.put(Parent(id: 1))
        try api.put(Parent(id: 2))
        api.answer("PUT /parents/1", #"{"message": "no"}"#, status: "422 Unprocessable Entity")
        api.answer("POST /parents", #"{"id": 3, "name": "new"}"#)
        _ = try await api.outbox.create(Parent(name: "new"))
        try await api.outbox.update(Parent.self, 1) { $0.name = "refused" }
        try await api.outbox.update(Parent.self, 2) { $0.name = "fine" }
        try await api.outbox.delete(Parent.self, 2)
        let never = try await api.outbox.create(Parent(name: "never sent"))
        try await api.outbox.delete(Parent.self, never.id)
        let report = try await api.outbox.drain()
        #expect(report.sent == 2 && report.dead == 1 && report.remaining.total == 1, "\(report)")
        #expect(Set(api.sent.map { $0.prefix(15) }) == ["POST /parents {", "PUT /parents/1 ", "DELETE /parents"])
    }
}
