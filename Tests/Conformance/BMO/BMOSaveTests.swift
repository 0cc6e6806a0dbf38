// The save requests and save workflows of BMO, and the save side of its REST mapper.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From BMO: save requests", .timeLimit(.minutes(2)))
struct BMOSaveTests {
    private typealias Photo = Gallery.Photo

    private static var photos: WriteRequests {
        WriteRequests(
            create: WriteRequest("POST", "/photos"), update: WriteRequest("PATCH", "/photos/{id}"),
            delete: WriteRequest("DELETE", "/photos/{id}"))
    }

    private func gallery(
        _ conflicts: ConflictPolicy = .perField, _ change: (inout WriteRequests) -> Void = { _ in }
    ) throws -> WriteFixture {
        var writes = Self.photos
        change(&writes)
        return try WriteFixture(["Photo": writes], conflicts: conflicts, Gallery.client)
    }

    private func photo(_ id: Int = 0, _ title: String) -> Photo { Photo(id: id, title: title) }

    // MARK: The bridge's operations

    @Test(
        "BMO Bridge.backOperation(forInsertedObject:additionalInfo:userInfo:) → outbox.create(_:): the declared request has the new record, and the answer completes it"
    )
    func inserted() async throws {
        let api = try gallery()
        api.answer("POST /photos", #"{"id": 9, "title": "a", "hidden": false}"#, status: "201 Created")
        let made = try await api.outbox.create(photo(0, "a"))
        #expect(try api.get(Photo.self, made.id)?.title == "a")
        try await api.drain()
        #expect(
            api.sent == [#"POST /photos {"title":"a","image":{"src":null},"hidden":null,"owner":null,"tags":null}"#])
        #expect(try api.fetch(Photo.all) == [Photo(id: 9, title: "a", place: 0, isHidden: false)])
    }

    @Test(
        "BMO Bridge.backOperation(forUpdatedObject:additionalInfo:userInfo:) → outbox.update(_:_:_:): the declared request has what was changed"
    )
    func updated() async throws {
        let api = try gallery()
        try api.put(photo(3, "a"))
        try await api.outbox.update(Photo.self, 3) { $0.isHidden = true }
        try await api.drain()
        #expect(api.sent == [#"PATCH /photos/3 {"hidden":true}"#])
    }

    // The local object was gone, whatever the server said.
    @Test(
        "BMO Bridge.backOperation(forDeletedObject:additionalInfo:userInfo:) → outbox.delete(_:_:): deletes here at once; a refusal can be discarded, which restores the record"
    )
    func deleted() async throws {
        let api = try gallery()
        try api.put(photo(3, "a"))
        api.answer("DELETE /photos/3", status: "403 Forbidden")
        let operation = try #require(try await api.outbox.delete(Photo.self, 3))
        #expect(try api.get(Photo.self, 3) == nil)
        #expect(try await api.outbox.drain().dead == 1)
        try await api.outbox.discard(operation)
        #expect(try api.get(Photo.self, 3) == photo(3, "a"))
    }

    // A nil of the bridge dropped the part without a word.
    @Test(
        "BMO Bridge.backOperation(for…) that returns nil → WriteError.noRequest: a change that no request sends is refused when it is queued"
    )
    func noOperation() async throws {
        let api = try gallery { $0.delete = nil }
        try api.put(photo(3, "a"))
        await #expect(throws: WriteError.noRequest(entity: "Photo", operation: "delete")) {
            try await api.outbox.delete(Photo.self, 3)
        }
        #expect(try api.get(Photo.self, 3) != nil)
    }

    // MARK: Workflows

    @Test(
        "BMO CoreDataSaveRequest(db:additionalRequestInfo:saveWorkflow: .saveBeforeBackReturns) → outbox.update(_:_:_:): the change is stored and visible before the server answers"
    )
    func saveBefore() async throws {
        let api = try gallery()
        try api.put(photo(3, "a"))
        try await api.outbox.update(Photo.self, 3) { $0.title = "b" }
        #expect(api.sent.isEmpty)
        #expect(try api.get(Photo.self, 3)?.title == "b")
        #expect(try api.outbox.operations().first?.changes.first?.before == .string("a"))
        try await api.drain()
        #expect(try api.get(Photo.self, 3)?.title == "b")
    }

    @Test(
        "BMO CoreDataSaveRequest with SaveWorkflow.saveAfterBackReturns → drain(), and discard(_:) of what is dead: nothing that the server has refused stays"
    )
    func saveAfter() async throws {
        let api = try gallery()
        try api.put(photo(3, "a"))
        try api.put(photo(4, "a"))
        api.answer("PATCH /photos/3", #"{"message": "no"}"#, status: "422 Unprocessable Entity")
        for id in [3, 4] { try await api.outbox.update(Photo.self, id) { $0.title = "b" } }
        for problem in try await api.outbox.drain().problems { try await api.outbox.discard(problem.operation) }
        #expect(try api.fetch(Photo.all).map(\.title) == ["a", "b"])
        #expect(try api.outbox.operations().isEmpty)
    }

    @Test(
        "BMO CoreDataSaveRequest with SaveWorkflow.rollbackBeforeBackReturns → ConflictPolicy.server: the server's values are taken after a conflict, and the change is withdrawn"
    )
    func rollback() async throws {
        let api = try gallery(.server)
        try api.put(photo(3, "a"))
        api.answer("PATCH /photos/3", status: "409 Conflict")
        api.answer("GET /photos/3", #"{"id": 3, "title": "theirs"}"#)
        try await api.outbox.update(Photo.self, 3) { $0.title = "b" }
        let report = try await api.outbox.drain()
        #expect(report.withdrawn == 1 && report.remaining.isEmpty, "\(report)")
        #expect(try api.get(Photo.self, 3)?.title == "theirs")
    }

    @Test(
        "BMO CoreDataSaveRequest with SaveWorkflow.doNothing → store.write(_:): a change without the outbox is local; the server gets nothing"
    )
    func local() async throws {
        let api = try gallery()
        try api.put(photo(3, "a"))
        #expect(try await api.drain().sent == 0)
        #expect(api.sent.isEmpty)
    }

    @Test(
        "BMO CoreDataSaveRequest(objectsToSave:) → functions that take a StoreWriter: several changes are queued together, or none"
    )
    func together() async throws {
        struct Stop: Error {}
        let api = try gallery(), outbox = api.outbox
        try api.put(photo(3, "a"))
        try await api.client.store.write { writer in
            try outbox.update("Photo", RecordKey(3), [.init("title", .string("b"))], in: &writer)
            try outbox.create("Photo", [.init("title", .string("c"))], in: &writer)
        }
        #expect(try outbox.operations().map(\.kind) == [.update, .create])
        await #expect(throws: Stop.self) {
            try await api.client.store.write { writer in
                try outbox.delete("Photo", RecordKey(3), in: &writer)
                throw Stop()
            }
        }
        #expect(try outbox.operations().count == 2 && api.get(Photo.self, 3) != nil)
    }

    @Test("BMO CoreDataSaveRequest without changes → outbox.update(_:_:_:) that returns nil: nothing is queued")
    func noChanges() async throws {
        let api = try gallery()
        try api.put(photo(3, "a"))
        #expect(try await api.outbox.update(Photo.self, 3) { $0.title = "a" } == nil)
        #expect(try api.outbox.operations().isEmpty)
    }

    @Test(
        "BMO BackRequestResult.results by part → OutboxReport.problems: each refused change with its record, its status and the server's message"
    )
    func results() async throws {
        let api = try gallery()
        for id in 1...3 { try api.put(photo(id, "a")) }
        api.answer("PATCH /photos/2", #"{"message": "too long"}"#, status: "422 Unprocessable Entity")
        for id in 1...3 { try await api.outbox.update(Photo.self, id) { $0.title = "b" } }
        let report = try await api.outbox.drain()
        #expect(report.sent == 2 && report.dead == 1)
        let problem = try #require(report.problems.first)
        #expect(problem.record == OutboxRecord("Photo", RecordKey(2)) && problem.failure.status == 422)
        #expect(problem.failure.message.contains("too long"))
    }

    // The placeholder was deleted if the answer's id existed, and its relationships with it.
    @Test(
        "BMO importer's updatingObject, MixedRepresentation.updatedExistingObjectID → the answer's key: a record that a page has brought meanwhile and the created one become one"
    )
    func updatingObject() async throws {
        let api = try gallery()
        api.answer("POST /photos", #"{"id": 9, "title": "a"}"#)
        let made = try await api.outbox.create("Photo", [.init("title", .string("a"))])
        try api.put(Photo(id: 9, title: "a", isHidden: true))
        try await api.drain()
        #expect(try api.fetch(Photo.all) == [Photo(id: 9, title: "a", place: 0, isHidden: true)])
        #expect(try api.client.store.read { try $0.record("Photo", made) }?.key == RecordKey(9))
    }

    // MARK: The REST mapper

    @Test(
        "BMO .forcedValuesOnSave([\"kind\": \"photo\"]) → WriteRequest.values: values that every body has, also nested, and over mapped ones"
    )
    func forcedValues() async throws {
        let api = try gallery { writes in
            writes.create?.fields = ["title", "isHidden"]
            writes.create?.values = [
                .init("kind", .string("photo")), .init("meta.source", .string("tarn")), .init("hidden", .bool(true)),
            ]
        }
        api.answer("POST /photos", #"{"id": 9}"#)
        _ = try await api.outbox.create(Photo(id: 0, title: "a", isHidden: false))
        try await api.drain()
        #expect(api.sent == [#"POST /photos {"title":"a","hidden":true,"kind":"photo","meta":{"source":"tarn"}}"#])
    }

    @Test(
        "BMO parameters to send by request (AdditionalRESTRequestInfo.fetchedProperties on save) → WriteRequest.fields: the fields that a request sends; others are refused when they are queued"
    )
    func fields() async throws {
        let api = try gallery {
            $0.create?.fields = ["title"]
            $0.update?.fields = ["isHidden"]
        }
        api.answer("POST /photos", #"{"id": 9, "title": "a"}"#)
        _ = try await api.outbox.create(photo(0, "a"))
        try await api.drain()
        try await api.outbox.update(Photo.self, 9) { $0.isHidden = true }
        try await api.drain()
        #expect(api.sent == [#"POST /photos {"title":"a"}"#, #"PATCH /photos/9 {"hidden":true}"#])
        await #expect(throws: WriteError.nothingToSend(entity: "Photo", fields: ["title"])) {
            try await api.outbox.update(Photo.self, 9) { $0.title = "b" }
        }
    }

    @Test(
        "BMO .restNameOnSave(\"caption\"), .restPathOnSave([\"image\", \"text\"]) → WriteRequest.places: another key in the body than in responses"
    )
    func placesOnSave() async throws {
        let api = try gallery { $0.update?.places = ["title": "image.text"] }
        try api.put(photo(3, "a"))
        api.answer("PATCH /photos/3", #"{"id": 3, "title": "b!"}"#)
        try await api.outbox.update(Photo.self, 3) { $0.title = "b" }
        try await api.drain()
        #expect(api.sent == [#"PATCH /photos/3 {"image":{"text":"b"}}"#])
        #expect(try api.get(Photo.self, 3)?.title == "b!")
    }

    @Test(
        "BMO .localToRESTMapping of a relationship → WriteRequest.references: its target as a key, or as an object"
    )
    func references() async throws {
        let forms: [(ReferenceForm, String)] = [(.key, #"{"owner":5}"#), (.object, #"{"owner":{"id":5}}"#)]
        for (form, body) in forms {
            let api = try gallery { $0.update?.references = form }
            try api.put(Gallery.User(id: 5, name: "Ida"))
            try api.put(photo(3, "a"))
            try await api.outbox.update(Photo.self, 3) { $0.owner = Reference(5) }
            try await api.drain()
            #expect(api.sent == ["PATCH /photos/3 " + body])
        }
    }

    @Test(
        "BMO RESTMapper.restPath by HTTP method (.restPath(\"users/|owner.id|/photos(/|remoteId|)\")) → WriteRequest(_:_:) for each operation: its own method and URL template, over the record and its relationships"
    )
    func paths() async throws {
        let api = try gallery { writes in
            writes = WriteRequests(
                create: WriteRequest("POST", "/users/{owner.id}/photos"),
                update: WriteRequest("PUT", "/users/{owner.id}/photos/{id}"),
                delete: WriteRequest("DELETE", "/photos/{id}"))
            writes.create?.fields = ["title", "owner"]
            writes.update?.fields = ["id", "title", "owner"]
        }
        try api.put(Gallery.User(id: 5, name: "Ida"))
        api.answer("POST /users/5/photos", #"{"id": 9, "title": "a", "owner": {"id": 5}}"#)
        _ = try await api.outbox.create(Photo(id: 0, title: "a", owner: Reference(5)))
        try await api.drain()
        try await api.outbox.update(Photo.self, 9) { $0.title = "b" }
        try await api.drain()
        try await api.outbox.delete(Photo.self, 9)
        try await api.drain()
        #expect(
            api.sent == [
                #"POST /users/5/photos {"title":"a","owner":5}"#,
                #"PUT /users/5/photos/9 {"id":9,"title":"b","owner":5}"#, "DELETE /photos/9",
            ])
    }

    // MARK: Errors

    @Test(
        "BMO RESTOperation errors by status (RESTError) → OutboxFailure: its status, the server's message and the beginning of its answer; what may pass is sent again, and what may not is dead",
        arguments: [(400, true), (403, true), (422, true), (429, false), (500, false), (503, false)])
    func errors(status: Int, isDead: Bool) async throws {
        let api = try gallery()
        try api.put(photo(3, "a"))
        api.answer("PATCH /photos/3", #"{"message": "the reason"}"#, status: "\(status) x")
        try await api.outbox.update(Photo.self, 3) { $0.title = "b" }
        let report = try await api.outbox.drain()
        #expect(report.dead == (isDead ? 1 : 0) && report.failed == (isDead ? 0 : 1), "\(report)")
        let failure = try #require(try api.outbox.operations().first?.failure)
        #expect(failure.status == status && failure.message.contains("the reason"))
        #expect(try api.get(Photo.self, 3)?.title == "b")
    }

    @Test(
        "BMO RESTOperation that demands a login → OutboxReport.stop: the change waits for other credentials, and nothing is lost"
    )
    func login() async throws {
        let api = try gallery()
        try api.put(photo(3, "a"))
        api.answer("PATCH /photos/3", status: "401 Unauthorized")
        try await api.outbox.update(Photo.self, 3) { $0.title = "b" }
        let report = try await api.outbox.drain()
        guard case .authentication? = report.stop else {
            Issue.record("\(report)")
            return
        }
        #expect(report.remaining.pending == 1 && report.failed == 0)
    }
}
