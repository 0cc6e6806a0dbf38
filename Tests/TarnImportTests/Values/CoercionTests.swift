// From JSON to values, type by type: the whole table, and the edges of each type.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: coercion")
struct CoercionTests {
    private static let id = "0b0e8f5c-6b0f-4a57-9c1e-0d8a3f1f2a3b"
    private static let uuid = UUID(uuidString: id) ?? UUID()

    /// JSON of every kind, in the order of the columns of `table`.
    static let columns = [
        "true", "false", "0", "1", "-3", "2.5", "3.0", "18446744073709551615", #""text""#, #""7""#, #""2.5""#,
        #""true""#,
        #""2026-11-21T02:19:00Z""#, #""\#(id)""#, #""""#, "{}", "[]",
    ]

    private static let moment = Timestamp("2026-11-21T02:19:00Z").map(Value.date)

    /// For every type, the result of each column; nil is a diagnostic.
    static let table: [(AttributeType, [Value?])] = [
        (
            .bool,
            [
                .bool(true), .bool(false), .bool(false), .bool(true), nil, nil, nil, nil, nil, nil, nil, .bool(true),
                nil,
                nil,
                nil, nil, nil,
            ]
        ),
        (
            .int,
            [nil, nil, .int(0), .int(1), .int(-3), nil, .int(3), nil, nil, .int(7), nil, nil, nil, nil, nil, nil, nil]
        ),
        (
            .uint,
            [
                nil, nil, .int(0), .int(1), nil, nil, .int(3), .uint(.max), nil, .int(7), nil, nil, nil, nil, nil, nil,
                nil,
            ]
        ),
        (
            .double,
            [
                nil, nil, .double(0), .double(1), .double(-3), .double(2.5), .double(3), .double(0x1p64), nil,
                .double(7),
                .double(2.5), nil, nil, nil, nil, nil, nil,
            ]
        ),
        (
            .string,
            [
                nil, nil, .string("0"), .string("1"), .string("-3"), .string("2.5"), .string("3.0"),
                .string("18446744073709551615"), .string("text"), .string("7"), .string("2.5"), .string("true"),
                .string("2026-11-21T02:19:00Z"), .string(id), .string(""), nil, nil,
            ]
        ),
        (.date, [nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, moment, nil, nil, nil, nil]),
        (.uuid, [nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, .uuid(uuid), nil, nil, nil]),
        (
            .url,
            [
                nil, nil, nil, nil, nil, nil, nil, nil, .url("text"), .url("7"), .url("2.5"), .url("true"),
                nil, .url(id), nil, nil, nil,
            ]
        ),
        (.json, columns.map { .json($0) }),
        (
            .enumeration(["text", "7", "other"]),
            [nil, nil, nil, nil, nil, nil, nil, nil, .string("text"), .string("7"), nil, nil, nil, nil, nil, nil, nil]
        ),
        (.array(.int), [nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, .array([])]),
    ]

    @Test(
        "every attribute type takes from every kind of JSON exactly what the table says, and reports the rest",
        arguments: table.indices)
    func everyTypeFromEveryKind(_ row: Int) throws {
        let (type, expected) = Self.table[row]
        try #require(expected.count == Self.columns.count)
        let bed = try thing([AttributeDefinition("v", type)])
        for (json, expected) in zip(Self.columns, expected) {
            try expect(bed, json, expected, "\(type)")
        }
    }

