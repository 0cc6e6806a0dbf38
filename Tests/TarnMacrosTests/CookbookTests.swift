// swift-format-ignore-file
// (The page "Cookbook" has parts of this file.)
// The recipes of that page, verbatim and run: a test for each.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Record("Remark") struct OldRemark {
    @Key var id: Int
    var text: String
}

@Record struct Remark {
    @Key var id: Int
    @Attribute(renamedFrom: "text") var title: String
}

@Suite("The recipes of the cookbook", .timeLimit(.minutes(2)))
struct CookbookTests {
    private let server: ForgeServer
    private var forge: RecordClient { server.client }

    init() throws { server = try ForgeServer() }

    @Test("every recipe of the page is a test of this suite, and its code stands here")
    func recipes() throws {
        let page = try DocumentationPage("Cookbook")
        let own = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(try page.examples.count == page.sections.count && page.examples(missingIn: #filePath) == [])
        #expect(page.sections.filter { !own.contains("@Test(\"\($0)\")") } == [])
    }

    // MARK: Fetching

    @Test("Show what is stored at once, then what the server says")
    func answers() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        var shown: [String] = []
        func show(_ issues: [Issue], _ note: String) { shown.append("\(issues.count) \(note)") }
        let open = Issue.where { $0.state == .open }
        for try await answer in forge.answers(.issues("acme/anvil"), local: open) {
            switch answer {
            case .local(let issues): show(issues, "stored")
            case .remote(let issues, _): show(issues, "confirmed")
            case .failed(let error, kept: let issues): show(issues, "offline: \(error)")
            case .changed(let issues): show(issues, "changed")
            }
            if shown.count == 2 { break }  // a screen leaves this out, and goes on until it closes
        }
        #expect(shown == ["3 stored", "3 confirmed"])
    }

    @Test("Stop when you have seen enough")
    func stopping() async throws {
        var titles: [String] = []
        for try await page in forge.pages(.issues("acme/anvil")) {
            titles += page.records.map(\.title)
            if titles.count >= 2 { break }
        }
        #expect(titles == ["t1", "t2"] && server.server.targets.count == 1)
    }

    @Test("Work without the network")
    func offline() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        let stored = try await forge.all(.issues("acme/anvil").policy(.cacheOnly))
        let tolerant = try await forge.all(.issues("acme/anvil").staleIfError(seconds: 3600))
        #expect(stored == tolerant && stored.count == 3)
    }

    @Test("Store two lists as one change")
    func batch() async throws {
        let (issues, labels) = try await forge.batch(.issues("acme/anvil"), .labels("acme/anvil"), atomic: true)
        #expect(issues.count == 3 && labels.count == 2)
        #expect(try forge.store.read { try $0.sequence } == 1)
    }

    @Test("Search with POST")
    func post() async throws {
        let request = RecordRequest<Issue>.post(
            "/search", body: .json(.object([.init("query", .string("{text}"))])), ["text": "linker"], records: "items")
        let found = try await forge.all(request)
        #expect(found.map(\.id) == [4])
    }

    @Test("Set what the response lacks")
    func editing() async throws {
        let request = RecordRequest<Label>.get("/repos/acme/anvil/labels").editing { _, json in
            if case .string(let name)? = json["name"] { json["name"] = .string("anvil: " + name) }
        }
        let labels = try await forge.all(request)
        #expect(labels.map(\.name) == ["anvil: bug", "anvil: ui"])
    }

    @Test("Give a call a deadline, and cancel what nobody waits for")
    func deadline() async throws {
        let request = RecordRequest.issues("acme/anvil").deadline(.seconds(5)).domain("issues screen")
        let issues = try await forge.all(request)
        forge.cancel(domain: "issues screen")  // ends the calls under way in that domain, and no others
        #expect(issues.count == 3)
    }

    @Test("Take in a response that another client has fetched")
    func handOver() async throws {
        let body = Array(#"[{"id": 1, "name": "bug"}]"#.utf8)
        let page = try await forge.accept(.labels("acme/anvil"), headers: TransportHeaders([.init("ETag", "\"l\"")]), body: body)
        #expect(page.records.map(\.name) == ["bug"])
    }

    // MARK: Reading

    @Test("Find a record by a unique field")
    func unique() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        let ada = try forge.store.read { try $0.first(User.where { $0.login.ignoringCase == "ADA" }) }
        #expect(ada?.id == 5)
    }

