// The requests of the inspector's page, without a browser.

import Foundation
import TarnInspect
import TarnInspectWeb
import TarnStore
import TestSupport
import Testing

@Suite("Inspector: page, requests")
struct WebPageTests {
    private let port = 4711

    private func object(_ page: InspectPage, _ view: String) throws -> [String: Any] {
        let answer = page.answer("GET", page.path + "api/" + view, host: "127.0.0.1:\(port)", port: port)
        try #require(answer.status == 200, "\(view): \(String(decoding: answer.body, as: UTF8.self))")
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    @Test("without the token, under another name, or with another method than GET and HEAD, nothing is answered")
    func refusals() async throws {
        let page = InspectPage(store: try await Forge.store), other = InspectPage(store: try await Forge.store)
        func status(_ method: String, _ target: String, _ host: String?) -> Int {
            page.answer(method, target, host: host, port: port).status
        }
        let host = "127.0.0.1:\(port)"
        #expect(page.path != other.path && page.path.count == 34)
        for name in ["", "main.js", "records.js", "page.css", "icon.svg", "api/overview"] {
            #expect(status("GET", page.path + name, host) == 200)
            #expect(status("GET", page.path + name, "localhost:\(port)") == 200)
            #expect(status("GET", other.path + name, host) == 404)
            #expect(status("GET", "/" + name, host) == 404)
            #expect(status("POST", page.path + name, host) == 405)
            for wrong in [nil, "rebound.example:\(port)", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:\(port).example"] {
                #expect(status("GET", page.path + name, wrong) == 403)
            }
        }
        for name in ["..%2f..%2fetc%2fpasswd", "../index.html", "api/", "api/nothing", "api/overview/", "index.html"] {
            #expect(status("GET", page.path + name, host) == 404, "\(name)")
        }
        // Browsers leave out the port 80.
        for name in ["127.0.0.1", "localhost", "localhost:80"] {
            #expect(page.answer("GET", page.path, host: name, port: 80).status == 200)
        }
        for target in ["", "x", "http://x/", page.path + "%", page.path + "api/records?entity=%ff"] {
            #expect([400, 404].contains(status("GET", target, host)), "\(target)")
        }
        #expect(status("GET", page.path + "api/records", host) == 400)
        #expect(status("GET", page.path + "api/record?entity=Issue&key=zz", host) == 400)
        for query in [
            "entity=Nothing", "entity=Issue&where=state%20=", "entity=Issue&order=title", "entity=Issue&order=x",
        ] {
            #expect(status("GET", page.path + "api/records?" + query, host) == 400, "\(query)")
        }
    }

    @Test("the answers forbid scripts, requests and frames of others, and are not kept")
    func policy() async throws {
        let page = InspectPage(store: try await Forge.store)
        let answer = page.answer("GET", page.path, host: "localhost:\(port)", port: port)
        let fields = Dictionary(answer.fields.map { ($0.name, $0.value) }) { first, _ in first }
        let policy = try #require(fields["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"))
        #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe") && !policy.contains("http"))
        #expect(fields["Cache-Control"] == "no-store" && fields["X-Content-Type-Options"] == "nosniff")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(
            !text.contains("http:") && !text.contains("https:") && !text.contains("<style") && !text.contains("onclick")
        )
    }

    @Test(
        "all pages of all entities have the records of a dump, in its order and in the reverse one",
        arguments: [7, 500])
    func pages(limit: Int) async throws {
        let store = try await Forge.store, page = InspectPage(store: store)
        var wanted: [String: [String]] = [:]
        _ = try StoreInspector(at: store).dumpRecords { line in
            let found = try json(line)
            let entity = try #require(found["entity"] as? String)
            wanted[entity, default: []].append("\(try #require(found["key"]))")
        } damaged: {
            Issue.record("\($0)")
        }
        #expect(wanted.count == 6)
        for (entity, keys) in wanted {
            for order in ["", "&reversed=yes"] {
                var found: [String] = [], after = ""
                while true {
                    let answer = try object(page, "records?entity=\(entity)&limit=\(limit)\(after)\(order)")
                    let records = try #require(answer["records"] as? [[String: Any]])
                    found += records.compactMap { $0["key"] as? String }
                    guard let next = answer["next"] as? String else { break }
                    after = "&after=\(next)"
                }
                #expect(found == (order.isEmpty ? keys : keys.reversed()), "\(entity)")
            }
        }
    }

