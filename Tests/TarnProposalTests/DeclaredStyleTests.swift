// Pagination from the names, the types and the descriptions of parameters.

import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Declared pagination")
struct DeclaredStyleTests {
    private typealias Specification = TestSpecification

    private static let text = #"{"type":"string"}"#, number = #"{"type":"integer"}"#, flag = #"{"type":"boolean"}"#

    /// A list with parameters, in an envelope with other members.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var parameters: [String]
        var members: String
        /// The beginning of the style.
        var style: String
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "an offset that is a token", parameters: [Specification.query("offset", text)],
            members: #""offset":\#(text)"#, style: "{ cursor: { path: offset, param: offset } }"),
        Row(
            name: "an offset inside of next_page", parameters: [Specification.query("offset", text)],
            members: #""next_page":{"type":"object","properties":{"offset":\#(text)}}"#,
            style: "{ cursor: { path: next_page.offset, param: offset } }"),
        Row(
            name: "the last id", parameters: [Specification.query("after", text)],
            members: #""last_id":\#(text),"has_more":\#(flag)"#,
            style: "{ cursor: { path: last_id, param: after, has_more: has_more } }"),
        Row(
            name: "next_marker", parameters: [Specification.query("marker", text)],
            members: #""next_marker":\#(text)"#, style: "{ cursor: { path: next_marker, param: marker } }"),
        Row(
            name: "next_start", parameters: [Specification.query("start"), Specification.query("limit")],
            members: #""pagination":{"type":"object","properties":{"next_start":\#(number)}}"#,
            style: "{ cursor: { path: pagination.next_start, param: start } }"),
        Row(
            name: "a URL is no cursor",
            parameters: [Specification.query("page[after]", text)],
            members:
                #""meta":{"type":"object","properties":{"after_cursor":\#(text)}},"links":{"type":"object","properties":{"next":\#(text)}}"#,
            style: "{ cursor: { path: meta.after_cursor, param: 'page[after]' } }"),
        Row(
            name: "after a day", parameters: [Specification.query("after", #"{"type":"string","format":"date"}"#)],
            members: #""next":\#(text)"#, style: "{ json_link: { path: next } }"),
        Row(
            name: "a range of times",
            parameters: [
                Specification.query("start", number, #","description":"Unix timestamp""#), Specification.query("end"),
            ],
            members: #""took":\#(number)"#, style: "auto"),
        Row(
            name: "from a date", parameters: [Specification.query("from", #"{"type":"string","format":"date-time"}"#)],
            members: #""took":\#(number)"#, style: "auto"),
        Row(
            name: "records are counted from 1",
            parameters: [Specification.query("start", #"{"type":"integer","minimum":1,"default":1}"#)],
            members: #""total":\#(number)"#, style: "{ offset: { param: start, start: 1, total: total } }"),
        Row(
            name: "a required token is no cursor",
            parameters: [
                Specification.query("token", text, #","required":true"#),
                Specification.query("page", #"{"default":1}"#),
            ], members: #""next":\#(number)"#, style: "{ page_number: { param: page, start: 1 } }"),
        Row(
            name: "a count of the page is no total", parameters: [Specification.query("page", #"{"default":1}"#)],
            members: #""count":\#(number)"#, style: "{ page_number: { param: page, start: 1 } }"),
    ]

    @Test("the style is that of the types and meanings of parameters, and not of their names alone", arguments: rows)
    func styles(_ row: Row) async throws {
        let envelope =
            #"{"type":"object","properties":{"items":\#(Specification.list("Item")),\#(row.members)}}"#
        let proposal = try await Specification(
            paths: [("/items", Specification.get(envelope, row.parameters.joined(separator: ",")))],
            server: "https://a.example"
        ).proposal()
        #expect(proposal.text.contains("paginate: \(row.style)"), "\(proposal.text)")
    }

    @Test("a time that is sent as a number is not sent as the text of a record", arguments: [true, false])
    func since(isNumber: Bool) async throws {
        let proposal = try await Specification(
            paths: [
                (
                    "/items",
                    Specification.get(
                        Specification.list("Item"), Specification.query("since", isNumber ? Self.number : Self.text))
                )
            ],
            schemas: [
                "Item": Specification.object(
                    #""id":{"type":"integer"},"updated_at":{"type":"string","format":"date-time"}"#)
            ], server: "https://a.example"
        ).proposal()
        #expect(proposal.text.contains("\n    since: {") == !isNumber, "\(proposal.text)")
    }

    @Test("what a live style sends is not under with")
    func liveParameters() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let page = ItemList.number("page", in: request.target) ?? 1
            return .init(body: #"{"items":\#(ItemList.page(request.target)),"page":\#(page),"total_pages":5}"#)
        }
        let envelope = #"{"type":"object","properties":{"items":\#(Specification.list("Item"))}}"#
        let proposal = try await Specification(
            paths: [
                (
                    "/items",
                    Specification.get(
                        envelope, Specification.query("per_page", #"{"default":50}"#),
                        Specification.query("starting_after", Self.text))
                )
            ], server: server.base
        ).proposal(live: true)
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == ItemList.count, "\(proposal.text)")
    }
}
