// Looking at live answers: which requests are sent, and where credentials go.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Sampling live answers")
struct SamplerTests {
    private func sampler(pages: Int = 3, token: String? = nil) -> Sampler {
        Sampler(CurlTransport(), options: SampleRequest.options(pages: pages, headers: [], token: token))
    }

    @Test("lines of JSON are no answer of a list, and the error says what they are")
    func lines() {
        #expect { try Sampler.parse(Array("{\"id\":1}\n{\"id\":2}\n".utf8), name: "x") } throws: {
            "\($0)".contains("a JSON document in each line")
        }
        #expect { try Sampler.parse(Array("{\"id\":1}\nend".utf8), name: "x") } throws: {
            !"\($0)".contains("a JSON document in each line")
        }
    }

    @Test(
        "lines of JSON of a server are a list, and the description declares them if the media type does not",
        arguments: ["application/x-ndjson", "text/plain"])
    func linesOfServer(type: String) async throws {
        let server = try ScriptedServer { request in
            request.target == "/items"
                ? .init(
                    fields: ["Content-Type: \(type)"], body: "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n")
                : .init(status: "404 Not Found", body: "{}")
        }
        let text = try Proposal([try await sampler().sample(server.base + "/items")]).text
        #expect(text.contains("format: lines") == (type == "text/plain"), "\(text)")
        #expect(text.contains("key: id"), "\(text)")
    }

    @Test("as many pages as wanted, and one record by its own URL", arguments: [1, 2, 5])
    func pages(count: Int) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(body: #"{"id":1,"name":"x","more":1}"#) }
            let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
            return .init(
                fields: ["Link: </items?page=\(page + 1)>; rel=\"next\""], body: #"[{"id":\#(page),"name":"x"}]"#)
        }
        let sample = try await sampler(pages: count).sample(server.base + "/items")
        #expect(sample.pages.count == count && !sample.isComplete)
        #expect(server.targets == ["/items"] + (2..<max(2, count + 1)).map { "/items?page=\($0)" } + ["/items/1"])
        #expect(sample.style.text == "header_link")
        let text = try Proposal([sample]).text
        #expect(text.contains("  # itemDetails:") && text.contains("path: /items/{item.id}"), "\(text)")
    }

    @Test("a list that goes in circles ends, and the proposal says so")
    func circles() async throws {
        let server = try ScriptedServer { _ in
            .init(fields: ["Link: </items?page=1>; rel=\"next\""], body: #"[{"id":1}]"#)
        }
        let sample = try await sampler(pages: 50).sample(server.base + "/items?page=1")
        #expect(sample.pages.count == 1)
        #expect(try Proposal([sample]).text.contains("was not fetched"))
    }

    @Test("a page that fails is a remark, not the end")
    func failingPage() async throws {
        let server = try ScriptedServer { request in
            request.target.contains("page=2")
                ? .init(status: "500 Oops", body: "\u{1B}[31m")
                : .init(fields: ["Link: </items?page=2>; rel=\"next\""], body: #"[{"id":1}]"#)
        }
        let text = try Proposal([try await sampler().sample(server.base + "/items")]).text
        #expect(text.contains("the server returned 500") && !text.unicodeScalars.contains("\u{1B}"))
    }

    @Test(
        "an empty page of a nested list is the end, and no record",
        arguments: [
            ("start=0", #"{"responseHeader":{"status":0},"response":{"numFound":3,"start":0,"docs":["#, "]}}"),
            ("from=0", #"{"took":1,"hits":{"total":{"value":3},"hits":["#, "]}}"),
            ("page=1", #"{"status":"ok","payload":{"list":{"rows":["#, "]}}}"),
        ])
    func emptyNestedList(query: String, start: String, end: String) async throws {
        let server = try ScriptedServer { request in
            let isFirst = request.target.hasSuffix("?" + query)
            return .init(body: start + (isFirst ? #"{"id":1,"t":"a"},{"id":2,"t":"b"},{"id":3,"t":"c"}"# : "") + end)
        }
        let proposal = try Proposal([try await sampler().sample(server.base + "/things?" + query)])
        #expect(proposal.entities.count == 1 && proposal.records.map(\.value) == [3], "\(proposal.text)")
        #expect(!proposal.text.contains("start: 0 }") || query == "start=0", "\(proposal.text)")
    }

    @Test("a server that ignores the page parameter has one page")
    func ignoredParameter() async throws {
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1},{"id":2}]"#) }
        let sample = try await sampler().sample(server.base + "/items?page=1&per_page=2")
        #expect(sample.pages.count == 1 && sample.style.text == "single_page")
    }

    /// Returns the number of the page that a request asks for.
    private static func page(_ target: String) -> Int { Int(target.split(separator: "=").last ?? "") ?? 1 }

    @Test("pages with the same ids and other days are different pages")
    func sameIds() async throws {
        let server = try ScriptedServer { request in
            let page = SamplerTests.page(request.target)
            guard page <= 3 else { return .init(body: "[]") }
            let records = (1...24).map { #"{"id":\#($0),"day":"2024-01-0\#(page)","temp":\#($0 * page)}"# }
            return .init(body: "[" + records.joined(separator: ",") + "]")
        }
        let sample = try await sampler().sample(server.base + "/observations")
        let proposal = try Proposal([sample])
        #expect(sample.pages.count == 3 && proposal.records.map(\.value) == [72], "\(proposal.text)")
        #expect(proposal.text.contains("    key: [id, day]   # `id` is not unique"), "\(proposal.text)")
    }

    @Test("a page with the same records and other scores is the same page")
    func otherScores() async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/items?") else { return .init(status: "404 Not Found") }
            let score = request.target.utf8.reduce(0) { $0 + Int($1) }
            let records = (1...4).map { #"{"id":\#($0),"title":"t\#($0)","score":\#(score + $0)}"# }
            return .init(body: "[" + records.joined(separator: ",") + "]")
        }
        let sample = try await sampler().sample(server.base + "/items?page=1&per_page=4")
        #expect(sample.pages.count == 1 && sample.style.text == "single_page")
    }

    @Test("a first answer without records that states an error is no sample")
    func statedError() async throws {
        let server = try ScriptedServer { _ in .init(body: #"{"items":[],"error":"timeout"}"#) }
        await #expect { try await sampler().sample(server.base + "/items") } throws: {
            "\($0)".contains("has no records, and `error` says \"timeout\"")
        }
    }

    @Test("a list beside an object in an array is named by its position, and others are uncertain")
    func mixedArrays() async throws {
        let proposal = try propose(#"[{"page":1,"pages":1,"total":2},[{"id":1},{"id":2}]]"#)
        #expect(proposal.text.contains("records: '[1]'") && proposal.records.map(\.value) == [2], "\(proposal.text)")
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1,"name":"x"},[{"id":2,"name":"y"}]]"#) }
        let other = try Proposal([try await sampler().sample(server.base + "/items")])
        #expect(other.uncertain.contains { $0.contains("which is not understood") }, "\(other.uncertain)")
    }

    /// An API of 25 records with its own parameters and members.
    struct Form: Sendable, CustomTestStringConvertible {
        var name: String
        var target = "/items"
        /// The parameter of the position, and its value for the first page.
        var parameter: (name: String, first: Int)
        /// The number of records of a step of the parameter; nil for ids.
        var step: Int?
        /// The members around the list, from the number of records before the page.
        var body: @Sendable (_ before: Int, _ records: String) -> String
        var style: String
        var testDescription: String { name }
    }

    static let forms: [Form] = [
        Form(
            name: "Jira", parameter: ("startAt", 0), step: 1,
            body: { #"{"startAt":\#($0),"maxResults":10,"total":25,"issues":\#($1)}"# },
            style: "{ offset: { param: startAt, total: total } }"),
        Form(
            name: "DummyJSON", target: "/items?limit=10", parameter: ("skip", 0), step: 1,
            body: { #"{"products":\#($1),"total":25,"skip":\#($0),"limit":10}"# },
            style: "{ offset: { param: skip, total: total, per_page: { limit: 10 } } }"),
        Form(
            name: "SCIM", parameter: ("startIndex", 1), step: 1,
            body: { #"{"totalResults":25,"startIndex":\#($0 + 1),"itemsPerPage":10,"Resources":\#($1)}"# },
            style: "{ offset: { param: startIndex, start: 1, total: totalResults } }"),
        Form(
            name: "Spring's page", parameter: ("page", 0), step: 10,
            body: { #"{"content":\#($1),"number":\#($0 / 10),"totalPages":3}"# },
            style: "{ page_number: { param: page, start: 0, total_pages: totalPages } }"),
        Form(
            name: "Spring's page, from page 0", target: "/items?page=0", parameter: ("page", 0), step: 10,
            body: { #"{"content":\#($1),"number":\#($0 / 10),"totalPages":3}"# },
            style: "{ page_number: { param: page, start: 0, total_pages: totalPages } }"),
        Form(
            name: "Spring's slice", parameter: ("page", 0), step: 10,
            body: { #"{"content":\#($1),"number":\#($0 / 10),"last":\#($0 >= 20)}"# },
            style: "{ page_number: { param: page, start: 0 } }"),
        Form(
            name: "Stripe", target: "/items?limit=10", parameter: ("starting_after", 0),
            body: { #"{"object":"list","data":\#($1),"has_more":\#($0 < 15)}"# },
            style: "{ cursor: { path: 'data[-1].id', param: starting_after, has_more: has_more } }"),
        Form(
            name: "MediaWiki", parameter: ("apcontinue", 0), step: 1,
            body: {
                let next = $0 < 15 ? #","continue":{"apcontinue":"\#($0 + 10)","continue":"-||"}"# : ""
                return #"{"query":{"allpages":\#($1)}\#(next)}"#
            },
            style: "{ parameters: { path: continue } }"),
        Form(
            name: "Reddit", parameter: ("after", 0), step: 1,
            body: {
                #"{"kind":"Listing","data":{"after":\#($0 < 15 ? #""\#($0 + 10)""# : "null"),"children":\#($1)}}"#
            },
            style: "{ cursor: { path: data.after, param: after, end: empty } }"),
        Form(
            name: "Notion", parameter: ("start_cursor", 0), step: 1,
            body: {
                #"{"results":\#($1),"has_more":\#($0 < 15),"next_cursor":\#($0 < 15 ? #""\#($0 + 10)""# : "null")}"#
            },
            style: "{ cursor: { path: next_cursor, param: start_cursor, has_more: has_more } }"),
        Form(
            name: "AWS", parameter: ("NextToken", 0), step: 1,
            body: { #"{"Items":\#($1)\#($0 < 15 ? #","NextToken":"\#($0 + 10)""# : "")}"# },
            style: "{ cursor: { path: NextToken, param: NextToken } }"),
        Form(
            name: "Relay", parameter: ("after", 0), step: 1,
            body: {
                #"{"nodes":\#($1),"pageInfo":{"endCursor":"\#($0 + 10)","hasNextPage":\#($0 < 15)}}"#
            },
            style: "{ cursor: { path: pageInfo.endCursor, param: after, has_more: pageInfo.hasNextPage } }"),
        Form(
            name: "a token with a name of its own", parameter: ("bookmark", 0), step: 1,
            body: { #"{"docs":\#($1)\#($0 < 15 ? #","bookmark":"\#($0 + 10)""# : "")}"# },
            style: "{ cursor: { path: bookmark, param: bookmark } }"),
        Form(
            name: "Solr", parameter: ("start", 0), step: 1,
            body: { #"{"response":{"numFound":25,"start":\#($0),"docs":\#($1)}}"# },
            style: "{ offset: { param: start, total: response.numFound } }"),
        Form(
            name: "pages from 0, and only their number", parameter: ("page", 0), step: 10,
            body: { #"{"items":\#($1),"pages":\#($0 >= 0 ? 3 : 0)}"# },
            style: "{ page_number: { param: page, start: 0, total_pages: pages } }"),
        Form(
            name: "pages from 0, and the number of the last one", parameter: ("page", 0), step: 10,
            body: { #"{"items":\#($1),"meta":{"last_page":\#($0 >= 0 ? 2 : 0)}}"# },
            style: "{ page_number: { param: page, start: 0 } }"),
        Form(
            name: "a marker", parameter: ("marker", 0), step: 1,
            body: { #"{"entries":\#($1)\#($0 < 15 ? #","next_marker":"\#($0 + 10)""# : "")}"# },
            style: "{ cursor: { path: next_marker, param: marker } }"),
        Form(
            name: "Elasticsearch", parameter: ("from", 0), step: 1,
            body: { #"{"took":\#($0),"hits":{"total":{"value":25},"hits":\#($1)}}"# },
            style: "{ offset: { param: from, total: hits.total.value } }"),
        Form(
            name: "OData 2 with relative links", parameter: ("$skiptoken", 0), step: 1,
            body: { #"{"d":{"results":\#($1)\#($0 < 15 ? #","__next":"items?$skiptoken=\#($0 + 10)""# : "")}}"# },
            style: "{ json_link: { path: 'd.__next' } }"),
        Form(
            name: "Strapi", parameter: ("pagination[page]", 1), step: 10,
            body: { #"{"data":\#($1),"meta":{"pagination":{"page":\#($0 / 10 + 1),"pageCount":3}}}"# },
            style: "{ page_number: { param: 'pagination[page]', total_pages: meta.pagination.pageCount } }"),
        Form(
            name: "Socrata", target: "/items?$limit=10&$offset=0", parameter: ("$offset", 0), step: 1,
            body: { _, records in records },
            style: "{ offset: { param: $offset, per_page: { $limit: 10 }, end: empty } }"),
        Form(
            name: "JSON:API's size", target: "/items?page[limit]=10", parameter: ("page[offset]", 0), step: 1,
            body: { before, records in #"{"data":\#(records)}"# },
            style: "{ offset: { param: 'page[offset]', per_page: { 'page[limit]': 10 }, end: empty } }"),
        Form(
            name: "ArcGIS", parameter: ("resultOffset", 0), step: 1,
            body: { #"{"features":\#($1)\#($0 < 15 ? #","exceededTransferLimit":true"# : "")}"# },
            style: "{ offset: { param: resultOffset, has_more: exceededTransferLimit } }"),
        Form(
            name: "the World Bank", parameter: ("page", 1), step: 10,
            body: { #"[{"page":\#($0 / 10 + 1),"pages":3,"total":25},\#($1)]"# },
            style: "{ page_number: { param: page, total_pages: '[0].pages' } }"),
    ]

    @Test(
        "the style of an API whose answers say that there is more, and its sync reaches all records", arguments: forms)
    func announced(_ form: Form) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let value = QueryParameters.values(in: request.target).first { $0.name == form.parameter.name }
            let before = (value.flatMap { Int($0.value) } ?? form.parameter.first) - form.parameter.first
            let first = before * (form.step ?? 1)
            let ids = first < 25 ? Array(first + 1...min(first + 10, 25)) : []
            return .init(body: form.body(first, "[" + ids.map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]"))
        }
        let proposal = try Proposal([try await sampler(pages: 2).sample(server.base + form.target)])
        #expect(proposal.text.contains("paginate: \(form.style)"), "\(proposal.text)")
        #expect(proposal.uncertain == [] && !proposal.text.contains(" more:"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count(proposal.entities[0]) == 25)
    }

    @Test(
        "a sign of more records without a known parameter is uncertain: the file names styles, and its sync fails",
        arguments: [
            (
                #"{"total":9,"items":[{"id":1},{"id":2}]}"#, "total says that there are 9 records",
                "offset: { param: offset"
            ),
            (
                #"{"has_more":true,"items":[{"id":2},{"id":1},{"id":3}]}"#, "has_more is true",
                "cursor: { path: 'items[-1].id', param: starting_after, has_more: has_more }"
            ),
            (#"{"has_more":true,"items":[{"id":1},{"id":2},{"id":3}]}"#, "has_more is true", "has_more: has_more"),
            (#"{"last":false,"items":[{"id":1}]}"#, "last is false", "page_number: { param: page"),
            (#"{"_scroll_id":"DXF1","items":[{"id":1}]}"#, "_scroll_id names", "param: _scroll_id"),
            (
                #"{"LastEvaluatedKey":{"id":"k"},"items":[{"id":1}]}"#, "LastEvaluatedKey.id names",
                "path: LastEvaluatedKey.id"
            ),
        ])
    func unreached(body: String, sign: String, style: String) async throws {
        let server = try ScriptedServer { _ in .init(body: body) }
        let proposal = try Proposal([try await sampler().sample(server.base + "/items")])
        #expect(proposal.uncertain.count == 1 && proposal.uncertain[0].contains(sign), "\(proposal.uncertain)")
        #expect(proposal.text.contains("paginate: single_page") && proposal.text.contains("UNCERTAIN"))
        let lines = proposal.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(!lines.contains { $0.hasPrefix("more:") }, "\(proposal.text)")
        #expect(lines.contains { $0.hasPrefix("# or paginate: ") && $0.contains(style) }, "\(proposal.text)")
        let failures = try await ProposedMirror(CurlTransport(), proposal).report.failures
        #expect(failures.count == 1 && "\(failures[0])".contains(sign), "\(failures)")
    }

    @Test("the id of the last record leads on in whatever order the ids are")
    func unsortedIDs() async throws {
        let ids = (0..<25).map { "ch_\($0 * 7919 % 1009)" }
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let after = QueryParameters.values(in: request.target).first { $0.name == "starting_after" }?.value
            let first = after.flatMap { ids.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
            let page = ids.dropFirst(first).prefix(10).map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
            return .init(body: #"{"object":"list","data":[\#(page)],"has_more":\#(first < 15)}"#)
        }
        let proposal = try Proposal([try await sampler().sample(server.base + "/items")])
        #expect(
            proposal.text.contains(
                "paginate: { cursor: { path: 'data[-1].id', param: starting_after, has_more: has_more } }"),
            "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count(proposal.entities[0]) == 25)
    }

    @Test("a style that a specification declares wins over none for a list that goes on")
    func declaredStyle() async throws {
        let server = try ScriptedServer { _ in .init(body: #"{"has_more":true,"items":[{"id":2},{"id":1}]}"#) }
        let text = """
            {"openapi":"3.0.0","info":{"title":"x","version":"1"},"servers":[{"url":"\(server.base)"}],"paths":{"/items":{
              "get":{"parameters":[{"name":"page","in":"query","schema":{"default":1}}],"responses":{"200":{
                "description":"x","content":{"application/json":{"schema":{"type":"object","properties":{"items":{
                  "type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}}}}}}}}}}}}}}
            """
        let specification = try OpenAPIDocument(Array(text.utf8), name: "openapi.json")
        let sample = try await sampler().sample(server.base + "/items")
        #expect(sample.style.unreached != nil)
        let proposal = try Proposal([sample], specification: specification)
        #expect(proposal.text.contains("paginate: { page_number: { param: page, start: 1 } }"), "\(proposal.text)")
        #expect(proposal.uncertain == [] && !proposal.text.contains("UNCERTAIN"), "\(proposal.text)")
    }

    @Test("a page whose members differ, and whose records are those of the page before, is the same page")
    func sameRecords() async throws {
        let count = Mutex(0)
        let server = try ScriptedServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .init(body: #"{"took":\#(number),"hits":{"total":9,"hits":[{"_id":"a"},{"_id":"b"}]}}"#)
        }
        let sample = try await sampler().sample(server.base + "/items")
        #expect(sample.pages.count == 1 && sample.style.text == "single_page" && sample.style.unreached != nil)
        #expect(server.targets.contains("/items?from=2"))
    }

    @Test("a map of records is a list at a path with *, and a remark beside a list with a wrapper")
    func maps() async throws {
        let map =
            "{" + (1...3).map { #""k\#($0)":{"id":\#($0),"labels":[{"id":9,"name":"x"}]}"# }.joined(separator: ",")
            + "}"
        let server = try ScriptedServer { request in
            switch request.target.prefix(while: { $0 != "?" }) {
            case "/map": .init(body: map)
            case "/data": .init(body: #"{"data":\#(map)}"#)
            case "/rates": .init(body: #"{"base":"EUR","rates":\#(map)}"#)
            default: .init(body: #"{"items":[{"id":1}],"users":\#(map),"links":\#(map)}"#)
            }
        }
        for (path, records) in [("/map", "'*'"), ("/data", "'data.*'"), ("/rates", "'rates.*'")] {
            let proposal = try Proposal([try await sampler().sample(server.base + path)])
            #expect(proposal.text.contains("records: \(records)\n"), "\(proposal.text)")
            #expect(proposal.text.contains("memberName: { type: string, from: '@memberName' }"), "\(proposal.text)")
            #expect(proposal.uncertain == [], "\(proposal.text)")
        }
        let proposal = try Proposal([try await sampler().sample(server.base + "/both")])
        #expect(proposal.uncertain.count == 1 && proposal.uncertain[0].contains("`users.*` (3 objects): not described"))
        #expect(proposal.entities == ["Both"], "\(proposal.text)")
    }

    @Test("a comment about a refused page has no text of the server, which may repeat credentials")
    func refusedPage() async throws {
        let server = try ScriptedServer { request in
            request.target == "/items"
                ? .init(fields: ["Link: </items?page=2>; rel=\"next\""], body: #"[{"id":1,"name":"a"}]"#)
                : .init(status: "403 Forbidden", body: #"{"message":"not with this key: k-1"}"#)
        }
        let notes = try await sampler().sample(server.base + "/items").notes
        #expect(notes.contains { $0.contains("the server returned 403") }, "\(notes)")
        #expect(!notes.contains { $0.contains("k-1") }, "\(notes)")
    }

    @Test("a redirect to another server is refused: the next sync would send it credentials")
    func redirect() async throws {
        let other = try ScriptedServer { _ in .init(body: #"[{"id":1}]"#) }
        let target = other.base
        let server = try ScriptedServer { request in
            request.target == "/moved"
                ? .init(status: "302 Found", fields: ["Location: /items"])
                : request.target == "/items"
                    ? .init(body: #"[{"id":1}]"#) : .init(status: "302 Found", fields: ["Location: \(target)/items"])
        }
        let sampler = sampler(token: "s3cret")
        await #expect { try await sampler.sample(server.base + "/away") } throws: { "\($0)".contains("another one") }
        #expect(other.requests.allSatisfy { $0.field("Authorization") == nil })
        let sample = try await sampler.sample(server.base + "/moved")
        #expect(sample.origin == server.base + "/items")
        #expect(server.requests.allSatisfy { $0.field("Authorization") == "Bearer s3cret" })
    }

    @Test("a specification elsewhere is requested without the token of the API")
    func specification() async throws {
        let text = """
            {"openapi":"3.0.0","info":{"title":"x","version":"1"},"paths":{}}
            """
        let server = try ScriptedServer { _ in .init(body: text) }
        let sampler = sampler(token: "s3cret")
        _ = try await sampler.specification(server.base + "/openapi.json", servers: ["https://api.test.example"])
        _ = try await sampler.specification(server.base + "/openapi.json", servers: [server.base + "/items"])
        #expect(server.requests.map { $0.field("Authorization") } == [nil, "Bearer s3cret"])
    }
}