    @Test("a filter finds exactly the records with the text, and every link leads to its record")
    func links() async throws {
        let store = try await Forge.store, page = InspectPage(store: store)
        let all = try object(page, "records?entity=Issue&limit=500")["records"] as? [[String: Any]] ?? []
        let some =
            try object(page, "records?entity=Issue&limit=500&text=TRACE%20shows")["records"] as? [[String: Any]] ?? []
        let lines = try await Forge.dump(store).filter { $0.contains("\"entity\":\"Issue\"") }
        let wanted = lines.filter { $0.range(of: "trace shows", options: .caseInsensitive) != nil }
        #expect(all.count == lines.count && some.count == wanted.count && some.count > 3 && some.count < all.count)
        var followed = 0
        for record in some.prefix(5) {
            let id = try #require(record["id"] as? String)
            let whole = try object(page, "record?entity=Issue&key=\(id)")
            #expect(whole["isStored"] as? Bool == true && whole["key"] as? String == record["key"] as? String)
            let fields = whole["fields"] as? [[String: Any]] ?? [],
                referrers = whole["referrers"] as? [[String: Any]] ?? []
            let targets =
                fields.flatMap { $0["targets"] as? [[String: String]] ?? [] }
                + referrers.flatMap { $0["records"] as? [[String: String]] ?? [] }
            for target in targets {
                let (entity, id) = try (#require(target["entity"]), #require(target["id"]))
                let found = try object(page, "record?entity=\(entity)&key=\(id)")
                #expect(found["isStored"] as? Bool == true && found["key"] as? String == target["key"])
                followed += 1
            }
        }
        #expect(followed > 10)
    }

    @Test("a record with a key of more than 207 bytes opens by its place in the list; an unknown entity is not found")
    func longKeys() throws {
        let folder = try TemporaryFolder(), path = folder.path + "/long.tarn"
        let schema = Schema([
            EntityDefinition("Label", key: ["name"], attributes: [.init("name", .string)]),
            EntityDefinition(
                "Note", key: ["id"], attributes: [.init("id", .int)],
                relationships: [.init("label", to: "Label", inverse: "notes")]),
        ])
        let names = ["short", String(repeating: "long ", count: 80), String(repeating: "x", count: 205)]
        let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
        try store.write { writer in
            for (number, name) in names.enumerated() {
                try writer.put("Label", RecordKey(name), [])
                try writer.put(
                    "Note", RecordKey(Int64(number)), [.init("label", .reference(RecordKey(name)))])
            }
        }
        let page = InspectPage(store: path)
        let labels = try #require(try object(page, "records?entity=Label")["records"] as? [[String: Any]])
        #expect(labels.count == names.count)
        for label in labels {
            let id = try #require(label["id"] as? String)
            let found = try object(page, "record?entity=Label&key=\(id)")
            #expect(found["isStored"] as? Bool == true && found["key"] as? String == label["key"] as? String)
            #expect((found["fields"] as? [Any])?.count == 1 && (found["referrers"] as? [Any])?.count == 1)
        }
        let unknown = page.answer(
            "GET", page.path + "api/record?entity=Nope&key=1507", host: "127.0.0.1:\(port)", port: port)
        #expect(unknown.status == 404)
    }

    @Test("a filter that nothing fulfils reads a bounded number of rows, and says where it goes on")
    func bounds() async throws {
        let inspector = StoreInspector(at: try await Forge.store)
        let first = try inspector.recordPage(of: "Issue", most: 100) { _ in false }
        #expect(first.records.isEmpty && first.examined == 100 && first.last != nil)
        let rest = try inspector.recordPage(of: "Issue", after: first.last, most: 1000) { _ in false }
        #expect(rest.examined == 230 && rest.last == nil)
    }

    @Test("a list whose time is over after each row has every record, a page at a time")
    func time() async throws {
        let inspector = StoreInspector(at: try await Forge.store)
        let whole = try inspector.recordPage(of: "Issue", limit: 500)
        var found: [[UInt8]] = [], position: [UInt8]?, isFirst = true
        while isFirst || position != nil {
            let page = try inspector.recordPage(of: "Issue", after: position, limit: 500, time: .zero)
            #expect(page.examined <= 1)
            found += page.records.map(\.storageKey)
            (position, isFirst) = (page.last, false)
        }
        #expect(found == whole.records.map(\.storageKey) && found.count == 330)
    }

    @Test("a position that is none is refused, instead of taken for the beginning")
    func positions() async throws {
        let page = InspectPage(store: try await Forge.store)
        for target in [
            "records?entity=Issue&after=zz", "records?entity=Issue&after=", "changes?before=zz", "changes?before=1",
            "responses?after=x", "responses?after=-1",
        ] {
            let answer = page.answer("GET", page.path + "api/" + target, host: "localhost:\(port)", port: port)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 400 && text.contains("is not a position"), "\(target): \(answer.status) \(text)")
        }
        // A tab of an earlier run has another token.
        let former = page.answer(
            "GET", "/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f/api/overview", host: "localhost:\(port)", port: port)
        #expect(former.status == 404 && String(decoding: former.body, as: UTF8.self).contains("an earlier run"))
    }

