// Rows and columns that are named by the response.

import Foundation
import TarnImport
import TarnStore
import TestSupport
import Testing

@Suite("Import: rows and columns with names")
struct ColumnTests {
    /// - Parameter rest: the attribute with all of a record's JSON; nil for none.
    private func bed(rest: String? = nil) throws -> TestStore {
        var mapping = EntityMapping(paths: [:])
        mapping.rest = rest
        return try TestStore(
            Schema([
                EntityDefinition(
                    "Count", key: ["day"],
                    attributes: [
                        AttributeDefinition("day", .string), AttributeDefinition("n", .decimal, optional: true),
                        AttributeDefinition("unit", .string, optional: true),
                        AttributeDefinition("all", .json, optional: true),
                    ])
            ]),
            Mapping(entities: ["Count": mapping]))
    }

    private func lines(
        _ json: String, _ records: JSONPath, _ names: JSONPath, rest: String? = nil
    ) throws -> [String] {
        let bed = try bed(rest: rest)
        let body = try bed.importer.naming([NamedColumns(records, names: names)], in: Array(json.utf8))
        _ = try bed.importer.add(body, records: records, entity: "Count")
        #expect(try bed.commit().diagnostics == [])
        return try bed.lines().map { String($0.dropFirst("Count ".count)) }
    }

