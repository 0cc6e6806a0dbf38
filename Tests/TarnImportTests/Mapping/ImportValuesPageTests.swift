// The page about values from JSON: its tables are read here, and every cell is proven on a real
// store.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: the tables of the page about values")
struct ImportValuesPageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("../../Sources/Tarn/Tarn.docc/ImportValues.md").standardized

    /// The rows of the table that begins with this header cell, below a heading; cells without
    /// their backticks, nil for `–`.
    private static func table(_ firstCell: String, below heading: String) throws -> [[String?]] {
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: heading), "no heading \(heading)")
        let first = try #require(
            lines[start...].firstIndex { $0.hasPrefix("| \(firstCell) |") }, "no table of \(firstCell)")
        return lines[first...].prefix { $0.hasPrefix("|") }.filter { !$0.hasPrefix("|---") }.map { line in
            line.dropFirst(2).dropLast(2).components(separatedBy: " | ").map { cell in
                cell == "–"
                    ? nil : cell.hasPrefix("`") && cell.hasSuffix("`") ? String(cell.dropFirst().dropLast()) : cell
            }
        }
    }

    private static func attribute(_ word: String) throws -> AttributeType {
        switch word {
        case "bool": .bool
        case "int": .int
        case "uint": .uint
        case "double": .double
        case "decimal": .decimal
        case "string": .string
        case "bytes": .bytes
        case "date", "epoch": .date
        case "uuid": .uuid
        case "url": .url
        case "enum": .enumeration(["text", "7"])
        case "json": .json
        case "[int]": .array(.int)
        default: try #require(nil as AttributeType?, "no such type: \(word)")
        }
    }

    private static func hasType(_ value: Value, _ type: AttributeType) -> Bool {
        switch (value, type) {
        case (.null, _), (.bool, .bool), (.int, .int), (.int, .uint), (.uint, .uint), (.double, .double),
            (.decimal, .decimal),
            (.string, .string), (.string, .enumeration), (.bytes, .bytes), (.date, .date), (.uuid, .uuid), (.url, .url),
            (.json, .json), (.array, .array):
            true
        default: false
        }
    }

    @Test(
        "every attribute type takes from every JSON value what the page's table says", arguments: CoercionMode.allCases)
    func everyCell(_ mode: CoercionMode) throws {
        let rows = try Self.table("JSON", below: mode == .lenient ? "### Lenient" : "### Strict")
        let types = try rows[0].dropFirst().map { try #require($0) }
        try #require(types.count == 14 && rows.count > 20)
        let attributes = try types.enumerated().map {
            AttributeDefinition("a\($0)", try Self.attribute($1), optional: true)
        }
        let epoch = try #require(types.firstIndex(of: "epoch"))
        let bed = try thing(
            attributes,
            EntityMapping(
                fields: ["a\(epoch)": FieldRules(dates: [.epoch(.seconds)])], rules: FieldRules(coercion: mode)))
        var proven = 0
        for (number, row) in rows.enumerated().dropFirst() {
            let json = try #require(row[0])
            let body = types.indices.map { #""a\#($0)":\#(json)"# }.joined(separator: ",")
            let report = try bed.take(#"[{"id":\#(number),\#(body)}]"#, "Thing")
            let refused = Set(report.diagnostics.compactMap(\.field))
            #expect(report.diagnostics.allSatisfy { $0.code == .valueType }, "\(json)")
            for (index, type) in types.enumerated() {
                let value = try bed.value("Thing", Int64(number), "a\(index)")
                var text: String?
                if let value {
                    var json = ""
                    value.appendJSON(to: &json)
                    text = json
                    #expect(Self.hasType(value, attributes[index].type), "\(mode) \(type) from \(json): \(value)")
                }
                #expect(text == row[index + 1], "\(mode) \(type) from \(json)")
                #expect(refused.contains("a\(index)") == (row[index + 1] == nil), "\(mode) \(type) from \(json)")
                proven += 1
            }
        }
        #expect(proven >= (rows.count - 2) * types.count)
    }

    @Test("every value of the page's table of dates is the point in time that stands beside it")
    func everyDate() throws {
        let rows = try Self.table("format", below: "## Dates").dropFirst()
        #expect(rows.count > 40)
        for row in rows {
            let text = try #require(row[0]), json = try #require(row[1])
            let bed = try thing(
                [AttributeDefinition("v", .date, optional: true)],
                EntityMapping(fields: ["v": FieldRules(dates: [try DateFormat(text)])]))
            let report = try bed.take(#"[{"id":1,"v":\#(json)}]"#, "Thing")
            let expected = row[2]
            guard case .date(let moment)? = try bed.value("Thing", 1, "v") else {
                #expect(expected == nil && report.diagnostics.map(\.code) == [.valueType], "\(text) from \(json)")
                continue
            }
            #expect(moment.description == expected, "\(text) from \(json)")
        }
    }

    @Test("formats are tried in their order; in the strict mode nothing else is, and no text is taken for a number")
    func formatOrder() throws {
        func value(_ formats: [DateFormat], _ mode: CoercionMode, _ json: String) throws -> String? {
            let bed = try thing(
                [AttributeDefinition("v", .date, optional: true)],
                EntityMapping(fields: ["v": FieldRules(coercion: mode, dates: formats)]))
            try bed.take(#"[{"id":1,"v":\#(json)}]"#, "Thing")
            guard case .date(let moment)? = try bed.value("Thing", 1, "v") else { return nil }
            return moment.description
        }
        let monthFirst = try DateFormat("MM/dd/yyyy"), dayFirst = try DateFormat("dd/MM/yyyy")
        for mode in CoercionMode.allCases {
            #expect(try value([monthFirst, dayFirst], mode, #""02/03/2026""#) == "2026-02-03T00:00:00Z")
            #expect(try value([dayFirst, monthFirst], mode, #""02/03/2026""#) == "2026-03-02T00:00:00Z")
            #expect(try value([monthFirst, dayFirst], mode, #""21/03/2026""#) == "2026-03-21T00:00:00Z")
            #expect(try value([.epoch(.seconds), .rfc3339], mode, "5") == "1970-01-01T00:00:05Z")
        }
        let rfc = #""2026-11-21T02:19:00Z""#
        #expect(try value([dayFirst], .lenient, rfc) == "2026-11-21T02:19:00Z")
        #expect(try value([dayFirst], .strict, rfc) == nil)
        #expect(try value([.epoch(.seconds)], .strict, rfc) == nil)
        #expect(try value([.epoch(.seconds)], .strict, #""5""#) == nil)
        #expect(try value([.epoch(.seconds)], .lenient, #""5""#) == "1970-01-01T00:00:05Z")
        #expect(try value([.epoch(.seconds), .rfc3339], .strict, rfc) == "2026-11-21T02:19:00Z")
        #expect(try value([.rfc3339], .strict, #""2026-11-21 02:19:00Z""#) == nil)
        #expect(try value([.epoch(.seconds), .rfc3339], .strict, #""5""#) == nil)
    }

    @Test("the nearest declaration counts: the attribute's, then the entity's, then the API's")
    func nearestDeclaration() throws {
        func taken(_ api: CoercionMode?, _ entity: CoercionMode?, _ field: CoercionMode?) throws -> Bool {
            let bed = try TestStore(
                Schema([
                    EntityDefinition(
                        "Thing", key: ["id"],
                        attributes: [AttributeDefinition("id", .int), AttributeDefinition("v", .int, optional: true)])
                ]),
                Mapping(
                    entities: [
                        "Thing": EntityMapping(
                            fields: ["v": FieldRules(coercion: field)], rules: FieldRules(coercion: entity))
                    ], rules: FieldRules(coercion: api)))
            let report = try bed.take(#"[{"id":"1","v":"7"}]"#, "Thing")
            #expect(report.diagnostics.allSatisfy { $0.field == "v" })
            // A key is always taken leniently, in the key and in the record.
            #expect(try bed.value("Thing", 1, "id") == .int(1))
            return try bed.value("Thing", 1, "v") == .int(7)
        }
        #expect(try taken(nil, nil, nil))
        #expect(try !taken(.strict, nil, nil))
        #expect(try taken(.strict, .lenient, nil))
        #expect(try !taken(.strict, .lenient, .strict))
        #expect(try taken(.strict, .strict, .lenient))
    }

    @Test(
        "a pattern that could not be read, or that leaves the day open, is refused with the way out",
        arguments: [
            ("yyyy-MM", "missing day (d)"), ("MM-dd", "missing year (y)"),
            ("yyyy-MM-dd Q", "unknown date field Q"),
            ("yyyy-MM-ddTHH", "unknown date field T"), ("yyyy-MM-dd'T", "unterminated quote"),
            ("yyyy-MM-dd hh:mm", "h and a must be used together"),
            ("yyyy-MM-dd HH:mm a", "h and a must be used together"), ("yyyy-MM-dd yy", "y repeats another field"),
            ("yyyy-MM-dd HH hh a", "h repeats another field"), ("yyyyy-MM-dd", "unknown date field yyyyy"),
            ("", "missing year"),
            ("second", "unknown date field"),
        ])
    func wrongPatterns(_ pattern: String, _ expected: String) {
        do {
            _ = try DateFormat(pattern)
            Issue.record("\(pattern) was taken")
        } catch {
            #expect(error.description.contains(expected), "\(error)")
        }
    }

    @Test(
        "no text makes a date format read beyond its end or trap: random texts of the characters that dates are made of"
    )
    func randomTexts() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("ImportValuesPageTests.randomTexts: seed \(seed)")
        var random = SplitMix(state: seed)
        let formats =
            try DateFormat.words.map { try DateFormat($0) } + [
                try DateFormat("EEE MMM dd HH:mm:ss.S Z yyyy"), try DateFormat("MMMM d, yyyy 'at' h:mm a"),
            ]
        let bed = try thing(
            [AttributeDefinition("v", .date, optional: true)], EntityMapping(fields: ["v": FieldRules(dates: formats)]))
        let characters = Array("0123456789-:TtZz+ .,/GMTSatNovamp")
        let models = [
            "2026-11-21T02:19:00.25+01:00", "Sat, 21 Nov 2026 02:19:00 GMT", "-1700000000.5",
            "November 1, 2026 at 1:05 PM",
        ]
        for round in 0..<60 {
            let things = (0..<50).map { number -> String in
                var text = Array(models[Int(random.next() % UInt64(models.count))])
                for _ in 0..<random.next() % 4 {
                    let place = Int(random.next() % UInt64(text.count + 1)),
                        character = characters[Int(random.next() % UInt64(characters.count))]
                    switch random.next() % 3 {
                    case 0: text.insert(character, at: place)
                    case 1: if place < text.count { text[place] = character }
                    default: text = Array(text.prefix(place))
                    }
                }
                return #"{"id":\#(round * 50 + number),"v":"\#(String(text))"}"#
            }
            let report = try bed.take("[" + things.joined(separator: ",") + "]", "Thing")
            #expect(report.created == 50, "seed \(seed)")
        }
    }

    @Test("every code of a diagnostic has its line on the page, and the page has no other")
    func everyCodeIsExplained() throws {
        let rows = try Self.table("code", below: "## Diagnostics").dropFirst()
        #expect(Set(rows.compactMap { $0[0] }) == Set(Diagnostic.Code.allCases.map(\.rawValue)))
        #expect(rows.allSatisfy { ($0[1]?.count ?? 0) > 10 })
    }

    private struct SplitMix {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }
    }
}