    @Test("a record's view says whether other responses list it, and whether it has other changes")
    func cutLists() async throws {
        let page = InspectPage(store: try await Forge.store)
        let issues = try object(page, "records?entity=Issue&limit=1")["records"] as? [[String: Any]]
        let id = try #require(issues?.first?["id"] as? String)
        for (limit, isCut) in [(0, true), (1000, false)] {
            let record = try object(page, "record?entity=Issue&key=\(id)&limit=\(limit)")
            #expect(record["hasMoreListings"] as? Bool == isCut && record["hasMoreChanges"] as? Bool == isCut)
            #expect(((record["listings"] as? [Any])?.isEmpty ?? false) == isCut)
            #expect(((record["changes"] as? [Any])?.isEmpty ?? false) == isCut)
        }
    }

    @Test("the checksum of a record has eight digits, as inspect get shows it")
    func checksums() async throws {
        let page = InspectPage(store: try await Forge.store)
        let issues = try object(page, "records?entity=Issue&limit=100")["records"] as? [[String: Any]] ?? []
        let checksums = try issues.map { issue in
            let record = try object(page, "record?entity=Issue&key=\(try #require(issue["id"] as? String))&limit=0")
            return try #require((record["row"] as? [String: Any])?["checksum"] as? String)
        }
        #expect(checksums.count == 100 && checksums.allSatisfy { $0.count == 8 }, "\(checksums)")
    }

    @Test("a check runs beside other requests, and has the result of inspect verify")
    func verification() async throws {
        let page = InspectPage(store: try await Forge.store)
        #expect(try object(page, "verify")["phase"] as? String == "idle")
        #expect(try object(page, "verify?start=yes")["phase"] as? String == "running")
        try await eventually { (try? object(page, "verify")["phase"] as? String) == "done" }
        let state = try object(page, "verify")
        #expect(state["isSound"] as? Bool == true && state["findingCount"] as? Int == 0)
        #expect((state["records"] as? [String: Int])?["Issue"] == 330)
        // A result is that of one commit and time: the page shows both.
        let store = try object(page, "overview")
        #expect(state["transaction"] as? Int == store["lastTransaction"] as? Int)
        #expect(state["sequence"] as? String == store["sequence"] as? String)
        let began = try #require(state["began"] as? Double)
        #expect(abs(Date().timeIntervalSince1970 - began) < 3600)
    }

