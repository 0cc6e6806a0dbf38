// Sub-entities of MMRecord: the entity of a record is chosen by its JSON.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From MMRecord: sub-entities")
struct MMRecordKindTests {
    @Record struct Ticket: Equatable {
        @Key var key: String
        @Attribute(from: "fields.summary") var summary: String?
        @Relationship(from: "fields.links") var links: References<Link>?
    }

    /// A link of a ticket; the member that it has decides its direction.
    @Record struct Link: Equatable {
        @Key var id: Int
        @Attribute(from: "type.name") var name: String?

        static func configure(_ mapping: inout EntityMapping) {
            mapping.choice = EntityChoice([
                .entity("OutwardLink", when: [RecordCondition("outwardIssue", .isPresent)]),
                .entity("InwardLink", when: [RecordCondition("inwardIssue", .isPresent)]),
            ])
        }
    }

    @Record(parent: Link.self) struct OutwardLink: Equatable {
        var id: Int
        @Attribute(from: "type.outward") var label: String?
        @Relationship(from: "outwardIssue") var target: Reference<Ticket>?
    }

    @Record(parent: Link.self) struct InwardLink: Equatable {
        var id: Int
        @Attribute(from: "type.inward") var label: String?
        @Relationship(from: "inwardIssue") var source: Reference<Ticket>?

        static func configure(_ mapping: inout EntityMapping) {
            mapping.choice = EntityChoice([
                .code(EntityChooser("blocking") { $0["type"]?["name"] == .string("Blocks") ? "BlockingLink" : nil })
            ])
        }
    }

    @Record(parent: InwardLink.self) struct BlockingLink: Equatable {
        var id: Int
        @Attribute(from: "since") var since: Int?
    }

    private static let ticket = #"""
        {"key": "P-1", "fields": {"summary": "s", "links": [
          {"id": 10, "type": {"name": "Relates", "outward": "relates to"}, "outwardIssue": {"key": "P-2", "fields": {"summary": "two"}}},
          {"id": 11, "type": {"name": "Relates", "inward": "is related to"}, "inwardIssue": {"key": "P-3"}},
          {"id": 12, "since": 4, "type": {"name": "Blocks", "inward": "is blocked by"}, "inwardIssue": "P-2"}]}}
        """#

    private func tickets() throws -> ImportFixture {
        let tickets = try ImportFixture(
            Ticket.self, Link.self, OutwardLink.self, InwardLink.self, BlockingLink.self)
        try tickets.add(Self.ticket, "Ticket")
        return tickets
    }

    @Test(
        "MMRecord +shouldUseSubEntityRecordClassToRepresentData: → EntityMapping.choice: rules or code choose the entity, in a relationship and at any depth; the key is declared once"
    )
    func kinds() throws {
        let tickets = try tickets()
        #expect(try tickets.fetch(Link.all).map(\.id) == [10, 11, 12])
        #expect(
            try tickets.fetch(OutwardLink.all) == [OutwardLink(id: 10, label: "relates to", target: Reference("P-2"))])
        #expect(try tickets.fetch(InwardLink.all).map(\.id) == [11, 12])
        #expect(try tickets.fetch(BlockingLink.all) == [BlockingLink(id: 12, since: 4)])
        #expect(try tickets.record("Link", 12)?.entity == "BlockingLink")
        #expect(try tickets.get(Ticket.self, "P-1")?.links?.keys == [10, 11, 12])
        #expect(try tickets.get(Ticket.self, "P-2")?.summary == "two")
    }

    @Test(
        "MMRecord sub-entities of listed records → EntityMapping.choice: a request for the parent entity lists records of all kinds"
    )
    func listed() throws {
        let tickets = try tickets()
        let report = try tickets.add(
            #"[{"id": 10, "inwardIssue": {"key": "P-9"}}, {"id": 20, "outwardIssue": "P-1"}, {"id": 21}]"#, "Link")
        #expect(report.skipped == 0)
        // A record that comes as another kind changes its kind, and keeps its key.
        #expect(try tickets.record("Link", 10)?.entity == "InwardLink")
        #expect(try tickets.record("Link", 20)?.entity == "OutwardLink")
        #expect(try tickets.record("Link", 21)?.entity == "Link")
    }

    @Test(
        "MMRecord several entity types in one response (not possible) → EnvelopePart: a key path for each entity, imported as one change"
    )
    func envelope() throws {
        let tickets = try tickets()
        try tickets.add(
            #"{"tickets": [{"key": "P-7"}], "extra": {"links": [{"id": 30}]}}"#,
            envelope: [EnvelopePart("tickets", "Ticket"), EnvelopePart("extra.links", "Link")])
        #expect(try tickets.get(Ticket.self, "P-7") != nil && tickets.get(Link.self, 30) != nil)
    }
}
