// The textual form of conditions and orders: its meaning, round trips, and robustness.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Query text")
struct QueryTextTests {
    private static let id = UUID(uuidString: "002b70a6-f2a9-44fd-83e4-a8caf75c7d66") ?? UUID()

    @Test(
        "every form has its condition",
        arguments: [
            ("all", .all),
            ("state = open", .compare("state", .equal, .string("open"))),
            ("state=open", .compare("state", .equal, .string("open"))),
            ("state == 'open'", .compare("state", .equal, .string("open"))),
            ("a != 1", .compare("a", .notEqual, .int(1))),
            ("a<>1", .compare("a", .notEqual, .int(1))),
            ("a<-1", .compare("a", .less, .int(-1))),
            ("a <= 1.50", .compare("a", .lessOrEqual, decimal("1.5"))),
            ("a >1e3", .compare("a", .greater, decimal("1000"))),
            ("a >= 18446744073709551615", .compare("a", .greaterOrEqual, .uint(.max))),
            ("a = 9223372036854775807", .compare("a", .equal, .int(.max))),
            ("a = -9223372036854775808", .compare("a", .equal, .int(.min))),
            ("a = 9223372036854775808", .compare("a", .equal, .uint(1 << 63))),
            ("a = 123456789012345678901234567890", .compare("a", .equal, decimal("123456789012345678901234567890"))),
            ("a = 0.1000000000000000000000000001", .compare("a", .equal, decimal("0.1000000000000000000000000001"))),
            ("a = 007", .compare("a", .equal, .string("007"))),
            ("a = 2026-01-02T03:04:05Z", .compare("a", .equal, .string("2026-01-02T03:04:05Z"))),
            ("a = TRUE or a = False", .or([.compare("a", .equal, .bool(true)), .compare("a", .equal, .bool(false))])),
            ("a = null", .compare("a", .equal, .null)),
            ("a in (1, 'x', y)", .isIn("a", [.int(1), .string("x"), .string("y")])),
            ("a in ()", .isIn("a", [])),
            ("a NOT IN (1)", .not(.isIn("a", [.int(1)]))),
            ("a between 1 and 2 and b = 3", .and([.between("a", .int(1), .int(2)), .compare("b", .equal, .int(3))])),
            ("a not between 1 and 2", .not(.between("a", .int(1), .int(2)))),
            ("a begins with x", .hasPrefix("a", "x")),
            ("a Begins With 12", .hasPrefix("a", "12")),
            ("a not begins with \"x y\"", .not(.hasPrefix("a", "x y"))),
            ("a contains \"b\"", .contains("a", .string("b"))),
            ("a not contains 1", .not(.contains("a", .int(1)))),
            ("any contains 12 and ANY Contains 'x y'", .and([any("12"), any("x y")])),
            ("any not contains x or nocase(any) contains X", .or([.not(any("x")), any("X", true)])),
            ("nocase(any) not contains x", .not(any("x", true))),
            ("any = 1 and any in (any)", .and([eq("any", 1), .isIn("any", [.string("any")])])),
            ("`any` contains 1", .contains("any", .int(1))),
            ("a like \"50\\\\%_\"", .like("a", "50\\%_")),
            ("a not like 'b%'", .not(.like("a", "b%"))),
            ("a is missing", .isMissing("a")),
            ("a is not missing", .not(.isMissing("a"))),
            ("not a is missing", .not(.isMissing("a"))),
            ("not not a=1", .not(.not(.compare("a", .equal, .int(1))))),
            ("author.login = ada", .compare("author.login", .equal, .string("ada"))),
            (
                "nocase(author.login) = ADA",
                .compare(FieldPath("author.login", ignoringCase: true), .equal, .string("ADA"))
            ),
            ("`order`.`a.b`.`c``d` = 1", .compare(FieldPath(["order", "a.b", "c`d"]), .equal, .int(1))),
            ("`in` in (1)", .isIn("in", [.int(1)])),
            ("größe = 1", .compare("größe", .equal, .int(1))),
            ("board = [\"acme\", 12]", .compare("board", .equal, .array([.string("acme"), .int(12)]))),
            ("board = key(acme, 12)", .compare("board", .equal, .reference(RecordKey([.string("acme"), .int(12)])))),
            (
                "board in (key(1), key(uuid('002b70a6-f2a9-44fd-83e4-a8caf75c7d66')))",
                .isIn("board", [.reference(RecordKey(1)), .reference(RecordKey(id))])
            ),
            (
                "a = double(1.5) or a = double(nan)",
                .or([.compare("a", .equal, .double(1.5)), .compare("a", .notEqual, .double(1))])
            ),
            (
                "a = date(\"2026-01-02\")",
                .compare("a", .equal, .date(Timestamp("2026-01-02T00:00:00Z") ?? Timestamp(microseconds: 0)))
            ),
            (
                // As it is shown.
                "a in (date(\"+010000-01-01T00:00:00Z\"), date(\"+010000-01-02\"))",
                .isIn("a", [253_402_300_800, 253_402_387_200].map { .date(Timestamp(clampingSeconds: $0)) })
            ),
            ("a = bytes('AQID')", .compare("a", .equal, .bytes([1, 2, 3]))),
            ("a = \"\\u00e9\\ud83d\\ude00\\n\\\"\\'\\/\"", .compare("a", .equal, .string("\u{E9}😀\n\"'/"))),
            ("a = 1 or b = 2 and c = 3", .or([eq("a", 1), .and([eq("b", 2), eq("c", 3)])])),
            ("(a = 1 or b = 2) and c = 3", .and([.or([eq("a", 1), eq("b", 2)]), eq("c", 3)])),
            ("not a = 1 and b = 2", .and([.not(eq("a", 1)), eq("b", 2)])),
            ("not (a = 1 and b = 2)", .not(.and([eq("a", 1), eq("b", 2)]))),
            ("a = 1\n\tAND b = 2", .and([eq("a", 1), eq("b", 2)])),
            ("((((a = 1))))", eq("a", 1)),
        ] as [(String, Condition)])
    func forms(text: String, condition: Condition) throws {
        let parsed = try Condition(text: text)
        guard !text.contains("nan") else {
            guard case .or(let parts) = parsed, case .compare(_, .equal, .double(let x))? = parts.last else {
                Issue.record("\(parsed)")
                return
            }
            #expect(x.isNaN)
            return
        }
        #expect(parsed == condition)
        #expect(try Condition(text: parsed.text) == condition, "\(parsed.text)")
    }