    private let both = [#"a {"day":"a","n":1.1}"#, #"b {"day":"b","n":2}"#]

    @Test(
        "the names are a list beside the rows, also in their map, a member of objects, or the first row",
        arguments: [
            (#"{"columns":["day","n"],"rows":[["a",1.10],["b",2]]}"#, "rows", "columns"),
            (#"{"meta":[{"name":"day"},{"name":"n"}],"data":{"of":[["a",1.10],["b",2]]}}"#, "data.of", "meta.*.name"),
            (#"[["day","n"],["a",1.10],["b",2]]"#, "$", "[0]"),
            (#"{"values":[["n","day"],[1.10,"a"],[2,"b"]]}"#, "values", "values[0]"),
            (
                #"{"s":[{"of":["day","n"],"is":[["a",1.10]]},{"of":["n","day"],"is":[[2,"b"]]},{"is":[]}]}"#, "s.*.is",
                "s.*.of"
            ),
            (#"{"h":{"day":["a","b"],"n":[1.10,2]}}"#, "h", "@memberName"),
            (#"{"x":{"day":["a"],"n":[1.10]},"y":{"day":["b"],"n":[2]}}"#, "*", "@memberName"),
            (#"{"names":["day","n"],"m":{"x":["a",1.10],"y":[["b",2]]}}"#, "m.*", "names"),
            (#"{"names":["day","n"],"x":["a",1.10],"y":["b",2]}"#, "*", "names"),
            (#"{"names":["day","n"],"m":{"x":["a",1.10],"y":[],"z":["b",2]}}"#, "m.*", "names"),
        ] as [(String, JSONPath, JSONPath)])
    func forms(json: String, records: JSONPath, names: JSONPath) throws {
        #expect(try lines(json, records, names) == both)
    }

    @Test("a column without a name of its own has that of its position; a shorter row lacks its last values")
    func positions() throws {
        let found = try lines(
            #"{"c":["day","day",null,"n"],"r":[["a",2,3,4,5],["b"],["c",{"x":1.50}]]}"#, "r", "c", rest: "all")
        let expected = [
            #"a {"day":"a","n":4,"all":{"[1]":2,"[2]":3,"[4]":5}}"#, #"b {"day":"b","all":{}}"#,
            #"c {"day":"c","all":{"[1]":{"x":1.50}}}"#,
        ]
        #expect(found == expected, "\(found)")
    }

    @Test("an object without a name keeps its column, and rows may follow an object")
    func unnamed() throws {
        let found = try lines(
            #"{"c":[{"name":"day"},{"id":1},{"name":"n"}],"r":[{"day":"x","n":9},["a",5,1],["b",6,2]]}"#, "r",
            "c.*.name", rest: "all")
        let expected = [
            #"a {"day":"a","n":1,"all":{"[1]":5}}"#, #"b {"day":"b","n":2,"all":{"[1]":6}}"#,
            #"x {"day":"x","n":9,"all":{}}"#,
        ]
        #expect(found == expected, "\(found)")
    }

    @Test("beside columns, a member that is no list is the same in each record, and other values stay")
    func constants() throws {
        let json = #"{"unit":"°C","day":["a","b"],"n":[1,2],"quote":["\"\\","\n"]}"#
        let found = try lines(json, "$", "@memberName", rest: "all")
        let expected = [
            #"a {"day":"a","n":1,"unit":"°C","all":{"quote":"\"\\"}}"#,
            #"b {"day":"b","n":2,"unit":"°C","all":{"quote":"\n"}}"#,
        ]
        #expect(found == expected, "\(found)")
        let body = try NamedColumns.named(
            [NamedColumns("r", names: "c")], in: Array(#"{"n":1e400,"c":["x"],"r":[[1],{"y":2},null],"z":[[1]]}"#.utf8))
        #expect(
            String(decoding: body, as: UTF8.self) == #"{"n":1e400,"c":["x"],"r":[{"x":1},{"y":2},null],"z":[[1]]}"#)
    }

    @Test(
        "a response without rows or columns is what it is",
        arguments: [
            #"{"r":[]}"#, #"{"r":[{"day":"a"}]}"#, #"{"c":["day"]}"#, #"{"r":null}"#, #"{"r":{"day":"a"}}"#, "[]",
        ])
    func absent(json: String) throws {
        for names in ["c", "@memberName"] as [JSONPath] {
            let body = Array(json.utf8)
            #expect(try NamedColumns.named([NamedColumns("r", names: names)], in: body) == body)
        }
    }

    @Test("rows without names and columns of different lengths are errors that say where, and so is what is too large")
    func errors() throws {
        func error(_ json: String, _ records: JSONPath, _ names: JSONPath) -> String {
            do {
                _ = try NamedColumns.named([NamedColumns(records, names: names)], in: Array(json.utf8))
                return ""
            } catch { return "\(error)" }
        }
        #expect(
            error(#"{"r":[["a"]]}"#, "r", "c").contains(
                "`c` does not lead to columns: the rows of this response need names"))
        #expect(error(#"{"c":7,"r":[["a"]]}"#, "r", "c").contains("found the number 7"))
        #expect(error(#"{"c":[{"name":"x"}],"r":[["a"]]}"#, "r", "c").contains("such as `c.*.name`"))
        #expect(error(#"{"c":[null],"r":[["a"]]}"#, "r", "c").contains("the first one is null"))
        #expect(error(#"{"c":[{"id":1}],"r":[["a"]]}"#, "r", "c.*.name").contains("it has none there"))
        let unequal = error(#"{"h":{"day":["a","b"],"n":[1]}}"#, "h", "@memberName")
        #expect(unequal.contains("`h`") && unequal.contains("`day` has 2, `n` has 1"), "\(unequal)")
        #expect(error("[[", "$", "[0]").contains("not valid JSON"))
        let bed = try bed()
        bed.importer.limits.documentSize = 4096
        let name = String(repeating: "n", count: 500), rows = (0..<20).map { _ in "[1]" }.joined(separator: ",")
        #expect {
            _ = try bed.importer.naming(
                [NamedColumns("r", names: "c")], in: Array(#"{"c":["\#(name)"],"r":[\#(rows)]}"#.utf8))
        } throws: {
            $0 as? ImportError == .tooLarge(.rows, limit: 4096)
        }
    }

    @Test("names that the description has are those of rows without any; a first row that repeats them is no record")
    func written() throws {
        func named(_ json: String, _ records: JSONPath, _ names: [String]) throws -> String {
            let body = try NamedColumns.named([NamedColumns(records, written: names)], in: Array(json.utf8))
            return String(decoding: body, as: UTF8.self)
        }
        #expect(
            try named(#"{"r":[{"m":{"a":"x"},"v":[[1.50,"7"],[2,"8",9]]},{"v":[]}]}"#, "r.*.v", ["time", "value"])
                == #"{"r":[{"m":{"a":"x"},"v":[{"time":1.50,"value":"7"},{"time":2,"value":"8","[2]":9}]},{"v":[]}]}"#)
        #expect(try named(#"[["day","n"],["a",1]]"#, "$", ["day", "n"]) == #"[{"day":"a","n":1}]"#)
        #expect(try named(#"[["a",1],["day","n"]]"#, "$", ["day", "n"]).contains(#"{"day":"day","n":"n"}"#))
        #expect(try named(#"{"x":["a",1],"y":["day","n"]}"#, "*", ["day", "n"]) == #"{"x":{"day":"a","n":1},"y":[]}"#)
        #expect(try named(#"[["n","b"]]"#, "$", ["day", "n"]) == #"[{"day":"n","n":"b"}]"#)
        #expect {
            _ = try named(#"[["day","zone","n"],["a",9,1]]"#, "$", ["day", "n"])
        } throws: {
            "\($0)".contains("its first row has the names `day`, `zone`, `n`, and the description has `day`, `n`")
        }
    }

    @Test("a first row without any name of its entity is no row of names")
    func foreignHeader() throws {
        func error(_ json: String, rest: String? = nil, of entities: [JSONPath: String]) throws -> String {
            let bed = try bed(rest: rest)
            do {
                _ = try bed.importer.naming([NamedColumns("$", names: "[0]")], in: Array(json.utf8), of: entities)
                return ""
            } catch { return "\(error)" }
        }
        let found = try error(#"[["c",3]]"#, of: ["$": "Count"])
        #expect(found.contains("the first row has `c`, `3`, and Count takes none of these"), "\(found)")
        #expect(found.contains("columns: [name, …]"), "\(found)")
        #expect(try error(#"[["zone","n"],[1,2]]"#, of: ["$": "Count"]) == "")
        // All of a record is kept, whatever its names are.
        #expect(try error(#"[["c",3]]"#, rest: "all", of: ["$": "Count"]) == "")
        #expect(try error(#"[["c",3]]"#, of: [:]) == "")
    }

    @Test("1,000 random tables are what a plain implementation makes of them", arguments: [1, 2, 3, 4] as [UInt64])
    func random(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<250 {
            let names = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                JSONValue.random(
                    ["\"a\"", "\"b\"", "\"a\\u0022.[0]\"", "\"\"", "1.50", "true", "null", "{}", "[]"], &random)
            }
            guard names.contains(where: { ColumnTests.text($0) != nil }) else { continue }
            let rows = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    JSONValue.random(["1e400", "\"\\n\"", "null", "[1,[2]]", #"{"r":[[1]]}"#, "-0.10"], &random)
                }
            }
            let other = JSONValue.random(["{}", "[[1]]", #""x""#], &random)
            let json = JSONValue.object([
                .init("z", other), .init("c", .array(names)), .init("r", .array(rows.map(JSONValue.array))),
            ])
            let expected = JSONValue.object([
                .init("z", other), .init("c", .array(names)),
                .init("r", .array(rows.map { ColumnTests.object($0, names) })),
            ])
            let named = try NamedColumns.named([NamedColumns("r", names: "c")], in: Array(json.text.utf8))
            #expect(String(decoding: named, as: UTF8.self) == expected.text, "seed \(seed): \(json.text)")
            // The same with the names in the first row.
            let list = JSONValue.array([.array(names)] + rows.map(JSONValue.array))
            let inside = try NamedColumns.named([NamedColumns("$", names: "[0]")], in: Array(list.text.utf8))
            #expect(String(decoding: inside, as: UTF8.self) == expected["r"]?.text, "seed \(seed): \(list.text)")
        }
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .number(let text): text
        case .bool(let value): "\(value)"
        default: nil
        }
    }

    private static func object(_ row: [JSONValue], _ names: [JSONValue]) -> JSONValue {
        var members: [JSONValue.Member] = [], used: [String] = []
        for (position, name) in names.enumerated() {
            var own = text(name) ?? ""
            if own.isEmpty || used.contains(own) { own = "[\(position)]" }
            used.append(own)
        }
        for (position, value) in row.enumerated() {
            members.append(.init(position < used.count ? used[position] : "[\(position)]", value))
        }
        return .object(members)
    }
}

extension JSONValue {
    fileprivate static func random(_ texts: [String], _ random: inout SeededRandom) -> JSONValue {
        (try? JSONValue(texts.randomElement(using: &random) ?? "null")) ?? .null
    }
}
