// The bridge, the request manager and the fetch requests of BMO.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From BMO: bridge and requests", .timeLimit(.minutes(2)))
struct BMORequestTests {
    private typealias Photo = Gallery.Photo

    private func api(_ bodies: [String: String] = ["/photos": Gallery.photos(1...3)]) throws -> APIFixture {
        try APIFixture(bodies, Gallery.client)
    }

    @Test(
        "BMO RequestManager.operation(forBackRequest:withBridge:resultsImporterFactory:autoStart:handler:) with CoreDataFetchRequest → forge.all(_:): fetches, imports, and returns the records"
    )
    func fetch() async throws {
        let api = try api()
        let photos = try await api.client.all(.photos())
        #expect(photos.map(\.id) == [1, 2, 3])
        #expect(try api.fetch(Gallery.User.all) == [Gallery.User(id: 5, name: "Ida")])
    }

    @Test(
        "BMO Bridge.backOperation(forFetchRequest:additionalInfo:userInfo:) and expectedResultEntity(forFetchRequest:) → RecordRequest.get(_:_:): a request is a value with the type of its records"
    )
    func backOperation() async throws {
        let api = try api(["/users/5/photos": Gallery.photos(7...7), "/photos?fields=id": "[]"])
        #expect(try await api.client.all(.photos(of: 5)).map(\.id) == [7])
        #expect(try await api.client.all(.photos(fields: "id")).isEmpty)
        #expect("\(RecordRequest<Photo>.photos(of: 5))" == "GET /users/{user}/photos")
    }