    private static func eq(_ path: FieldPath, _ value: Int64) -> Condition { .compare(path, .equal, .int(value)) }
    private static func any(_ text: String, _ ignoresCase: Bool = false) -> Condition {
        .anyContains(text, ignoringCase: ignoresCase)
    }
    private static func decimal(_ text: String) -> Value { ExactDecimal(text).map(Value.decimal) ?? .null }

    @Test("an order is paths with commas, each ascending unless it says desc")
    func orders() throws {
        #expect(try [Query.Order](text: "") == [])
        #expect(try [Query.Order](text: "updatedAt desc, number") == [.descending("updatedAt"), .ascending("number")])
        #expect(
            try [Query.Order](text: " author.login ASC,desc DESC , nocase(`or`)") == [
                .ascending("author.login"), .descending("desc"), .ascending(FieldPath("or", ignoringCase: true)),
            ])
        let orders: [Query.Order] = [.descending("a.b"), .ascending(FieldPath(["x y", "null"], ignoringCase: true))]
        #expect(orders.text == "a.b desc, nocase(`x y`.`null`)")
        #expect(try [Query.Order](text: orders.text) == orders)
    }

    @Test("a condition without a text of its own is written as one that means the same")
    func canonicalText() {
        #expect(Condition.and([]).text == "all")
        #expect(Condition.or([]).text == "not all")
        #expect(Condition.and([.or([QueryTextTests.eq("a", 1)])]).text == "a = 1")
        #expect(Condition.not(.and([QueryTextTests.eq("a", 1)])).text == "not a = 1")
        #expect("\(Condition.not(.or([QueryTextTests.eq("a", 1), .isMissing("b")])))" == "not (a = 1 or b is missing)")
    }

    // MARK: - Random conditions and random texts

    @Test("a random condition is read back from its text as it was", arguments: [1, 2, 3, 4] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var random = RandomCondition(seed: seed)
        for _ in 0..<2500 {
            let condition = random.condition(depth: 4)
            let text = condition.text
            #expect(try Condition(text: text) == condition, "seed \(seed): \(text)")
            let orders = random.orders()
            #expect(try [Query.Order](text: orders.text) == orders, "seed \(seed): \(orders.text)")
        }
    }

    @Test(
        "no text, however it is broken, ends the process; what is refused has a column in the text",
        arguments: [11, 12, 13, 14] as [UInt64])
    func brokenTexts(seed: UInt64) throws {
        var random = RandomCondition(seed: seed), refused = 0, accepted = 0
        let catalog = try Catalog().applying(Forge.schema).catalog
        for round in 0..<3000 {
            var bytes = round % 3 == 0 ? random.bytes(upTo: 40) : Array(random.condition(depth: 3).text.utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random.generator) { random.mutate(&bytes) }
            let text = String(decoding: bytes, as: UTF8.self)
            switch result({ () throws(QueryTextError) in try Condition(text: text) }) {
            case .success(let condition):
                accepted += 1
                // An accepted condition has a text again, with the same meaning.
                #expect(try Condition(text: condition.text).text == condition.text, "seed \(seed): \(text)")
            case .failure(let error):
                refused += 1
                #expect(
                    (1...text.count + 1).contains(error.column) && error.column + error.length <= text.count + 1,
                    "seed \(seed): \(text)")
                #expect(
                    error.description.split(separator: "\n", omittingEmptySubsequences: false).count == 3,
                    "seed \(seed): \(error)")
            }
            let fields = try TextFields(text, "Issue", catalog)
            let checked = result { () throws(QueryTextError) in try ParsedCondition(text).condition(fields) }
            if case .failure(let error) = checked { #expect((1...text.count + 1).contains(error.column)) }
            let order = result { () throws(QueryTextError) in try [Query.Order](text: text) }
            if case .failure(let error) = order { #expect((1...text.count + 1).contains(error.column)) }
        }
        #expect(refused > 300 && accepted > 300, "seed \(seed): \(refused) refused, \(accepted) accepted")
    }

    private func result<Success>(_ body: () throws(QueryTextError) -> Success) -> Result<Success, QueryTextError> {
        do throws(QueryTextError) { return .success(try body()) } catch { return .failure(error) }
    }

    @Test("a path of 200 names is read, of 201 it is refused with the place, and of 100,000 as well")
    func pathLength() throws {
        func text(_ names: Int) -> String { Array(repeating: "a", count: names).joined(separator: ".") + " = 1" }
        _ = try Condition(text: text(200))
        for names in [201, 100_000] {
            let error = #expect(throws: QueryTextError.self) { try Condition(text: text(names)) }
            #expect(error?.message.hasPrefix("a path of more than 200 names") == true)
            #expect(error?.column == 401)
        }
    }

    @Test("200 levels are read, 201 are refused with the place, and 100,000 as well")
    func depth() throws {
        for (open, close) in [("(", ")"), ("not ", ""), ("(not ", ")")] {
            func text(_ levels: Int) -> String {
                String(repeating: open, count: levels) + "a = 1" + String(repeating: close, count: levels)
            }
            let perLevel = open == "(not " ? 2 : 1
            _ = try Condition(text: text(200 / perLevel))
            for levels in [200 / perLevel + 1, 100_000] {
                let error = #expect(throws: QueryTextError.self) { try Condition(text: text(levels)) }
                #expect(error?.message.hasPrefix("nested more than 200 levels deep") == true)
                #expect(error?.column == 200 / perLevel * open.utf8.count + 1)
            }
        }
        let lists = "a = " + String(repeating: "[", count: 100_000)
        #expect(#expect(throws: QueryTextError.self) { try Condition(text: lists) }?.column == 205)
        let long = #expect(throws: QueryTextError.self) {
            try Condition(text: "a = \"" + String(repeating: "x", count: 1 << 20) + "\"")
        }
        #expect(long?.message.hasPrefix("text longer than 1048576 bytes") == true)
        // Wide is not deep.
        let wide = try Condition(text: (0..<20_000).map { "a = \($0)" }.joined(separator: " or "))
        guard case .or(let parts) = wide else {
            Issue.record("no list of alternatives")
            return
        }
        #expect(parts.count == 20_000)
    }
}

