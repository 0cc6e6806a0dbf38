// Single values of a document beside its records, of whole and of divided documents.

import TarnStore
import Testing

@testable import TarnImport

@Suite("Import: facts of documents")
struct DocumentFactsTests {
    private static let questions = DocumentQuestions(
        values: ["meta.next", "meta.more", "meta.total", "meta.big", "meta.nothing", "meta", "items[0].id", "absent"],
        record: "name")

    private static func document(_ count: Int) -> [UInt8] {
        let items = (0..<count).map { #"{"id":\#($0)\#($0 % 3 == 0 ? "" : #","name":"n\#($0)""#)}"# }.joined(
            separator: ",")
        return Array(
            #"{"items":[\#(items)],"meta":{"next":"a\u00fc","more":true,"total":12,"big":123456789012345678901234567890,"nothing":null}}"#
                .utf8)
    }

    @Test(
        "scalars come as texts, what is null, absent or no scalar does not come, and of records those that have a value"
    )
    func values() throws {
        let bed = try thing([AttributeDefinition("name", .string, optional: true)])
        let added = try bed.importer.add(Self.document(5), records: "items", entity: "Thing", asking: Self.questions)
        #expect(added.facts.values == ["aü", "true", "12", "123456789012345678901234567890", nil, nil, "0", nil])
        #expect(added.facts.containers.allSatisfy { added.facts.values[$0] == nil })
        #expect(added.facts.records == ["n1", "n2", "n4"])
        #expect(added.count == 5)
        let envelope = try bed.importer.add(
            Self.document(3), envelope: [EnvelopePart("items", "Thing")],
            asking: DocumentQuestions(values: ["meta.total"], record: "id"))
        #expect(envelope.facts.values == ["12"] && envelope.facts.records == ["0", "1", "2"])
        #expect(try bed.importer.add(Self.document(1), records: "items", entity: "Thing").facts == DocumentFacts())
    }

    @Test(
        "of an object around the list whose members have any name, all scalars are read, and of others the named ones")
    func openMembers() throws {
        let bed = try thing([AttributeDefinition("name", .string, optional: true)])
        let document = Array(
            #"{"items":[{"id":1}],"continue":{"apcontinue":"10","more":{"x":"1"}},"meta":{"apcontinue":"11"},"x":2}"#
                .utf8)
        let names = MemberNames(scalars: ["total"], nested: [], objects: ["meta"], open: ["continue"])
        let added = try bed.importer.add(
            document, records: "items", entity: "Thing", asking: DocumentQuestions(members: names))
        #expect(added.facts.members.map(\.path) == ["continue.apcontinue"])
        #expect(added.facts.members.map(\.text) == ["10"])
    }

    @Test("the objects beside a list in an array lead to it")
    func besideList() throws {
        let bed = try thing([AttributeDefinition("name", .string, optional: true)])
        let document = Array(#"[{"pages":2,"meta":{"total":3},"x":1},[{"id":1},{"id":2}]]"#.utf8)
        let names = MemberNames(scalars: ["total", "pages"], nested: [], objects: ["meta"])
        let added = try bed.importer.add(
            document, records: "[1]", entity: "Thing", asking: DocumentQuestions(members: names))
        #expect(added.count == 2)
        #expect(added.facts.members.map(\.path) == ["[0].pages", "[0].meta.total"])
        #expect(added.facts.members.map(\.text) == ["2", "3"])
    }

    @Test("a document that is read in parts says the same, but for what stands in its list")
    func divided() throws {
        let bed = try thing([AttributeDefinition("name", .string, optional: true)])
        let document = Self.document(500)
        var questions = Self.questions
        questions.values.removeAll { $0 == "items[0].id" }
        let whole = try bed.importer.add(document, records: "items", entity: "Thing", asking: questions)
        let other = try thing([AttributeDefinition("name", .string, optional: true)])
        (other.importer.limits.documentSize, other.importer.limits.partSize) = (2000, 500)
        let divided = try other.importer.add(document, records: "items", entity: "Thing", asking: questions)
        #expect(whole.facts.containers == [5] && divided.facts == whole.facts && divided.count == 500)
    }

    @Test("records of a document that is read in parts tell of lists that go on")
    func dividedLists() throws {
        let items = (1...200).map { #"{"id":\#($0),"labels":{"nodes":[],"has_more":\#($0 % 4 == 0)}}"# }
        let document = Array(#"{"items":[\#(items.joined(separator: ","))]}"#.utf8)
        var questions = DocumentQuestions()
        questions.containers = ListContainers([[JSONPath(keys: ["labels"])]])
        for isDivided in [false, true] {
            let bed = try thing([AttributeDefinition("name", .string, optional: true)])
            if isDivided { (bed.importer.limits.documentSize, bed.importer.limits.partSize) = (2000, 500) }
            let added = try bed.importer.add(document, records: "items", entity: "Thing", asking: questions)
            #expect(added.count == 200 && added.facts.cutLists == ["labels.has_more": 50])
        }
    }
}
