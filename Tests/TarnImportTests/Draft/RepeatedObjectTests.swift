// Repeated nested objects are recognised and not drafted again, without a visible difference.

import TarnImport
import TarnStore
import Testing

@Suite("Import: objects that come again")
struct RepeatedObjectTests {
    private static let schema = Schema([
        EntityDefinition(
            "Box", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [
                RelationshipDefinition("thing", to: "Thing", inverse: "boxes"),
                RelationshipDefinition("others", to: "Thing", many: true, inverse: "otherBoxes"),
            ]),
        EntityDefinition(
            "Thing", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("text", .string, optional: true),
                AttributeDefinition("last", .string, optional: true),
                AttributeDefinition("count", .int, optional: true),
                AttributeDefinition("flag", .bool, optional: true),
                AttributeDefinition("price", .decimal, optional: true),
            ]),
    ])

    @Test("JSON that came twice as a record of one entity is drafted again as a record of another one")
    func otherEntity() throws {
        let schema = Schema([
            EntityDefinition(
                "Box", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("thing", to: "Thing"), RelationshipDefinition("tool", to: "Tool"),
                ]),
            EntityDefinition("Thing", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
            EntityDefinition(
                "Tool", parent: "Thing", attributes: [AttributeDefinition("size", .int, optional: true)]),
        ])
        let mapping = Mapping(entities: ["Thing": EntityMapping(ignored: ["size"])])
        let bed = try TestStore(schema, mapping), thing = #"{"id":7,"size":3}"#
        try bed.take(
            #"[{"id":1,"thing":\#(thing)},{"id":2,"thing":\#(thing)},{"id":3,"tool":\#(thing)}]"#, "Box")
        #expect(try bed.record("Thing", 7)?.entity == "Tool" && bed.value("Tool", 7, "size") == .int(3))
    }

    private func bed() throws -> TestStore { try TestStore(RepeatedObjectTests.schema) }

    /// Boxes, numbered from 1, with one item each.
    private func boxes(_ things: [String]) -> String {
        "[" + things.enumerated().map { #"{"id":\#($0 + 1),"thing":\#($1)}"# }.joined(separator: ",") + "]"
    }

    private static let known = #"{"id":7,"text":"a","count":1,"flag":true,"last":"z"}"#

    @Test(
        "an object that differs from a known one in anything is taken",
        arguments: [
            (
                #"{"id":7,"text":"b","count":1,"flag":true,"last":"z"}"#,
                #"{"id":7,"text":"b","last":"z","count":1,"flag":true}"#
            ),
            (
                #"{"id":7,"text":"a","count":2,"flag":true,"last":"z"}"#,
                #"{"id":7,"text":"a","last":"z","count":2,"flag":true}"#
            ),
            (
                #"{"id":7,"text":"a","count":1,"flag":false,"last":"z"}"#,
                #"{"id":7,"text":"a","last":"z","count":1,"flag":false}"#
            ),
            (
                #"{"id":7,"text":"a","count":1,"flag":null,"last":"z"}"#,
                #"{"id":7,"text":"a","last":"z","count":1,"flag":null}"#
            ),
            (
                #"{"id":7,"text":"a","count":1,"flag":true,"last":"y"}"#,
                #"{"id":7,"text":"a","last":"y","count":1,"flag":true}"#
            ),
            (
                #"{"id":7,"text":"a","count":1,"flag":true,"last":"zz"}"#,
                #"{"id":7,"text":"a","last":"zz","count":1,"flag":true}"#
            ),
            (
                #"{"id":7,"text":"a","count":1,"flag":true,"last":""}"#,
                #"{"id":7,"text":"a","last":"","count":1,"flag":true}"#
            ),
            (
                #"{"id":7,"last":"a","count":1,"flag":true,"text":"z"}"#,
                #"{"id":7,"text":"z","last":"a","count":1,"flag":true}"#
            ),
            (
                #"{"id":7,"text":"a\u0000","count":1,"flag":true,"last":"z"}"#,
                #"{"id":7,"text":"a\u0000","last":"z","count":1,"flag":true}"#
            ),
        ])
    func differences(_ different: String, _ expected: String) throws {
        let bed = try bed()
        let known = RepeatedObjectTests.known
        let report = try bed.take(boxes([known, known, known, different]), "Box")
        #expect(report.conflicts == 1)
        #expect(try bed.lines().last == "Thing 7 " + expected)
        #expect(try bed.related("Thing", 7, "boxes") == ["1", "2", "3", "4"])
    }

    @Test("an object that was known counts again once another one has changed its record")
    func changedBetween() throws {
        let bed = try bed()
        let known = RepeatedObjectTests.known, other = known.replacing("\"a\"", with: "\"b\"")
        try bed.take(boxes([known, known, known, other, other, other, known]), "Box")
        #expect(try bed.value("Thing", 7, "text") == .string("a"))
        try bed.take(boxes([known, known, other, known, other, other]), "Box")
        #expect(try bed.value("Thing", 7, "text") == .string("b"))
    }

    @Test("within one record, too, the later object counts")
    func changedWithinOneRecord() throws {
        let bed = try bed()
        let known = RepeatedObjectTests.known, other = known.replacing("\"a\"", with: "\"b\"")
        try bed.add(boxes([known, known, known]), "Box")
        try bed.add(#"[{"id":9,"others":[\#(other),{"id":8}],"thing":\#(known)}]"#, "Box")
        _ = try bed.commit()
        #expect(try bed.value("Thing", 7, "text") == .string("a"))
    }

    @Test("a known object takes nothing away that others say of its record")
    func union() throws {
        let bed = try bed()
        let short = #"{"id":7,"text":"a"}"#
        try bed.take(boxes([short, short, #"{"id":7,"count":5}"#, short, short]), "Box")
        #expect(try bed.lines().last == #"Thing 7 {"id":7,"text":"a","count":5}"#)
    }

    @Test("what is unmapped or wrong in an object is counted each time it comes")
    func counted() throws {
        let bed = try bed()
        let report = try bed.take(
            boxes(
                Array(repeating: #"{"id":7,"more":1}"#, count: 5) + Array(repeating: #"{"id":8,"count":"x"}"#, count: 4)
            ),
            "Box")
        #expect(report.unmapped.map { "\($0.entity).\($0.path) \($0.count)" } == ["Thing.more 5"])
        #expect(report.diagnosticCount == 4)
    }

    @Test("numbers that are the same double and not the same decimal are told apart")
    func decimals() throws {
        let bed = try bed()
        let short = #"{"id":7,"price":0.1}"#
        try bed.take(boxes([short, short, short, #"{"id":7,"price":0.1000000000000000055511151231257827}"#]), "Box")
        #expect(
            try bed.value("Thing", 7, "price")
                == .decimal(try #require(ExactDecimal("0.1000000000000000055511151231257827"))))
    }

    @Test("nothing is known of the unit before")
    func nextUnit() throws {
        let bed = try bed()
        let known = RepeatedObjectTests.known, other = known.replacing("\"a\"", with: "\"b\"")
        try bed.take(boxes([known, known, known]), "Box")
        let report = try bed.take(boxes([other, other, other]), "Box")
        #expect(report.entities["Thing"] == ImportReport.Counts(updated: 1))
        #expect(try bed.value("Thing", 7, "text") == .string("b"))
    }
}