/// Conditions that have a text of their own, and bytes that have none.
struct RandomCondition {
    var generator: SeededRandom

    init(seed: UInt64) { generator = SeededRandom(seed: seed) }

    private mutating func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &generator) == 0 }
    private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &generator)] }

    mutating func string() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            text += pick([
                "a", "Z", "0", " ", "\"", "'", "`", "\\", "%", "_", "\n", "\u{0}", "\u{7F}", "é", "e\u{301}", "😀", "(",
                ")", ",", "=", ".",
            ])
        }
        return text
    }

    private mutating func name() -> String {
        chance(3)
            ? pick(["in", "Not", "null", "a.b", "c`d", "x y", "", "1st", "größe", "-", "``"])
                + (chance(2) ? string() : "") : pick(["a", "state", "author", "_1", "updatedAt"])
    }

    mutating func path() -> FieldPath {
        FieldPath((0..<Int.random(in: 1...3, using: &generator)).map { _ in name() }, ignoringCase: chance(5))
    }

    mutating func orders() -> [Query.Order] {
        (0..<Int.random(in: 0...3, using: &generator)).map { _ in Query.Order(path(), descending: chance(2)) }
    }

    private mutating func decimal() -> Value {
        let digits = String((0..<Int.random(in: 1...30, using: &generator)).map { _ in pick(Array("0123456789")) })
        let number = ExactDecimal(
            (chance(2) ? "-" : "") + digits + (chance(2) ? "." + digits : "")
                + (chance(3) ? "e\(Int.random(in: -50...50, using: &generator))" : ""))
        return number.map(Value.decimal) ?? .null
    }

    private mutating func uuid() -> UUID {
        UUID(uuid: withUnsafeBytes(of: (generator.next(), generator.next())) { $0.loadUnaligned(as: uuid_t.self) })
    }

    private mutating func key() -> RecordKey {
        RecordKey(
            (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: .int(Int64(bitPattern: generator.next()))
                case 1: .string(string())
                default: .uuid(uuid())
                }
            })
    }

    mutating func value(nested: Bool = true) -> Value {
        switch Int.random(in: 0..<(nested ? 15 : 12), using: &generator) {
        case 0: return .null
        case 1: return .bool(chance(2))
        case 2: return .int(pick([0, 1, -1, .max, .min, Int64(bitPattern: generator.next())]))
        case 3: return .uint(generator.next() | 1 << 63)
        case 4:
            return .double(
                pick([
                    0, -0.0, 1.5, .infinity, -.infinity, .leastNonzeroMagnitude, 1e300,
                    Double(Int64(bitPattern: generator.next())),
                ]))
        case 5: return decimal()
        case 6: return .string(string())
        case 7: return .bytes(bytes(upTo: 5))
        case 8:
            return .date(
                Timestamp(microseconds: pick([0, 1, -1, .max, .min, Int64(bitPattern: generator.next()) >> 12])))
        case 9: return .uuid(uuid())
        case 10: return .url(string())
        case 11: return .json(string())
        case 12: return .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(nested: false) })
        case 13: return .reference(key())
        default: return .references((0..<Int.random(in: 0...3, using: &generator)).map { _ in key() })
        }
    }

    mutating func condition(depth: Int) -> Condition {
        let choice = Int.random(in: 0..<(depth > 0 ? 14 : 8), using: &generator)
        switch choice {
        case 0: return .all
        case 1: return .compare(path(), pick(Condition.Comparison.allCases), value())
        case 2: return .isIn(path(), (0..<Int.random(in: 0...4, using: &generator)).map { _ in value() })
        case 3: return .between(path(), value(), value())
        case 4: return .hasPrefix(path(), string())
        case 5: return .contains(path(), value())
        case 6: return .like(path(), string())
        case 7:
            return Bool.random(using: &generator)
                ? .isMissing(path()) : .anyContains(string(), ignoringCase: Bool.random(using: &generator))
        case 8, 9: return .not(condition(depth: depth - 1))
        case 10, 11:
            return .and((0..<Int.random(in: 2...4, using: &generator)).map { _ in condition(depth: depth - 1) })
        default: return .or((0..<Int.random(in: 2...4, using: &generator)).map { _ in condition(depth: depth - 1) })
        }
    }

    mutating func bytes(upTo count: Int) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    mutating func mutate(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 1:
            bytes.insert(
                contentsOf: pick([
                    "(", ")", " not ", " and ", "\"", "\\u", "`", ",", " in (", "key(", "nocase(", "=", ".",
                ]).utf8, at: place)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...4, using: &generator)))
        default: if place < bytes.count { bytes[place] = pick(Array("()[]\"'`\\=<>!,. a0".utf8)) }
        }
    }
}
