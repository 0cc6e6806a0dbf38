// Keys that are inside of a record, or written in one word, and records of positions.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Enclosed keys of a proposal")
struct EnclosedKeyTests {
    private static func list(_ ids: some Sequence<Int>, _ record: (Int) -> String) -> String {
        "[" + ids.map(record).joined(separator: ",") + "]"
    }

    @Test(
        "the id of the object that each record contains is its key",
        arguments: [
            (#"{"kind":"t3","data":{"id":"a$","title":"t$"}}"#, "key: dataId"),
            (#"{"sys":{"id":"e$","type":"Entry"},"fields":{"title":"t$"}}"#, "key: sysId"),
            (#"{"added_at":"2024-01-01T00:00:00Z","track":{"id":$,"name":"n$"}}"#, "key: trackId"),
        ])
    func contained(record: String, key: String) async throws {
        let first = Mutex(1)
        let server = try ScriptedServer { request in
            guard request.target == "/things" else { return .init(body: "[]") }
            let ids = first.withLock { $0..<30 }
            return .init(body: Self.list(ids) { record.replacing("$", with: "\($0)") })
        }
        let proposal = try await propose(urls: [server.base + "/things"])
        #expect(proposal.text.contains(key), "\(proposal.text)")
        // Another record may contain the same track later.
        #expect(proposal.uncertain.isEmpty == (key != "key: trackId"), "\(proposal.uncertain)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Thing") == 29, "\(proposal.text)")
        // One at the beginning is deleted, one is new: no record takes the values of another one.
        first.withLock { $0 = 0 }
        let known = try mirror.store.read { try $0.fetch(Query("Thing")).map(\.key) }
        _ = await APIMirror.sync(mirror.description, mirror.store, CurlTransport(), APIClient.Options())
        let keys = try mirror.store.read { try $0.fetch(Query("Thing")).map(\.key) }
        #expect(keys.count == 30 && Set(known).isSubset(of: keys))
    }

    @Test("a `uid` that is a UUID is the key of the record around its envelope, as in Kubernetes")
    func uid() async throws {
        let server = try ScriptedServer { request in
            guard request.target == "/pods" else { return .init(body: "[]") }
            let records = Self.list(10..<40) {
                #"{"kind":"Pod","metadata":{"uid":"384f7435-e6bf-4ad1-a572-f642735e\#($0)00","name":"n\#($0)"}}"#
            }
            return .init(body: records)
        }
        let proposal = try await propose(urls: [server.base + "/pods"])
        #expect(proposal.text.contains("key: metadataUid"), "\(proposal.text)")
        #expect(!proposal.text.contains("'@position'"), "\(proposal.text)")
    }

    @Test("the id of a contained object is uncertain if the object is no envelope")
    func shared() async throws {
        let server = try ScriptedServer { request in
            let page = ItemList.number("page", in: request.target) ?? 1,
                name = String(request.target.dropFirst().prefix { $0.isLetter })
            let records = Self.list((page - 1) * 20..<page * 20) {
                #"{"at":"2024-01-01","\#(name)":{"id":\#($0),"n":1}}"#
            }
            return .init(
                fields: ["Link: </\(name)?page=\(page + 1)>; rel=\"next\""], body: records)
        }
        for (name, isUncertain) in [("track", true), ("data", false)] {
            let proposal = try await propose(urls: [server.base + "/\(name)?page=1"])
            #expect(
                proposal.uncertain.contains { $0.contains("others may share it") } == isUncertain, "\(proposal.text)")
        }
    }

    @Test("a list for each record has the record in its key, if the id is that of a contained object")
    func containedInLists() async throws {
        let server = try ScriptedServer { request in
            guard request.target != "/lists" else { return .init(body: ItemList.items(1...3)) }
            return .init(
                body: Self.list(1...6) { #"{"at":"2024-01-0\#($0)","track":{"id":\#($0),"name":"n\#($0)"}}"# })
        }
        let proposal = try await propose(urls: [server.base + "/lists", server.base + "/lists/1/entries"])
        #expect(proposal.text.contains("key: [list, trackId]"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Entry") == 18 && mirror.count("Track") == 6, "\(proposal.text)")
    }

    @Test("records that their positions name are removed behind the end of a shorter list")
    func positions() async throws {
        let count = Mutex(9)
        let server = try ScriptedServer { request in
            guard request.target == "/things" else { return .init(body: "[]") }
            return .init(body: Self.list(0..<count.withLock { $0 }) { #"{"value":\#($0).5,"flag":true}"# })
        }
        let proposal = try await propose(urls: [server.base + "/things"])
        #expect(proposal.text.contains("key: position\n"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Thing") == 9)
        count.withLock { $0 = 7 }
        _ = await APIMirror.sync(mirror.description, mirror.store, CurlTransport(), APIClient.Options())
        #expect(try mirror.count("Thing") == 7, "\(proposal.text)")
    }

    @Test("for records that their positions name, no list of changes since a time is proposed")
    func changesOfPositions() throws {
        func text(_ id: (Int) -> String) throws -> String {
            try propose(
                Self.list(0..<9) { #"{\#(id($0))"value":\#($0).5,"updated_at":"2026-01-0\#(1 + $0 % 2)T10:00:00Z"}"# }
            )
            .text
        }
        let named = try text { #""id":\#($0),"# }, unnamed = try text { _ in "" }
        #expect(named.contains("since: { param: since, field: updated_at }"), "\(named)")
        #expect(unnamed.contains("key: position\n") && !unnamed.contains("since"), "\(unnamed)")
    }

    @Test(
        "an id in one word is the key before a name or an email address",
        arguments: [
            ("customers", "customerid"), ("pages", "pageid"), ("allpages", "pageid"), ("hits", "objectID"),
            ("people", "contact_id"),
        ])
    func oneWord(list: String, field: String) throws {
        let records = Self.list(1...25) { #"{"email":"e\#($0)@x.org","title":"t\#($0)","\#(field)":\#($0)}"# }
        let proposal = try propose(records, url: "https://api.test.example/\(list)")
        let key = EnglishName.field(field)
        #expect(
            proposal.text.contains("    key: \(key)\n") || proposal.text.contains("    key: \(key) "),
            "\(proposal.text)")
        // A contact may be that of several people.
        #expect(proposal.uncertain.contains { $0.contains("others may share it") } == (list == "people"))
    }

    @Test("the only id of a record comes behind its URL, and is uncertain: it may be that of another object")
    func foreignID() throws {
        let posts = Self.list(1...25) {
            #"{"url":"https://blog.example/p/t\#($0)","title":"t\#($0)","author_id":\#($0)}"#
        }
        #expect(try !propose(posts, url: "https://api.test.example/posts").text.contains("key: authorId"))
        let scores = try propose(Self.list(1...25) { #"{"name":"n\#($0)","user_id":\#($0),"score":\#($0 % 3)}"# })
        #expect(scores.text.contains("    key: userId"), "\(scores.text)")
        #expect(scores.uncertain.contains { $0.contains("others may share it") }, "\(scores.uncertain)")
    }

    @Test("the id of a person or an owner in a record is no key, and others are uncertain")
    func foreignObjects() throws {
        func record(_ members: String) throws -> Proposal {
            try propose(Self.list(1...6) { members.replacing("$", with: "\($0)") })
        }
        let reviews = try record(#"{"stars":5,"author":{"id":$,"name":"n$"}}"#)
        #expect(reviews.text.contains("    key: position"), "\(reviews.text)")
        let events = try record(#"{"action":"a","resource":{"id":$,"title":"t$"}}"#)
        #expect(events.text.contains("    key: resourceId"), "\(events.text)")
        #expect(events.text.contains("no field identifies a record"), "\(events.text)")
        #expect(events.uncertain.contains { $0.contains("others may share it") }, "\(events.uncertain)")
        let comments = try record(#"{"author_id":"u$","isPosted":true}"#)
        #expect(comments.text.contains("    key: authorId"), "\(comments.text)")
        #expect(comments.uncertain.contains { $0.contains("others may share it") }, "\(comments.uncertain)")
        let votes = try propose(
            Self.list(1...6) { #"{"author_id":"u\#($0 / 2)","type":"t\#($0 % 2)","isOpen":true}"# })
        #expect(votes.text.contains("    key: [authorId, type]"), "\(votes.text)")
        #expect(votes.uncertain.contains { $0.contains("others may share them") }, "\(votes.uncertain)")
        let remarks = try record(#"{"author_id":"u","text":"t$"}"#)
        #expect(remarks.text.contains("    key: text"), "\(remarks.text)")
        #expect(remarks.uncertain.contains { $0.contains("others may share it") }, "\(remarks.uncertain)")
        let tracks = try record(#"{"added_by":{"id":$,"name":"n$"},"track":{"id":9$,"title":"t$"}}"#)
        #expect(tracks.text.contains("    key: trackId"), "\(tracks.text)")
    }

    @Test("a quantity or a remark is a key only if the record has no other one: it changes")
    func values() throws {
        func key(_ members: String, count: Int = 25) throws -> (String, Proposal) {
            let records = Self.list(1...count) { number in
                members.replacing("$", with: "\(number)").replacing("%", with: "\(number % 5)")
                    .replacing("/", with: "\(number / 5)")
            }
            let proposal = try propose(records, url: "https://api.test.example/things")
            let line = proposal.text.split(separator: "\n").first { $0.hasPrefix("    key: ") } ?? ""
            return (String(line.dropFirst(9)), proposal)
        }
        for (members, expected) in [
            (#"{"user_id":%,"post_id":/,"weight":1$}"#, "[userId, postId] "),
            (#"{"sku":"s%","currency":"c/","amount":1$}"#, "[sku, currency] "),
            (#"{"amount":1$,"memo":"m$","account":{"id":$,"holder":"h"}}"#, "accountId "),
            (#"{"rank":$,"player":{"id":1$,"name":"n$"}}"#, "playerId "),
            (#"{"note":"n$","amount":1$,"flag":true}"#, "note "),
            (#"{"rank":$,"country":"c%"}"#, "rank "),
        ] {
            let (key, proposal) = try key(members)
            #expect(key.hasPrefix(expected), "\(proposal.text)")
        }
        // As a last resort it is an attribute once, and the others are named.
        let (last, proposal) = try key(#"{"note":"n$","amount":1$,"author":{"id":%,"name":"a%"}}"#)
        #expect(last == "note   # different in all 25 samples; also possible: amount", "\(proposal.text)")
        #expect(proposal.text.split(separator: "\n").count { $0.hasPrefix("      note:") } == 1, "\(proposal.text)")
        let question = try #require(proposal.questions.last { $0.entity == "Thing" })
        #expect(question.proposed == "note" && question.others == ["amount"], "\(question)")
        #expect(question.reason == "different in all 25 samples", "\(question)")
        let few = try key(#"{"amount":1$,"flag":true}"#, count: 4)
        #expect(few.0.hasPrefix("position"), "\(few.1.text)")
    }

    @Test("an `objectId` beside an `objectType`, or an `id`, is that of another object")
    func otherObject() throws {
        let events = try propose(Self.list(1...25) { #"{"objectType":"t","objectId":\#($0),"action":"a"}"# })
        #expect(!events.uncertain.isEmpty, "\(events.text)")
        let nested = try propose(Self.list(1...6) { #"{"id":\#($0),"item":{"objectId":7\#($0),"id":3\#($0),"n":1}}"# })
        #expect(!nested.text.contains("key: objectId"), "\(nested.text)")
    }

    @Test("the id of a contained object is uncertain if several lists for values of the path have the records")
    func containedInPartitions() {
        var entity = ProposedEntity(name: "Entry")
        entity.key = ["trackId"]
        entity.attributes = [ProposedAttribute(name: "trackId", type: "int", from: [["track", "id"]])]
        let sources = ["saved", "played"].map { name in
            Source(name: name, path: "/{lang}/\(name)", partitions: [("lang", ["de", "en"])], lists: [])
        }
        var entities = [entity]
        ParentKeys(sources, [:]).complete(&entities, [["Entry"], ["Entry"]], [nil, nil])
        #expect(entities[0].keyDoubt?.contains("for every value of `lang`") == true)
    }

    @Test("the relationship to the record of a list has a name that no kind of its records has")
    func namesOfKinds() async throws {
        let server = try ScriptedServer { request in
            guard request.target != "/boards" else { return .init(body: ItemList.items(1...3)) }
            let segments = request.target.split(separator: "/")
            guard segments.count == 3, segments[2] == "events", let board = Int(segments[1]) else {
                return .init(status: "404 Not Found")
            }
            return .init(
                body: Self.list(1...13) {
                    let own = $0 % 2 == 0 ? #""type":"moved","board":7,"lane":2"# : #""type":"noted","text":1,"size":2"#
                    return #"{"id":\#(board * 100 + $0),\#(own)}"#
                })
        }
        let proposal = try await propose(urls: [server.base + "/boards", server.base + "/boards/1/events"])
        #expect(proposal.text.contains("parent: board2 }"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Event") == 39 && mirror.related("Event", "board2") == (39, 0), "\(proposal.text)")
    }

    @Test("an id that is one of several is no key before a name")
    func severalIDs() throws {
        let records = Self.list(1...25) { #"{"code":"c\#($0)","team_id":\#($0),"owner_id":\#($0 % 5)}"# }
        #expect(try propose(records).text.contains("    key: code "))
    }
}
