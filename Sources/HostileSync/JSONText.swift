// JSON of a hostile server: records of the description with values that break parsers.

struct JSONText {
    private(set) var bytes: [UInt8] = []
    private var budget: Int

    /// - Parameter budget: The approximate maximum size in bytes.
    init(budget: Int) { self.budget = budget }

    private mutating func put(_ text: String) { bytes += text.utf8 }

    /// Generates a document: a list, or an envelope with the fields that paginations read.
    static func document(_ chance: inout Chance, page: Int) -> [UInt8] {
        var text = JSONText(budget: chance.once(in: 400) ? 4 << 20 : chance.once(in: 20) ? 256 << 10 : 8 << 10)
        switch chance.below(40) {
        case 0: text.nest(&chance)
        case 1: text.value(&chance, depth: 0)
        case 2: break
        case 3: text.flood(&chance)
        case 4...12: text.list(&chance, page: page)
        default: text.envelope(&chance, page: page)
        }
        return text.bytes
    }

    /// Appends deeply nested brackets.
    private mutating func nest(_ chance: inout Chance) {
        let depth = chance.one(of: [100, 1000, 1023, 1024, 1025, 5000, 100_000, 1_000_000]),
            (open, close) = chance.one(of: [("[", "]"), (#"{"items":"#, "}"), (#"[{"a":"#, "}]")])
        for _ in 0..<depth { put(open) }
        if chance.once(in: 2) { put("1") }
        if !chance.once(in: 3) { for _ in 0..<depth { put(close) } }
    }

    /// Appends as many values as possible in little text.
    private mutating func flood(_ chance: inout Chance) {
        let part = chance.one(of: [
            "[],", "{},", "0,", "\"\",", #"{"id":1},"#, #"{"":{}},"#, #"{"id":"","tags":[1,2,3]},"#, "1e1,", "[[]],",
        ])
        let count = min(budget, chance.one(of: [1000, 10_000, 1_000_000]))
        put("[")
        for _ in 0..<count / part.utf8.count { put(part) }
        put("0]")
    }

    private mutating func envelope(_ chance: inout Chance, page: Int) {
        put("{\"items\":")
        list(&chance, page: page)
        for key in ["next", "next_cursor", "has_more", "total", "total_pages", "meta", "count"] where chance.once(in: 2)
        {
            put(",\"\(key)\":")
            switch key {
            case "next" where !chance.once(in: 4):
                string(
                    chance.one(of: [
                        "?page=\(page + 1)", "/items?page=\(page + 1)", "", "//", "http://[", "javascript:1",
                        "?" + String(repeating: "x", count: chance.length(200_000)),
                    ]), &chance)
            case "next_cursor" where !chance.once(in: 4): put("\"c\(page)\"")
            case "has_more" where !chance.once(in: 4): put(chance.once(in: 2) ? "true" : "false")
            case "meta": put("{\"total\":\(chance.below(100)),\"next_cursor\":\"\(page)\"}")
            default: value(&chance, depth: 1)
            }
        }
        put("}")
    }

    private mutating func list(_ chance: inout Chance, page: Int) {
        put("[")
        let count = chance.length(100_000), start = chance.below(50)
        for number in 0..<count where budget > bytes.count {
            if number > 0 { put(",") }
            if chance.once(in: 50) {
                value(&chance, depth: 0)
            } else {
                record(&chance, id: start + number + page * 100, depth: 0)
            }
        }
        put("]")
    }

    private mutating func record(_ chance: inout Chance, id: Int, depth: Int) {
        put("{\"id\":")
        if chance.once(in: 12) {
            value(&chance, depth: depth + 1)
        } else {
            put(chance.once(in: 30) ? JSONText.number(&chance) : "\(id)")
        }
        let keys = [
            "name", "count", "size", "price", "ratio", "flag", "at", "stamp", "uid", "link", "kind", "raw", "blob",
            "list", "owner", "tags", "parent", "children", "owner_id",
        ]
        for key in keys where chance.once(in: 3) {
            put(",\"\(key)\":")
            switch key {
            case "name" where !chance.once(in: 5): put("\"item \(id)\"")
            case "owner", "parent", "owner_id":
                if depth < 4, chance.once(in: 2) {
                    record(&chance, id: chance.below(20), depth: depth + 1)
                } else {
                    put("\(chance.below(20))")
                }
            case "tags", "children", "list":
                put("[")
                for index in 0..<chance.length(300) {
                    if index > 0 { put(",") }
                    if depth < 3, chance.once(in: 3) {
                        record(&chance, id: chance.below(50), depth: depth + 1)
                    } else {
                        put("\(chance.below(100))")
                    }
                }
                put("]")
            default: value(&chance, depth: depth + 1)
            }
        }
        if chance.once(in: 6) {
            put(",")
            string(JSONText.text(&chance), &chance)
            put(":")
            value(&chance, depth: depth + 1)
        }
        put("}")
    }

    private mutating func value(_ chance: inout Chance, depth: Int) {
        guard depth < 40, bytes.count < budget else { return put("null") }
        switch chance.below(12) {
        case 0: put("null")
        case 1: put(chance.once(in: 2) ? "true" : "false")
        case 2...4: put(JSONText.number(&chance))
        case 5, 6:
            let isObject = chance.once(in: 2)
            put(isObject ? "{" : "[")
            for index in 0..<chance.length(40) {
                if index > 0 { put(",") }
                if isObject {
                    string(chance.one(of: ["id", "a", "", "name", JSONText.text(&chance)]), &chance)
                    put(":")
                }
                value(&chance, depth: depth + 1)
            }
            put(isObject ? "}" : "]")
        default: string(JSONText.text(&chance), &chance)
        }
    }

    private mutating func string(_ text: String, _ chance: inout Chance) {
        put("\"")
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: put("\\u00" + (byte < 16 ? "0" : "1") + String(byte & 15, radix: 16))
            default: bytes.append(byte)
            }
        }
        if chance.once(in: 30) {
            put(
                chance.one(of: ["\\ud800", "\\udc00", "\\u0000", "\\ud83d\\ude00", "\\uffff", "\\u202e", "\\u001b[2J"]))
        }
        put("\"")
    }

    /// Generates a number at or beyond the limits of a type.
    static func number(_ chance: inout Chance) -> String {
        switch chance.below(6) {
        case 0: String(Int64(truncatingIfNeeded: chance.next()))
        case 1: chance.one(of: ["", "-"]) + "1" + String(repeating: "0", count: chance.length(30_000))
        case 2:
            "0." + String(repeating: "3", count: chance.length(3000)) + "1e" + chance.one(of: ["", "-", "+"])
                + "\(chance.length(100_000))"
        default:
            chance.one(of: [
                "0", "-0", "-1", "2147483647", "2147483648", "-2147483649", "9007199254740993", "9223372036854775807",
                "9223372036854775808",
                "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e308",
                "1e309", "-1e999", "5e-324",
                "1e-400", "0.1", "1.0", "1E+2", "253402300800", "253402300800000", "99999999999999999999",
                "123456789012345678901234567890.5", "1e2147483648",
                "1e-9223372036854775809",
            ])
        }
    }

    /// Generates a text with a special meaning for some parser.
    static func text(_ chance: inout Chance) -> String {
        switch chance.below(8) {
        case 0: number(&chance)
        case 1:
            String(
                repeating: chance.one(of: ["a", "\u{301}", "😀", "\u{0}", " ", "[", "%", "\u{202E}"]),
                count: chance.length(100_000))
        case 2:
            chance.one(of: [
                "2026-01-02T03:04:05Z", "9999-12-31T23:59:60.999999999Z", "0000-00-00T00:00:00Z", "0000-01-01",
                "2026-02-30", "-292277-01-01T00:00:00Z",
                "2026-01-02T03:04:05+99:99", "2026-01-02T03:04:05.\(String(repeating: "9", count: 400))Z",
                "Sun, 06 Nov 1994 08:49:37 GMT", "24:00:00",
            ])
        case 3:
            chance.one(of: [
                "123e4567-e89b-12d3-a456-426614174000", "{123e4567}", "http://h/%zz", "http://[::1", "AAAA", "A===",
                "open", "Open",
            ])
        case 4:
            String(
                String.UnicodeScalarView(
                    (0..<chance.length(40)).compactMap { _ in
                        Unicode.Scalar(UInt32(truncatingIfNeeded: chance.next()) & 0x1FFFF)
                    }))
        default:
            chance.one(of: [
                "", "x", "name", "id", "null", "true", "-", ".", "\u{1B}[31m", "\r\n", "a.b", "$ref", "__proto__", "ﬀ",
                "İ", "ß",
            ])
        }
    }
}