    @Test(
        "records sorted by an index are those of the entity in the order of the attribute, over pages, in both directions",
        arguments: ["number", "updatedAt", "state"])
    func order(attribute: String) async throws {
        let store = try await Forge.store, page = InspectPage(store: store)
        let dumped = try await Forge.dump(store).map { try json($0) }.filter { $0["entity"] as? String == "Issue" }
        for isReversed in [false, true] {
            var keys: [String] = [], values: [String] = [], after = ""
            while true {
                let query = "entity=Issue&limit=41&order=\(attribute)\(isReversed ? "&reversed=yes" : "")\(after)"
                let answer = try object(page, "records?" + query)
                for record in try #require(answer["records"] as? [[String: Any]]) {
                    keys.append(try #require(record["key"] as? String))
                    let fields = record["fields"] as? [[String: Any]] ?? []
                    values.append(fields.first { $0["name"] as? String == attribute }?["text"] as? String ?? "")
                }
                guard let next = answer["next"] as? String else { break }
                after = "&after=\(next)"
            }
            #expect(keys.count == 330 && Set(keys) == Set(dumped.map { "\($0["key"] ?? "")" }))
            func precedes(_ a: String, _ b: String) -> Bool {
                if let x = Int(a), let y = Int(b) { return x < y }
                return a.prefix(19) < b.prefix(19)
            }
            let pairs = zip(values, values.dropFirst())
            #expect(pairs.allSatisfy { isReversed ? !precedes($0, $1) : !precedes($1, $0) })
        }
        let sortable = try object(page, "records?entity=Issue&limit=1")["sortable"] as? [String]
        #expect(sortable?.sorted() == ["number", "state", "updatedAt"])
        // Only the field that is the key needs no column of its own.
        #expect(try object(page, "records?entity=Issue&limit=1")["keyField"] as? String == "id")
    }

    @Test("a condition finds the records of inspect dump --where")
    func condition() async throws {
        let store = try await Forge.store, page = InspectPage(store: store)
        let text = "state = open and author.login = \"mona\" or number > 400"
        let dump = try await tarn("inspect", "dump", store, "--entity", "Issue", "--where", text)
        let query = try #require(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let found = try object(page, "records?entity=Issue&limit=500&where=\(query)")["records"] as? [[String: Any]]
        let wanted = try dump.lines.map { "\(try json($0)["key"] ?? "")" }
        #expect(found?.compactMap { $0["key"] as? String } == wanted && wanted.count > 5 && wanted.count < 330)
    }

    @Test("all pages of the change log and of the responses have what the commands list, the newest first")
    func logs() async throws {
        let store = try await Forge.store, page = InspectPage(store: store)
        var changes: [String] = [], before = ""
        while true {
            let answer = try object(page, "changes" + before)
            for change in try #require(answer["changes"] as? [[String: Any]]) {
                changes.append("\(change["sequence"] ?? "") \(change["entity"] ?? "") \(change["key"] ?? "")")
            }
            guard let next = answer["next"] as? String else { break }
            before = "?before=\(next)"
        }
        var wanted: [String] = []
        _ = try StoreInspector(at: store).changes(damaged: { Issue.record("\($0)") }) { change in
            wanted.append("\(change.sequence) \(change.entity) \(change.key)")
        }
        #expect(changes == wanted.reversed() && changes.count > 900)