    // A nil of the bridge was an empty import, and emptied the list of a loader.
    @Test(
        "BMO Bridge.remoteObjectRepresentations(fromFinishedOperation:userInfo:) → RecordRequest.get(records:): the records are at a key path; without it the request fails"
    )
    func representations() async throws {
        let api = try api(["/photos": #"{"items": [{"id": 1}], "next_page": 2}"#])
        let request = RecordRequest<Photo>.get("/photos", records: "items", pagination: .headerLink())
        api.answer("/photos", #"{"items": [{"id": 1}]}"#)
        #expect(try await api.client.all(request).map(\.id) == [1])
        api.answer("/photos", #"{"error": "busy"}"#)
        await #expect(throws: CacheError.self) { _ = try await api.client.all(request.policy(.networkOnly)) }
        #expect(try api.count("Photo") == 1)
    }

    @Test(
        "BMO Bridge.bridgeMetadata(fromFinishedOperation:userInfo:) → RecordRequest.metadata(_:at:): values of the whole response come with its page"
    )
    func metadata() async throws {
        let api = try api(["/photos": #"{"items": [{"id": 1}], "info": {"server": "a7"}}"#])
        let page = try await api.client.page(
            RecordRequest<Photo>.get("/photos", records: "items").metadata("server", at: "info.server"))
        #expect(page.metadata["server"] == #""a7""#)
    }

    @Test(
        "BMO Bridge.error(fromFinishedOperation:) → RecordRequest.responses(_:): a success with an error in its body is a failure"
    )
    func errorInBody() async throws {
        let api = try api(["/photos": #"{"status": "error", "items": []}"#])
        let request = RecordRequest<Photo>.get("/photos", records: "items")
            .responses(ResponseRule(text: #""status": "error""#, action: .fail, message: "the gallery is closed"))
        await #expect {
            _ = try await api.client.all(request)
        } throws: {
            "\($0)".contains("the gallery is closed")
        }
    }

    @Test(
        "BMO Bridge.userInfo(fromFinishedOperation:currentUserInfo:) and createUserInfoObject() → @header and @param: values of the response's header fields and of the request's parameters"
    )
    func userInfo() throws {
        let photos = try ImportFixture(
            entities: """
                Photo:
                  key: id
                  attributes: { id: int, tag: { type: string?, from: '@header.ETag' }, album: { type: int?, from: '@param.album' } }
                """)
        try photos.add(
            #"{"id": 1}"#, "Photo",
            context: ImportContext(headers: [("etag", "v7")], parameters: ["album": "4"]))
        let photo = try #require(try photos.record("Photo", 1))
        #expect(photo["tag"] == .string("v7") && photo["album"] == .int(4))
    }

    @Test(
        "BMO FetchType.always, .onlyIfNoLocalResults, .never → RemoteFetch: the local query decides whether the server is asked"
    )
    func fetchTypes() async throws {
        let api = try api()
        /// The requests that are sent until there are so many answers.
        func sent(_ fetch: RemoteFetch, answers: Int) async throws -> Int {
            let before = api.server.targets.count
            var seen = 0
            for try await _ in api.client.answers(.photos(), local: Photo.all, fetch: fetch) {
                seen += 1
                if seen == answers { break }
            }
            return api.server.targets.count - before
        }
        #expect(try await sent(.never, answers: 1) == 0)
        #expect(try await sent(.ifNoLocalRecords, answers: 2) == 1)
        #expect(try await sent(.ifNoLocalRecords, answers: 1) == 0)
        #expect(try await sent(.always, answers: 2) == 1)
    }

    @Test(
        "BMO 2 RemoteFetchType.custom(_:) (only if the last fetch was n minutes ago) → RemoteFetch.olderThan(seconds:): the age of the stored response decides"
    )
    func fetchTypeByAge() async throws {
        let api = try api()
        _ = try await api.client.all(.photos())
        _ = try await api.client.all(.photos().policy(.olderThan(seconds: 300)))
        #expect(api.server.targets.count == 1)
        _ = try await api.client.all(.photos().policy(.networkFirst))
        #expect(api.server.targets.count == 2)
    }

    @Test(
        "BMO unsafeFetchObjects(fromFetchRequest:…) (the local result now, and an operation) → forge.answers(_:local:): the stored records at once, then those after the import"
    )
    func localAndRemote() async throws {
        let api = try api()
        var answers: [String] = []
        for try await answer in api.client.answers(.photos(), local: Photo.where { $0.owner.name == "Ida" }) {
            switch answer {
            case .local(let photos): answers.append("local \(photos.count)")
            case .remote(let photos, let reports): answers.append("remote \(photos.count), \(reports.map(\.created))")
            default: answers.append("other")
            }
            if answers.count == 2 { break }
        }
        #expect(answers == ["local 0", "remote 3, [4]"])
    }

    @Test(
        "BMO fetchObject(ofEntity:withRemoteId:…) and init(entity:remoteId:flatifiedFields:alwaysFetchProperties:) → forge.one(_:): one record by its key, from the server or from the store"
    )
    func fetchObject() async throws {
        let api = try api(["/photos/9": #"{"id": "9", "title": "nine"}"#])
        #expect(try await api.client.one(.photo(9)).title == "nine")
        #expect(try api.get(Photo.self, 9)?.title == "nine")
        for try await answer in api.client.answers(
            .photo(9), local: Photo.where { $0.id == 9 }, fetch: .ifNoLocalRecords)
        {
            #expect(answer.records.map(\.id) == [9])
            break
        }
        #expect(api.server.targets == ["/photos/9"])
    }

    @Test(
        "BMO BackRequestResult.results of several parts → forge.batch(_:): one failure does not take the results of the others with it"
    )
    func parts() async throws {
        let api = try api()
        await #expect(throws: CacheError.self) { _ = try await api.client.batch(.photos(), .photo(404)) }
        #expect(try api.count("Photo") == 3)
    }

    @Test(
        "BMO preImportHandler → ImportHooks.beforeDraft: sees each record before the import, and may leave it out"
    )
    func preImport() throws {
        var photos = try ImportFixture(Photo.self, Gallery.User.self, Gallery.Tag.self)
        photos.hooks.beforeDraft = { _, json in json["private"] != .bool(true) }
        let report = try photos.add(#"[{"id": 1}, {"id": 2, "private": true}]"#, "Photo")
        #expect(try photos.fetch(Photo.all).map(\.id) == [1] && report.created == 1)
    }

    // The result of an import had no changes: "might be early optimization".
    @Test(
        "BMO preCompletionHandler(importResults) → ImportHooks.afterMerge: runs in the transaction of the import, with its report; an error leaves nothing"
    )
    func preCompletion() throws {
        struct Refused: Error {}
        var photos = try ImportFixture(Photo.self, Gallery.User.self, Gallery.Tag.self)
        photos.hooks.afterMerge = { report, writer in
            guard report.created < 3 else { throw Refused() }
            try writer.put(Gallery.Tag(id: 1, name: "\(report.created) new"))
        }
        try photos.add(#"[{"id": 1}, {"id": 2}]"#, "Photo")
        #expect(try photos.get(Gallery.Tag.self, 1)?.name == "2 new")
        #expect(throws: Refused.self) { try photos.add(#"[{"id": 3}, {"id": 4}, {"id": 5}]"#, "Photo") }
        #expect(try photos.fetch(Photo.all).map(\.id) == [1, 2])
    }

    // "Once the import has started, it cannot be cancelled anymore."
    @Test(
        "BMO RequestManager.cancelAllOperations() → Task.cancel(): the transfer ends, the task throws once, nothing is stored"
    )
    func cancel() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { _ in
            gate.wait()
            return .init(body: Gallery.photos(1...3))
        }
        let folder = try TemporaryFolder()
        let client = try Gallery.client(server.base, folder("s.tarn"))
        let tasks = (0..<2).map { id in
            Task { try await id == 0 ? client.all(.photos()) : client.all(.photos(of: 5)) }
        }
        try await gate.reached(2)
        tasks.forEach { $0.cancel() }
        for task in tasks { await #expect(throws: (any Error).self) { _ = try await task.value } }
        for _ in tasks { gate.open() }
        #expect(try client.store.read { try $0.count("Photo") } == 0)
    }

    @Test(
        "BMO 2 RequestError.failureStep and underlyingError → CacheError: the error says what failed: the server, the response, or the store"
    )
    func failureSteps() async throws {
        let api = try api(["/photos": "<html>"])
        await #expect {
            _ = try await api.client.all(.photos())
        } throws: {
            if case .request(.response(.invalidJSON, _, _, _), _)? = $0 as? CacheError { true } else { false }
        }
        await #expect {
            _ = try await api.client.all(.photo(404))
        } throws: {
            if case .request(.status(404, _, _, _), _)? = $0 as? CacheError { true } else { false }
        }
    }

    // The result of an import had no changes.
    @Test(
        "BMO 2 LocalDbChanges of one import → ImportReport.keys(_:): the keys of created, updated and deleted records, the first hundred of each"
    )
    func changedKeys() async throws {
        let api = try api()
        let created = try #require(try await api.client.page(.photos()).report)
        #expect(created.keys(.created, of: "Photo") == [1, 2, 3].map { RecordKey($0) })
        #expect(created.keys(.created).map(\.description).contains("User 5"))
        api.answer("/photos", #"[{"id": 2, "title": "new"}]"#)
        let updated = try #require(try await api.client.page(.photos()).report)
        #expect(updated.keys(.updated).map(\.description) == ["Photo 2"] && updated.keys(.created).isEmpty)
    }

    @Test(
        "BMO 2 LocalDbChanges (inserted, updated, deleted) → store.changes(since:of:): the changed records of every commit, by whichever writer, as a sequence"
    )
    func changes() async throws {
        let api = try api()
        let token = try api.client.store.read { try $0.changeToken }
        _ = try await api.client.all(.photos())
        try await api.client.store.write { _ = try $0.delete(Photo.self, 2) }
        var changes: [String] = []
        for try await event in api.client.store.changes(since: token, of: Photo.self) {
            changes.append("\(event.operation) \(event.key)")
            if changes.count == 4 { break }
        }
        #expect(changes == ["created 1", "created 2", "created 3", "deleted 2"])
    }
}