    @Test("Filter by what the caller has given")
    func filters() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        func issues(state: State?, author: String?) throws -> [Issue] {
            let query = Issue.where { issue in
                .ifPresent(state) { issue.state == $0 } && .ifPresent(author) { issue.author.login == $0 }
            }
            return try forge.store.read { try $0.fetch(query.order(by: \.number).limit(50)) }
        }
        #expect(try issues(state: nil, author: "ada").count == 3 && issues(state: .closed, author: nil).isEmpty)
    }

    @Test("Hand out a long list in pages")
    func pages() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        func list(after token: String?) throws -> (issues: [Issue], next: String?) {
            let start = try token.map { text in
                guard let start = ContinuationToken(text: text) else { throw BadRequest() }
                return start
            }
            do {
                let page = try forge.store.read { reader in
                    try reader.page(Issue.order(by: \.number, .descending).limit(2).after(start))
                }
                return (page.records, page.next?.text)
            } catch StoreError.wrongToken {
                throw BadRequest()  // the token of another list
            }
        }
        let first = try list(after: nil), second = try list(after: first.next)
        #expect(first.issues.map(\.number) == [30, 20] && second.issues.map(\.number) == [10] && second.next == nil)
        #expect(throws: BadRequest.self) { try list(after: "nonsense") }
        let other = try forge.store.read { try $0.page(Issue.where { $0.id > 0 }.limit(1)) }.next?.text
        #expect(throws: BadRequest.self) { try list(after: other) }
    }

    @Test("Read a record with its author and its labels")
    func including() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        let query = Issue.where { $0.number == 10 }.include(\.author, \.labels)
        let found = try forge.store.read { try $0.fetch(query).first }
        if let (issue, author, labels) = found {
            #expect(issue.title == "t1" && author?.login == "ada" && labels.isEmpty)
        }
        #expect(found != nil)
    }

    @Test("Answer with JSON")
    func json() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        var body: [UInt8] = []
        let count = try forge.store.read { reader in
            try reader.writeJSON(Issue.where { $0.state == .open }.include(\.author), into: &body)
        }
        #expect(count == 3 && body.count > 100)
    }

    @Test("Count the records of each value")
    func counting() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        let byAuthor = try forge.store.read { try $0.counts(by: \.author.login, Issue.all) }
        #expect(byAuthor.map(\.value) == ["ada"] && byAuthor.map(\.count) == [3])
    }

    @Test("Follow a query")
    func observing() async throws {
        _ = try await forge.all(.issues("acme/anvil"))
        var counts: [Int] = [], isClosed = false
        func show(_ issues: [Issue]) {
            counts.append(issues.count)
            isClosed = counts.count == 2
            if !isClosed { Task { try await forge.store.write { _ = try $0.delete(Issue.self, 3) } } }
        }
        for try await open in forge.store.observe(Issue.where { $0.state == .open }) {
            show(open.value)
            if isClosed { break }
        }
        #expect(counts == [3, 2])
    }

    // MARK: The store

    @Test("Write a record of your own")
    func writing() async throws {
        try await forge.store.write { try $0.put(Label(id: 9, name: "mine")) }
        #expect(try forge.store.read { try $0.get(Label.self, 9) }?.name == "mine")
    }

    @Test("Read the store of another process")
    func otherProcess() async throws {
        let path = server.folder("other.tarn")
        do {
            let store = try Store.open(at: path, schema: Schema(records: [Label.self]))
            try await store.write { try $0.put(Label(id: 1, name: "theirs")) }
        }
        let reader = try Store.open(at: path, options: Store.Options(isReadOnly: true))
        try reader.validate(Label.self)  // the struct fits what the other program has stored
        let labels = try reader.read { try $0.fetch(Label.all) }
        #expect(labels.map(\.name) == ["theirs"])
    }

    @Test("Back up a store that is in use")
    func backup() async throws {
        let backup = server.folder("backup.tarn")
        _ = try await forge.all(.issues("acme/anvil"))
        _ = try forge.store.backup(to: backup)
        #expect(try Store.open(at: backup).read { try $0.count(Issue.all) } == 3)
    }

    @Test("Rename a property")
    func renaming() async throws {
        let path = server.folder("notes.tarn")
        try await Store.open(at: path, schema: Schema(records: [OldRemark.self])).write { try $0.put(OldRemark(id: 1, text: "kept")) }
        let store = try Store.open(at: path, schema: Schema(records: [Remark.self]))
        #expect(try store.read { try $0.get(Remark.self, 1) }?.title == "kept")
    }

    private struct BadRequest: Error {}
}
