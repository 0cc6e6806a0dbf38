// Ids that repeat: keys of other things, excerpts of records, and what the samples overwrite.

import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Ids that repeat in the samples")
struct RepeatedKeyTests {
    /// A proposal of the answers of several paths.
    private func proposal(of answers: [(path: String, body: String)]) throws -> Proposal {
        let samples = try answers.map { answer in
            let url = "https://api.test.example" + answer.path, json = try JSONValue(answer.body)
            return Sample(
                origin: url, isURL: true,
                pages: [Sample.Page(url: url, body: Array(answer.body.utf8), json: json)])
        }
        return try Proposal(samples)
    }

    private func list(_ numbers: some Sequence<Int>, _ record: (Int) -> String) -> String {
        "[" + numbers.map(record).joined(separator: ",") + "]"
    }

    @Test("in a list, the id of something else is a part of the key, whatever constant fields agree")
    func listed() throws {
        let prices = list(0..<36) {
            #"{"id":\#(1 + $0 % 6),"date":"2025-01-\#(10 + $0 / 6)","price":\#($0).25,"currency":"EUR","unit":"kg"}"#
        }
        let proposal = try propose(prices)
        #expect(proposal.text.contains("    key: [id, date]   # `id` is not unique"), "\(proposal.text)")
        #expect(proposal.records == ["Thing": 36] && proposal.uncertain == [] && proposal.findings == [])
        // Once is enough in one answer.
        let once = try propose(list(0..<20) { #"{"id":\#(max($0, 1)),"name":"n\#($0)","v":true}"# })
        #expect(once.text.contains("    key: [id, name]") && once.records == ["Thing": 20], "\(once.text)")
    }

    @Test("names that only look the same are the keys of two records")
    func equivalentNames() throws {
        let words = ["tea", "water", "milk", "juice", "cola", "beer", "wine", "rum"]
        let names = [#"caf\u00e9"#, #"cafe\u0301"#] + words
        let tags = list(0..<10) {
            #"{"name":"\#(names[$0])","color":"\#(["red", "blue"][$0 % 2])","count":\#($0 * 3)}"#
        }
        let proposal = try propose(tags)
        #expect(proposal.text.contains("    key: name   # different in all 10 samples"), "\(proposal.text)")
    }

    @Test(
        "nested objects are no records if a field differs for most ids: lines, columns, questions, addresses",
        arguments: [
            #""lines":[{"id":1,"sku":"a-%","unit":"pcs","taxed":true},{"id":2,"sku":"b-%","unit":"pcs","taxed":true}]"#,
            #""properties":{"Name":{"id":"title","type":"title","title":[{"plain_text":"Page %"}]}}"#,
            #""answers":[{"id":"q1","type":"text","value":{"text":"1-%"}},{"id":"q2","type":"text","value":{"text":"%"}}]"#,
            #""fields":[{"id":1,"name":"a","type":"x","value":"v%"},{"id":2,"name":"b","type":"y","value":"w%"}]"#,
            #""address":{"id":"home","street":"Street %","city":"Bonn","country":"DE"}"#,
        ])
    func nested(_ member: String) throws {
        let proposal = try propose(list(1...9) { #"{"id":\#($0),\#(member.replacing("%", with: "\($0)"))}"# })
        #expect(proposal.entities == ["Thing"], "\(proposal.text)")
        #expect(proposal.records == ["Thing": 9] && proposal.findings == [] && proposal.uncertain == [])
        guard member.hasPrefix(#""lines""#) else { return }
        #expect(proposal.text.contains("lines: json   # objects whose `id` is not unique"), "\(proposal.text)")
    }

    @Test("counters, lists of numbers, missing members and what belongs to the place refute no id")
    func kept() throws {
        let mentions = try propose(
            list(1...9) {
                #"{"id":\#($0),"mentions":[{"id":\#($0 % 3),"name":"u\#($0 % 3)","login":"l\#($0 % 3)","followers_count":\#($0),"indices":[\#($0),9]}]}"#
            })
        #expect(mentions.entities.count == 2 && mentions.uncertain == [], "\(mentions.text)")
        let members = try proposal(of: [
            ("/users", list(1...5) { #"{"id":\#($0),"login":"u\#($0)","email":"u\#($0)@x.example"}"# }),
            (
                "/projects",
                list(1...9) {
                    #"{"id":\#($0),"members":[{"id":\#(1 + $0 % 5),"login":"u\#(1 + $0 % 5)","role":"r\#($0)"}]}"#
                }
            ),
        ])
        #expect(members.entities == ["User", "Project"], "\(members.text)")
        #expect(members.text.contains("ignore: [role]"), "\(members.text)")
    }

    @Test("a record that is twice in an answer, with other counters and times, refutes no id, and is uncertain")
    func twice() throws {
        let proposal = try propose(
            list(0..<12) {
                #"{"id":\#($0 % 11),"name":"n\#($0 % 11)","comments":\#($0),"views_count":\#($0),"updated_at":"2026-01-0\#(1 + $0 / 3)T00:00:00Z"}"#
            })
        #expect(proposal.text.contains("    key: id\n"), "\(proposal.text)")
        #expect(proposal.records == ["Thing": 11] && proposal.uncertain.count == 1, "\(proposal.uncertain)")
        #expect(
            proposal.uncertain.first?.contains(
                "a key names samples with different values (`comments`, `updated_at`, `views_count`)") == true)
        // Times alone do not tell that it is the same record.
        let bookings = try propose(list(0..<12) { #"{"id":\#($0 % 6),"booked_at":"2026-01-01T00:00:0\#($0 % 10)Z"}"# })
        #expect(bookings.records == ["Thing": 12], "\(bookings.text)")
    }

    @Test(
        "an id that one answer lists again and again is no key, also if only times, counts or last names differ",
        arguments: [
            (#""station":"s$","measured_at":"2026-03-0%T06:00:00Z","degrees":&.5"#, "[id, measuredAt]"),
            (#""patient":"p$","city":"c$","street":"d$","visited_at":"2026-03-0%T06:00:00Z""#, "[id, visitedAt]"),
            (#""product":"p$","units":&,"dollars":1&"#, "position"),
            (#""login":"u$","seen":"2026-03-0%T06:00:00Z""#, "position"),
            (#""country":"c$","last_name":"Miller &""#, "[id, lastName]"),
        ])
    func often(_ members: String, _ key: String) throws {
        let proposal = try propose(
            list(0..<12) {
                let rest = members.replacing("$", with: "\($0 % 4)").replacing("%", with: "\(1 + $0 / 4)")
                return #"{"id":\#(1 + $0 % 4),\#(rest.replacing("&", with: "\($0)"))}"#
            })
        #expect(proposal.text.contains("    key: \(key)"), "\(proposal.text)")
        #expect(proposal.records == ["Thing": 12], "\(proposal.text)")
        #expect(proposal.uncertain.isEmpty == (key != "position"), "\(proposal.uncertain)")
    }

    @Test("names of what changes in a record, and names that only resemble them")
    func volatileNames() {
        for name in ["updated_at", "lastSeenAt", "last_login", "lastActivity", "crawled_at", "view_count", "links"] {
            #expect(VolatileNames.isVolatile(name), "\(name)")
        }
        for name in ["measured_at", "created_at", "last_name", "last", "last_price", "degrees"] {
            #expect(!VolatileNames.isVolatile(name), "\(name)")
        }
    }

    @Test(
        "a live list whose pages overlap keeps its id, whatever score or position its records have by then",
        arguments: ["", #","position":%"#, #","author":"a#","created":"2024-01-0#""#])
    func overlapping(_ more: String) throws {
        let pages = try (0..<3).map { page -> Sample.Page in
            let body = list(page * 18..<page * 18 + 20) { id in
                let rest = more.replacing("%", with: "\(id + page)").replacing("#", with: "\(1 + id % 9)")
                return #"{"id":\#(id),"title":"t\#(id)","score":\#(id + 3 * page)\#(rest)}"#
            }
            let url = "https://api.test.example/hot?page=\(page + 1)"
            return Sample.Page(url: url, body: Array(body.utf8), json: try JSONValue(body))
        }
        let proposal = try Proposal([Sample(origin: "https://api.test.example/hot", isURL: true, pages: pages)])
        #expect(proposal.text.contains("    key: id\n") && proposal.records == ["Hot": 56], "\(proposal.text)")
        #expect(proposal.uncertain.count == 1, "\(proposal.uncertain)")
        #expect(proposal.uncertain.first?.contains("4 keys name samples with different values (`") == true)
    }

    @Test("one record of many that is listed twice in an answer takes the id away from none, and is uncertain")
    func pinned() throws {
        let posts = list(0...100) {
            #"{"id":\#(max($0, 1)),"title":"t\#(max($0, 1))","author":\#(max($0, 1) % 9),"section":"\#($0 == 0 ? "pinned" : "new")"}"#
        }
        let proposal = try propose(posts)
        #expect(proposal.text.contains("    key: id\n") && proposal.records == ["Thing": 100], "\(proposal.text)")
        #expect(proposal.uncertain.count == 1, "\(proposal.uncertain)")
        #expect(proposal.uncertain.first?.contains("a key names samples with different values (`section`)") == true)
    }

    @Test("a key without the id of the objects is uncertain, with the id as the alternative")
    func fallback() throws {
        let proposal = try propose(list(0..<12) { #"{"id":\#(1 + $0 % 6),"price":\#($0).25}"# })
        #expect(proposal.text.contains("    key: position\n") && proposal.records == ["Thing": 12], "\(proposal.text)")
        #expect(proposal.uncertain.count == 1, "\(proposal.uncertain)")
        #expect(proposal.uncertain.first?.contains("(`price`)") == true, "\(proposal.uncertain)")
        #expect(proposal.uncertain.first?.contains("write `key: id`") == true, "\(proposal.uncertain)")
    }

    @Test("the lists of two URLs with the same ids and other records are two entities")
    func lists() throws {
        let boards = (1...2).map { board in
            (
                path: "/boards/\(board)/cards",
                body: list(1...4) { #"{"id":\#($0),"title":"\#($0) of \#(board)","color":"red","kind":"card"}"# }
            )
        }
        let proposal = try proposal(of: boards)
        #expect(proposal.records == ["Card": 4, "Card2": 4], "\(proposal.text)")
    }

    @Test("an entity of which samples overwrite each other is uncertain")
    func overwritten() throws {
        let proposal = try propose(
            list(1...4) {
                #"{"id":\#($0),"repo":{"id":7,"name":"a","full":"b/a","home":"h","tongue":"s","shade":"\#($0)"}}"#
            })
        #expect(proposal.records == ["Thing": 4, "Repo": 1], "\(proposal.text)")
        #expect(
            proposal.uncertain.contains {
                $0.hasPrefix("entity Repo: a key names samples with different values (`shade`)")
            },
            "\(proposal.uncertain)")
        #expect(proposal.text.contains("# UNCERTAIN: a key names samples"), "\(proposal.text)")
    }

    @Test("resource objects of JSON:API have their type in the key, and identifiers lead to them")
    func resources() throws {
        let data = list(1...3) {
            #"{"type":"articles","id":"\#($0)","attributes":{"title":"A"},"relationships":{"author":{"data":{"type":"people","id":"\#($0)"}},"comments":{"data":[{"type":"comments","id":"\#($0)"}]}}}"#
        }
        let included = list(1...6) {
            $0 <= 3
                ? #"{"type":"people","id":"\#($0)","attributes":{"name":"p\#($0)"}}"#
                : #"{"type":"comments","id":"\#($0 - 3)","attributes":{"body":"c\#($0)"}}"#
        }
        let proposal = try propose(#"{"data":\#(data),"included":\#(included)}"#)
        #expect(
            proposal.text.contains("    key: [type, id]   # an id is unique only within its type"), "\(proposal.text)")
        #expect(proposal.text.contains("authorData: { to: Included,"), "\(proposal.text)")
        #expect(proposal.text.contains("commentsData: { to: [Included],"), "\(proposal.text)")
        #expect(proposal.records == ["Thing": 3, "People": 3, "Comments": 3], "\(proposal.records)")
        #expect(proposal.findings == [] && proposal.uncertain == [])
    }

    @Test("short ids of another list, and those of `@id` beside `id`, are named as what they are")
    func references() throws {
        let customers = list(101...107) { #"{"id":"cus_\#($0)","email":"u\#($0)@x.example"}"# }
        let charges = list(1...9) { #"{"id":"ch_\#(900 + $0)","customer":"cus_\#(101 + $0 % 7)","unit":"u1"}"# }
        let proposal = try proposal(of: [("/customers", customers), ("/charges", charges)])
        #expect(proposal.text.contains("customer: { to: Customer,"), "\(proposal.text)")
        #expect(proposal.text.contains("unit: string"), "\(proposal.text)")
        let both = try propose(list(1...3) { #"{"id":\#($0),"@id":"at\#($0)"}"# })
        #expect(both.text.contains("key: id   # also possible: `@id`"), "\(both.text)")
    }

    @Test("entities are named by what their objects state, and not by a version or a wrapper")
    func names() throws {
        let accounts = list(1...3) {
            #"{"attributes":{"type":"Account","url":"/services/data/v58.0/sobjects/Account/\#($0)"},"Id":"00\#($0)","OwnerId":"005"}"#
        }
        let salesforce = try proposal(of: [("/services/data/v58.0/query", #"{"totalSize":3,"records":\#(accounts)}"#)])
        #expect(salesforce.entities == ["Account"] && salesforce.endpoints == ["data"], "\(salesforce.text)")
        let stripe = try propose(
            list(1...3) { #"{"id":\#($0),"refunds":{"object":"list","data":[{"id":"re_\#($0)","object":"refund"}]}}"# })
        #expect(stripe.entities == ["Thing", "Refund"], "\(stripe.text)")
    }

    @Test(
        "an answer that reports an error is uncertain, a record with an error is not",
        arguments: [
            (#"{"ok":false,"error":"not_authed"}"#, "an error: not_authed"),
            (#"{"success":false,"errors":[{"code":9,"message":"no token"}],"result":null}"#, "an error: no token"),
            (#"{"error":{"code":401,"message":"denied"}}"#, "an error: denied"),
            (#"{"id":5,"success":false,"error":"failed"}"#, nil), (#"{"name":"x","error":null,"ok":true}"#, nil),
            (#"{"name":"x","error":"failed","duration":5}"#, nil),
        ])
    func errors(_ body: String, _ text: String?) throws {
        let proposal = try propose(body)
        guard let text else {
            #expect(!proposal.text.contains("an error"), "\(proposal.text)")
            return
        }
        #expect(proposal.uncertain.contains { $0.contains("looks like \(text), ") }, "\(proposal.uncertain)")
        #expect(proposal.text.contains("# UNCERTAIN: the answer looks like \(text)"), "\(proposal.text)")
    }

    @Test(
        "a key from the URL of a record beside another id; a URL of something else, which repeats, is none",
        arguments: [
            (#""id":$,"name":"P$","links":{"self":"/x/&"},"last":"v&""#, "    key: urlId"),
            (
                #""url":"/stations/$","station":"s$","measured_at":"2026-03-0%T06:00:00Z","degrees":&.5"#,
                "    key: position"
            ),
            (#""self":"/stations/$","degrees":&.5,"humidity":&"#, "    key: "),
        ])
    func urls(_ members: String, _ key: String) throws {
        let proposal = try propose(
            list(0..<12) {
                let rest = members.replacing("$", with: "\($0 % 4)").replacing("%", with: "\(1 + $0 / 4)")
                return "{\(rest.replacing("&", with: "\($0)"))}"
            })
        #expect(proposal.text.contains(key) && proposal.findings == [], "\(proposal.text)")
        #expect(proposal.records == ["Thing": 12], "\(proposal.text)")
    }

    @Test("a record without an id that the next page repeats with another score is one record")
    func listedAgain() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let page = ItemList.number("page", in: request.target) ?? 1, first = (page - 1) * 9
            let records = (first..<max(first, min(first + 10, 45))).map { number in
                let score = number * 3 + (number % 9 == 0 ? page : 0)
                return #"{"title":"t\#(number)","score":\#(score),"author":"a\#(number % 5)"}"#
            }
            return .init(body: "[" + records.joined(separator: ",") + "]")
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("    key: title   # different within each answer"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("(`score`)") }, "\(proposal.uncertain)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        #expect(try mirror.count("Item") == 45, "\(proposal.text)")
    }

    @Test(
        "a key that only few samples suggest, or a number with another name, is uncertain",
        arguments: [
            (3, #""title":"t$","size":1.5"#, true), (9, #""title":"t$","size":1.5"#, false),
            (9, #""score":$,"size":1.5"#, true), (3, #""slug":"t$","size":1.5"#, false),
        ])
    func weak(count: Int, members: String, isUncertain: Bool) throws {
        let proposal = try propose(list(0..<count) { "{\(members.replacing("$", with: "\($0)"))}" })
        let isDoubted = proposal.uncertain.contains { $0.contains("others may share it") }
        #expect(isDoubted == isUncertain, "\(proposal.text)")
    }
}
