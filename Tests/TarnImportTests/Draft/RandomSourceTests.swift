// Random documents and random paths: the values of a path equal those of a simple reading, and
// nothing traps.

import TarnImport
import TarnStore
import Testing

@Suite("Import: random sources")
struct RandomSourceTests {
    private struct Dice {
        var state: UInt64

        mutating func roll(_ limit: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return Int((z ^ z >> 31) >> 33) % limit
        }

        mutating func json(_ depth: Int) -> JSONValue {
            switch roll(depth > 3 ? 4 : 8) {
            case 0: .null
            case 1: .number(["1", "-2", "1.50", "1e3", "12345678901234567890123"][roll(5)])
            case 2: .string(["", "x", "a*", "\u{0}é"][roll(4)])
            case 3: .bool(roll(2) == 0)
            case 4, 5: .array((0..<roll(4)).map { _ in json(depth + 1) })
            default: object(depth)
            }
        }

        mutating func object(_ depth: Int) -> JSONValue {
            .object(["a", "b", "*", "c.d"].filter { _ in roll(3) > 0 }.map { JSONValue.Member($0, json(depth + 1)) })
        }

        mutating func path() -> JSONPath {
            typealias Step = JSONPath.Step
            let steps: [Step] = [
                .key("a"), .key("b"), .key("*"), .key("c.d"), .each, .each, .index(0), .index(1), .index(-1),
            ]
            return JSONPath(.record, steps: [steps[roll(4)]] + (0..<roll(4)).map { _ in steps[roll(steps.count)] })
        }
    }

    /// The values of a path, read in the simplest way. Nil if there is none, as opposed to an empty
    /// list.
    private static func values(_ steps: ArraySlice<JSONPath.Step>, _ json: JSONValue) -> [JSONValue]? {
        guard let step = steps.first else { return [json] }
        switch (step, json) {
        case (.key(let key), .object): return json[key].flatMap { values(steps.dropFirst(), $0) }
        case (.index(let number), .array(let elements)):
            let index = number < 0 ? elements.count + number : number
            return elements.indices.contains(index) ? values(steps.dropFirst(), elements[index]) : nil
        case (.each, .array(let elements)): return elements.flatMap { values(steps.dropFirst(), $0) ?? [] }
        case (.each, .object(let members)): return members.flatMap { values(steps.dropFirst(), $0.value) ?? [] }
        default: return nil
        }
    }

    @Test(
        "a random path leads to what a simple reading of a random document says, as JSON and as text, and so does the same path from the parent and the root"
    )
    func paths() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("RandomSourceTests.paths: seed \(seed)")
        try paths(seed)
        // A list of nothing but null, which the root's path took for a value.
        try paths(14_211_441_782_236_679_556)
    }

    private func paths(_ seed: UInt64) throws {
        var dice = Dice(state: seed)
        for _ in 0..<150 {
            let path = dice.path(), json = dice.object(0)
            let bed = try TestStore(
                Schema([
                    EntityDefinition(
                        "Thing", key: ["id"],
                        attributes: [
                            AttributeDefinition("id", .int), AttributeDefinition("v", .json, optional: true),
                            AttributeDefinition("w", .json, optional: true),
                        ],
                        relationships: [RelationshipDefinition("inner", to: "Thing")])
                ]),
                Mapping(entities: [
                    "Thing": EntityMapping(paths: [
                        "v": [.path(path)],
                        "w": [.path(JSONPath(.root, steps: path.steps)), .path(JSONPath(.parent, steps: path.steps))],
                    ])
                ]))
            guard case .object(let members) = json else { continue }
            let document = JSONValue.object(
                members + [.init("id", .number("1")), .init("inner", .object([.init("id", .number("2"))]))])
            try bed.take(document.text, "Thing")
            let found = Self.values(path.steps[...], document)
            let expected: Value?
            if let found, path.hasWildcard {
                expected = found.isEmpty || found.contains { $0 != .null } ? .json(JSONValue.array(found).text) : .null
            } else {
                expected = found?.first.map { $0 == .null ? .null : .json($0.text) }
            }
            #expect(try bed.value("Thing", 1, "v") == expected, "seed \(seed): \(path) in \(document.text)")
            #expect(try bed.value("Thing", 1, "w") == expected, "seed \(seed): @root of \(path) in \(document.text)")
            #expect(
                try bed.value("Thing", 2, "w") == expected,
                "seed \(seed): from the inner of \(path) in \(document.text)")
        }
    }

    @Test(
        "whatever the JSON, every kind of source, key and rule takes it or reports it, and the same again creates nothing"
    )
    func robustness() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("RandomSourceTests.robustness: seed \(seed)")
        var dice = Dice(state: seed)
        let schema = Schema([
            EntityDefinition(
                "A", key: ["a"],
                attributes: [
                    AttributeDefinition("a", .string), AttributeDefinition("l", .array(.decimal), optional: true),
                    AttributeDefinition("t", .string, optional: true),
                ],
                relationships: [
                    RelationshipDefinition("b", to: "A"),
                    RelationshipDefinition("many", to: "A", many: true, ordered: true),
                    RelationshipDefinition("owned", to: "C", many: true, inverse: "owner"),
                    RelationshipDefinition("loose", to: "C", many: true),
                ]),
            EntityDefinition("Special", parent: "A", attributes: [AttributeDefinition("s", .json, optional: true)]),
            EntityDefinition(
                "C", key: ["owner", "at", "role"],
                attributes: [AttributeDefinition("at", .int), AttributeDefinition("role", .string)],
                relationships: [RelationshipDefinition("owner", to: "A", inverse: "owned")]),
        ])
        var mapping = EntityMapping(
            paths: [
                "a": ["a[0]", "a", "{b}-{@position}"], "l": ["a.*", "b.*.a", "@root.*"],
                "t": ["{a}{@parent.a}", "b[-1]", "@param.p"],
                "b": ["b", "@parent"], "many": ["a.*.b", "*.*"], "loose": ["b.*", "@parent.b.*"],
            ], declared: ["owned"])
        mapping.choice = EntityChoice([
            .entity(
                "Special", when: [RecordCondition("b", .isPresent), RecordCondition("a", .compares(.less, "5"))])
        ])
        let bed = try TestStore(
            schema,
            Mapping(entities: [
                "A": mapping,
                "C": EntityMapping(paths: ["owner": ["@parent"], "at": ["@position"], "role": ["@relationship", "a"]]),
            ]))
        var created = 0, reported = 0
        for _ in 0..<300 {
            let document = JSONValue.array((0...dice.roll(4)).map { _ in dice.object(0) })
            let report = try bed.take(document.text, "A")
            created += report.created
            reported += report.diagnosticCount
            let again = try bed.take(document.text, "A")
            #expect(
                again.created == 0 && again.diagnosticCount == report.diagnosticCount, "seed \(seed): \(document.text)")
        }
        #expect(created > 20 && reported > 20)
    }
}
