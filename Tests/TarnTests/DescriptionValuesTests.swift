// What a description says about how values are taken.

import Foundation
import Tarn
import TarnImport
import Testing

@Suite("Description: values")
struct DescriptionValuesTests {
    private func description(_ api: String, _ entity: String, _ attribute: String) -> String {
        """
        api:
          base: https://a.example
        \(api.isEmpty ? "" : "  \(api)")
        entities:
          Thing:
            key: id
        \(entity.isEmpty ? "" : "    \(entity)")
            attributes:
              id: int
              v: \(attribute)
        """
    }

    @Test("coercion and formats of dates may be said by the API, an entity and an attribute")
    func rules() throws {
        let text = description(
            "coercion: strict\n  dates: [http, day]", "coercion: lenient\n    dates: iso8601",
            "{ type: date, format: [milliseconds, 'dd/MM/yyyy'], coercion: strict }")
        let mapping = try Description.parse(text, file: "f.yaml").mapping
        #expect(mapping.rules == FieldRules(coercion: .strict, dates: [.http, .day]))
        let thing = try #require(mapping.entities["Thing"])
        #expect(thing.rules == FieldRules(coercion: .lenient, dates: [.iso8601]))
        #expect(
            thing.fields == ["v": FieldRules(coercion: .strict, dates: [.epoch(.milliseconds), .pattern(try DatePattern("dd/MM/yyyy"))])])
        let plain = try Description.parse(description("", "", "date"), file: "f.yaml").mapping
        #expect(plain.rules == FieldRules() && plain.entities["Thing"]?.fields == [:])
    }

    @Test("what is wrong about values is reported at its line with the way out", arguments: [
        ("coercion: strickt", "", "date", "unknown coercion \"strickt\": did you mean \"strict\"?"),
        ("dates: []", "", "date", "has no format"),
        ("", "dates: yyyy-MM", "date", "the day (d) is missing"),
        ("", "", "{ type: date, format: rfc339 }", "the words are rfc3339, iso8601"),
        ("", "", "{ type: int, format: day }", "only a date has a format"),
        ("", "", "{ type: date, format: day, epoch: seconds }", "name its unit under format"),
        ("", "", "{ type: int, coercion: Strict }", "unknown coercion \"Strict\""),
    ])
    func problems(_ api: String, _ entity: String, _ attribute: String, _ expected: String) throws {
        let text = description(api, entity, attribute)
        let error = try #require(throws: DescriptionError.self) { try Description.parse(text, file: "f.yaml") }
        #expect(error.problems.count == 1 && error.problems[0].message.contains(expected), "\(error)")
        #expect(error.problems[0].line.map { $0 > 2 } == true)
    }
}