        let answer = try object(page, "responses"), listed = answer["responses"] as? [[String: Any]] ?? []
        var ids: [UInt64] = []
        _ = try StoreInspector(at: store).responses({ id, _ in ids.append(id) }, damaged: { Issue.record("\($0)") })
        #expect(listed.compactMap { ($0["id"] as? String).flatMap(UInt64.init) } == ids.reversed() && ids.count > 20)
        let third = ids[ids.count - 3]
        let rest = try object(page, "responses?after=\(third)")["responses"] as? [[String: Any]]
        #expect(rest?.first?["id"] as? String == String(ids[ids.count - 4]))
    }

    @Test("the sizes of the entities and of the other tables are those of inspect stat")
    func sizes() async throws {
        let store = try await Forge.store, page = InspectPage(store: store)
        let answer = try object(page, "overview")
        let entities = try #require(answer["entities"] as? [[String: Any]])
        let statistics = try StoreInspector(at: store).statistics()
        let rows = statistics.tables.filter { $0.name.hasPrefix("r/") }.reduce(0) { $0 + $1.bytes }
        let indexes = statistics.tables.filter { $0.name.hasPrefix("i/") }.reduce(0) { $0 + $1.bytes }
        #expect(entities.reduce(0) { $0 + ($1["rows"] as? Int ?? 0) } == rows && rows > 0)
        #expect(entities.reduce(0) { $0 + ($1["indexes"] as? Int ?? 0) } == indexes && indexes > 0)
        #expect(try object(page, "pages?start=yes")["phase"] as? String == "running")
        try await eventually { (try? object(page, "pages")["phase"] as? String) == "done" }
        let use = try object(page, "pages")
        #expect(use["transaction"] as? Int == answer["lastTransaction"] as? Int)
        #expect((use["map"] as? [Any])?.count == statistics.lastPage + 1)
    }

    @Test("no view reads more than a bounded part of a store, however many records it has")
    func work() throws {
        let folder = try TemporaryFolder(), path = folder("large.tarn"), count: Int64 = 40_000
        do {
            let store = try Store.open(
                at: path, schema: Self.largeSchema, options: Store.Options(durability: .volatile))
            try store.write { writer in
                try writer.put("Group", RecordKey(1), [.init("name", .string("all"))])
                // An endpoint with `for_each` has a list for each parent record.
                let list = Checkpoint(state: .complete, plan: "p", scan: 1, startedAt: .now, completedAt: .now)
                for number in 1...count / 2 { try writer.setCheckpoint("parts \(number)", list) }
                for number in 1...count {
                    try writer.put(
                        "Thing", RecordKey(number),
                        [
                            .init(
                                "name", .string("thing \(number), a name of some length so that a page has few of them")
                            ),
                            .init("rank", .int(number * 7919 % count)), .init("group", .reference(RecordKey(1))),
                        ])
                }
            }
        }
        let page = InspectPage(store: path), size = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")).count
        let group = Self.hexadecimal(RecordKey(1)), middle = Self.hexadecimal(RecordKey(count / 2))
        let views = [
            "overview", "schema", "records?entity=Thing", "records?entity=Thing&after=\(middle)&reversed=yes",
            "records?entity=Thing&order=rank", "records?entity=Thing&text=nothing%20has%20this",
            "records?entity=Thing&where=name%20=%20x", "record?entity=Thing&key=\(middle)",
            "record?entity=Group&key=\(group)", "responses", "changes", "outbox", "progress",
        ]
        for view in views {
            let before = try Self.bytesRead()
            let answer = try object(page, view)
            let read = try Self.bytesRead() - before
            #expect(read < size / 8, "\(view): \(read) of \(size) bytes")
            // On a slow machine, its time is over before.
            if view.contains("text=") {
                #expect(1...5000 ~= answer["examined"] as? Int ?? 0 && answer["next"] is String)
            }
            if view.contains("Group") {
                let referrers = try #require((answer["referrers"] as? [[String: Any]])?.first)
                #expect(referrers["count"] as? Int == 10_000 && referrers["isCountWhole"] as? Bool == false)
            }
        }
        // A reader of the whole file is seen to read it.
        let before = try Self.bytesRead()
        _ = try StoreInspector(at: path).verification()
        #expect(try Self.bytesRead() - before > size / 2)
    }

    private static let largeSchema = Schema([
        EntityDefinition("Group", key: ["id"], attributes: [.init("id", .int), .init("name", .string)]),
        EntityDefinition(
            "Thing", key: ["id"],
            attributes: [.init("id", .int), .init("name", .string), .init("rank", .int, indexed: true)],
            relationships: [.init("group", to: "Group", inverse: "things")]),
    ])

    private static func hexadecimal(_ key: RecordKey) -> String {
        key.storageKey.map { String(format: "%02x", $0) }.joined()
    }

    /// The bytes that this thread has read so far.
    static func bytesRead() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar:") })
        return try #require(Int(line.split(separator: " ").last ?? ""))
    }

    @Test("without the slash at its end, the path of the page leads to the one with it")
    func slash() async throws {
        let page = InspectPage(store: try await Forge.store)
        let answer = page.answer("GET", String(page.path.dropLast()), host: "localhost:\(port)", port: port)
        #expect(answer.status == 308)
        #expect(answer.fields.first { $0.name == "Location" }?.value == page.path)
    }

    @Test("a long text is cut by its Unicode scalars: a character may have any number of them")
    func combiningMarks() throws {
        let folder = try TemporaryFolder(), path = folder.path + "/s.tarn"
        let schema = Schema([
            EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int), .init("title", .string)])
        ])
        do {
            let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
            let text = "a" + String(repeating: "\u{301}", count: 200_000)
            try store.write { try $0.put("Note", RecordKey(1), [.init("title", .string(text))]) }
        }
        let page = InspectPage(store: path)
        let key = RecordKey(1).storageKey.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let answer = page.answer(
            "GET", page.path + "api/record?entity=Note&key=\(key)", host: "localhost:\(port)", port: port)
        #expect(answer.status == 200 && answer.body.count < 100_000, "\(answer.status) \(answer.body.count)")
    }
}