    private func expect(_ bed: TestStore, _ json: String, _ expected: Value?, _ label: String) throws {
        let key = Int64(try bed.count("Thing") + 1)
        let report = try bed.take(#"[{"id":\#(key),"v":\#(json)}]"#, "Thing")
        #expect(try bed.value("Thing", key, "v") == expected, "\(label) from \(json)")
        if expected == nil {
            #expect(report.diagnostics.map(\.code) == [.valueType], "\(label) from \(json)")
            #expect(report.diagnostics.first?.path == "$[0].v")
            #expect(report.diagnostics.first?.field == "v" && report.diagnostics.first?.key == "\(key)")
        } else {
            #expect(report.diagnosticCount == 0, "\(label) from \(json)")
        }
    }

    @Test("whole numbers are exact to the last bit, or refused")
    func wholeNumbers() throws {
        let int = try thing([AttributeDefinition("v", .int)])
        let uint = try thing([AttributeDefinition("v", .uint)])
        let ints: [(String, Int64?)] = [
            ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9223372036854775808", nil),
            (#""9223372036854775807""#, .max), (#""-9223372036854775808""#, .min), (#""9223372036854775808""#, nil),
            ("9007199254740993", 9_007_199_254_740_993), ("9007199254740992.0", 9_007_199_254_740_992), ("1e3", 1000),
            ("1e19", nil), ("-0", 0), ("-0.0", 0), ("0.1", nil), ("1e-400", nil),
            ("9007199254740993.0", 9_007_199_254_740_993),
            ("2.00000000000000000001", nil), ("-9223372036854775808.0", .min), ("9223372036854775807.5", nil),
            ("1e18", 1_000_000_000_000_000_000), ("0e-400", 0), ("12300e-2", 123), ("12345e-2", nil), (#""1.0""#, nil),
            (#"" 1""#, nil),
            (#""1 ""#, nil),
            (#""0x10""#, nil), (#""12px""#, nil), (#""1e3""#, nil), (#""٣""#, nil), (#""1\u0000""#, nil),
            (#""-""#, nil),
        ]
        for (json, expected) in ints { try expect(int, json, expected.map(Value.int), "int") }
        let uints: [(String, Value?)] = [
            ("18446744073709551615", .uint(.max)), (#""18446744073709551615""#, .uint(.max)),
            ("9223372036854775808", .uint(9_223_372_036_854_775_808)), ("9223372036854775807", .int(.max)), ("-1", nil),
            (#""-1""#, nil), (#""18446744073709551616""#, nil),
        ]
        for (json, expected) in uints { try expect(uint, json, expected, "uint") }
    }

    @Test("strict bytes have the padding that their length needs, no more and no less")
    func strictPadding() throws {
        let bed = try thing([AttributeDefinition("v", .bytes)], EntityMapping(rules: FieldRules(coercion: .strict)))
        let cases: [(String, Value?)] = [
            (#""ByA=""#, .bytes([7, 32])), (#""Bw==""#, .bytes([7])), (#""ByAB""#, .bytes([7, 32, 1])),
            (#""ByA==""#, nil), (#""ByA""#, nil), (#""B===""#, nil), (#""ByAB====""#, nil),
        ]
        for (json, expected) in cases { try expect(bed, json, expected, "bytes") }
    }

    @Test("doubles are finite: what overflows or is no decimal number is refused")
    func doubles() throws {
        let bed = try thing([AttributeDefinition("v", .double)])
        let cases: [(String, Double?)] = [
            ("1.7976931348623157e308", .greatestFiniteMagnitude), ("5e-324", .leastNonzeroMagnitude), ("0.1", 0.1),
            (#""-1.5E+3""#, -1500),
            (#""1e400""#, nil), (#""-1e400""#, nil), (#""nan""#, nil), (#""inf""#, nil), (#""0x1p3""#, nil),
            (#""1e""#, nil),
            (#""--1""#, nil), (#"".""#, nil), (#""1,5""#, nil),
        ]
        for (json, expected) in cases { try expect(bed, json, expected.map(Value.double), "double") }
    }

    @Test("no double is -0.0, whatever form the zero has")
    func noNegativeZero() throws {
        let bed = try thing([AttributeDefinition("v", .double), AttributeDefinition("w", .array(.double))])
        for json in ["-0", "-0.0", "-0e5", "-1e-400", #""-0""#, #""-0.0""#] {
            try bed.take(#"[{"id":1,"v":\#(json),"w":[\#(json)]}]"#, "Thing")
            #expect(try bed.value("Thing", 1, "v")?.jsonText == Value.double(0).jsonText, "\(json)")
            #expect(try bed.value("Thing", 1, "w")?.jsonText == Value.array([.double(0)]).jsonText, "\(json)")
        }
    }

    @Test("a number that is wanted as text keeps its value")
    func numbersAsText() throws {
        let bed = try thing([AttributeDefinition("v", .string)])
        for (json, text) in [
            ("0.1", "0.1"), ("-2.25", "-2.25"), ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"), ("123456.789", "123456.789"),
        ] { try expect(bed, json, .string(text), "string") }
    }

    @Test("dates are RFC 3339 with fractions and offsets; what is not is refused")
    func dates() throws {
        let bed = try thing([AttributeDefinition("v", .date)])
        let cases: [(String, Int64?)] = [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999999Z", -1),
            ("2026-11-21T02:19:00.25+01:00", 1_795_223_940_250_000),
            ("2024-02-29T00:00:00z", 1_709_164_800_000_000), ("2023-02-29T00:00:00Z", nil), ("2026-11-21", nil),
            ("2026-11-21T02:19:00", nil), ("2026-13-01T00:00:00Z", nil), ("2026-11-21T24:00:00Z", nil),
            ("1700000000", nil),
            ("Sun Aug 31 00:29:15 +0000 2014", nil), ("2026-11-21T02:19:00.Z", nil), ("2026-11-21T02:19:00Zx", nil),
        ]
        for (text, expected) in cases {
            try expect(bed, #""\#(text)""#, expected.map { .date(Timestamp(microseconds: $0)) }, "date")
        }
    }

    @Test(
        "a date with an epoch counts in its unit, with fractions, and still takes RFC 3339",
        arguments: EpochUnit.allCases)
    func epochs(_ unit: EpochUnit) throws {
        let bed = try thing([AttributeDefinition("v", .date)], EntityMapping(epochs: ["v": unit]))
        let scale: Int64 = unit == .seconds ? 1_000_000 : unit == .milliseconds ? 1000 : 1
        let cases: [(String, Int64?)] = [
            ("0", 0), ("1700000000", 1_700_000_000 * scale), ("-5", -5 * scale), (#""12""#, 12 * scale), ("1.0", scale),
            ("1.5", unit == .microseconds ? 2 : scale * 3 / 2), (#""2026-11-21T02:19:00Z""#, 1_795_227_540_000_000),
            ("9223372036854775807", unit == .microseconds ? .max : nil),
            // Times 1,000 this wraps to a positive number, which looks like a date.
            ("20000000000000000", unit == .microseconds ? 20_000_000_000_000_000 : nil), ("18446744073709551615", nil),
            ("1e300", nil),
            (#""1e400""#, nil), ("true", nil), ("[]", nil), (#""""#, nil),
        ]
        for (json, expected) in cases {
            try expect(bed, json, expected.map { .date(Timestamp(microseconds: $0)) }, "date of \(unit)")
        }
    }

    @Test("a UUID is its 36 characters in either case, and nothing around them")
    func uuids() throws {
        let bed = try thing([AttributeDefinition("v", .uuid)])
        try expect(bed, #""\#(Self.id.uppercased())""#, .uuid(Self.uuid), "uuid")
        for text in [
            Self.id + "0", " " + Self.id, "{\(Self.id)}", String(Self.id.dropLast()), Self.id.replacing("-", with: ""),
            Self.id + #"\u0000"#,
        ] {
            try expect(bed, #""\#(text)""#, nil, "uuid")
        }
    }

    @Test("URLs keep their text; what holds spaces, quotes or control characters, or Foundation does not read, is none")
    func urls() throws {
        let bed = try thing([AttributeDefinition("v", .url)])
        for text in [
            "https://a.example/é?q=1#f", "/relative", "mailto:a@b", "a%20b", "https://a.example",
            "http://a.example/b?c=d",
            "https://a.example:8080/b", "https://exämple.de/{x}#a#b", "https://a.example/100%",
        ] {
            try expect(bed, #""\#(text)""#, .url(text), "url")
        }
        for text in [
            "a b", #"a\nb"#, "<a>", #"a\"b"#, #"\u0000"#, "https://a.example:port/", "http://[::1",
            "2026-01-02T03:04:05Z",
        ] {
            try expect(bed, #""\#(text)""#, nil, "url")
        }
    }

    @Test("an enumeration compares by bytes: another spelling of the same letters is another value")
    func enumerations() throws {
        let bed = try thing([AttributeDefinition("v", .enumeration(["caf\u{E9}", "open"]))])
        try expect(bed, "\"caf\u{E9}\"", .string("caf\u{E9}"), "enum")
        try expect(bed, "\"cafe\u{301}\"", nil, "enum")
        try expect(bed, #""Open""#, nil, "enum")
    }

    @Test("a list is taken as a whole: one element of a wrong type refuses it, null elements stay")
    func lists() throws {
        let bed = try thing([AttributeDefinition("v", .array(.int))])
        try expect(bed, #"[1,"2",3.0,null]"#, .array([.int(1), .int(2), .int(3), .null]), "[int]")
        try expect(bed, #"[1,"x"]"#, nil, "[int]")
        try expect(bed, "[[1]]", nil, "[int]")
        let dates = try thing([AttributeDefinition("v", .array(.date))], EntityMapping(epochs: ["v": .seconds]))
        try expect(
            dates, "[1,2]",
            .array([.date(Timestamp(microseconds: 1_000_000)), .date(Timestamp(microseconds: 2_000_000))]),
            "[date]")
    }

    @Test("json keeps any value as compact text, keys in their order, numbers as they were written")
    func json() throws {
        let bed = try thing([AttributeDefinition("v", .json)])
        try expect(
            bed, #"{ "b" : [ 1 , -2.5 , 1e3 , true , false , null , "a\"\\\n\u0001é" ] , "a" : { } }"#,
            .json(#"{"b":[1,-2.5,1e3,true,false,null,"a\"\\\n\u0001é"],"a":{}}"#), "json")
    }

    @Test("a value of a wrong type keeps the old one, and the rest of the record is taken")
    func wrongTypeKeeps() throws {
        let bed = try thing([AttributeDefinition("v", .int), AttributeDefinition("w", .int)])
        try bed.take(#"[{"id":1,"v":5,"w":6}]"#, "Thing")
        let report = try bed.take(#"[{"id":1,"v":"five","w":7}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "v") == .int(5))
        #expect(try bed.value("Thing", 1, "w") == .int(7))
        #expect(report.updated == 1)
        let diagnostic = try #require(report.diagnostics.first)
        #expect(
            diagnostic.code == .valueType && diagnostic.entity == "Thing" && diagnostic.key == "1"
                && diagnostic.field == "v")
        #expect(diagnostic.message.contains(#"the text "five""#))
    }

    @Test("a value too long for 16-bit offsets does not disturb its neighbours")
    func wideRows() throws {
        let bed = try thing([AttributeDefinition("v", .string), AttributeDefinition("w", .int, optional: true)])
        let long = String(repeating: "y", count: 200_000)
        try bed.take(#"[{"id":1,"v":"\#(long)","w":9}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "v") == .string(long))
        #expect(try bed.value("Thing", 1, "w") == .int(9))
        #expect(try bed.take(#"[{"id":1,"v":"short"}]"#, "Thing").updated == 1)
        #expect(try bed.value("Thing", 1, "w") == .int(9))
        #expect(try bed.take(#"[{"id":1,"v":"short"}]"#, "Thing").unchanged == 1)
    }
}
