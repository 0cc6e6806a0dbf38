// swift-format-ignore-file
// (The page "Descriptions in programs" has parts of this file.)
// A description as a text in a program, with a struct for its records, and the names of the page.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

private struct Ticket: StoredRecord {
    static let entity = "Ticket"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, subject }

    var id: Int64
    var subject: String
}
extension Ticket {
    init(_ row: Row<Ticket>) throws(StoreError) { try self.init(id: row.get(.id), subject: row.get(.subject)) }
    func encode(into row: inout RowEncoder<Ticket>) {
        row.set(.id, id)
        row.set(.subject, subject)
    }
}

@Suite("The page Descriptions in programs", .timeLimit(.minutes(2)))
struct DescriptionsInProgramsTests {
    @Test("a text in a program requests what has changed, and a struct reads its records")
    func example() async throws {
        let server = try ScriptedServer { _ in
            .init(body: #"{"issues":[{"id":1,"subject":"a","updated":"2025-01-02T03:04:05Z"},{"id":2,"subject":"b","updated":"2025-01-01T00:00:00Z"}]}"#)
        }
        let folder = try TemporaryFolder(), path = folder("tickets.tarn")
        var options = APIClient.Options()
        options.base = server.base

        let description = try Description.parse(
            """
            api: { base: 'https://api.tickets.example' }
            entities:
              Ticket: { key: id, attributes: { id: int, subject: string, updated: date } }
            endpoints:
              found:
                path: /search
                records: issues
                entity: Ticket
                paginate: single_page
                since: { param: q, field: updated, text: 'updated >= "{value}"', initial: '1970-01-01T00:00:00Z' }
            """, file: "tickets.yaml")
        let store = try Store.open(at: path, schema: description.schema)
        try store.validate(Ticket.self)                      // the struct fits what the text declares

        let mirror = try APIMirror(
            description, store: store, transport: CurlTransport(description.api.transport), client: options)
        let report = await mirror.sync()                     // as `tarn sync` does; again: what has changed since
        let tickets = try store.read { try $0.get(Ticket.self, [1, 2]) }

        #expect(report.failures.isEmpty && tickets.map { $0?.subject } == ["a", "b"])
        _ = await mirror.sync()
        let asked = server.targets.compactMap { $0.removingPercentEncoding }
        #expect(asked == ["/search?q=updated >= \"1970-01-01T00:00:00Z\"", "/search?q=updated >= \"2025-01-02T03:04:05Z\""])
        let page = try DocumentationPage("DescriptionsInPrograms")
        #expect(try page.examples.count == 1 && page.examples(missingIn: #filePath) == [])
    }

    @Test("the page has every key of a description, and the account of a secret is a property")
    func keys() throws {
        let page = try String(contentsOfFile: Checkout.root + "/Sources/Tarn/Tarn.docc/DescriptionsInPrograms.md", encoding: .utf8)
        let schema = try JSONValue(String(contentsOfFile: Checkout.root + "/tools/schemas/tarn.schema.json", encoding: .utf8))
        func names(_ value: JSONValue?) -> [String] {
            guard case .object(let members)? = value?["properties"] else { return [] }
            return members.map(\.key)
        }
        let entity = schema["properties"]?["entities"]?["additionalProperties"], definitions = schema["$defs"]
        let keys = names(schema) + names(entity) + names(definitions?["api"]) + names(definitions?["endpoint"])
        // Parts of a description that the page does not compare: templates have no values, and names are given.
        let others = ["api", "entities", "endpoints", "like", "each", "parent"]
        #expect(keys.count > 60)
        for key in keys where !others.contains(key) { #expect(page.contains("`\(key)`"), "\(key)") }

        let text = "api: { base: 'https://a.example', auth: { bearer: { env: T }, account: ada } }\nentities: { A: { key: id, attributes: { id: int } } }"
        var api = APIDescription(base: "https://a.example")
        api.authentication = .bearer(.environment("T"))
        api.account = "ada"
        #expect(try Description.parse(text, file: "a.yaml").api == api)
    }
}
