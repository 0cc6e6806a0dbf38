// YAML itself: syntax errors with their place, and the hazards of the language.

import Foundation
import Tarn
import TarnDescription
import Testing

@Suite("Description file: YAML")
struct DescriptionYAMLTests {
    @Test(
        "a syntax error names its line and column, and the way out",
        arguments: [
            ("api:\n\tbase: x", "2:1: not valid YAML:", "tabs"),
            ("api: { base: x", "1:6: not valid YAML:", "each bracket must be closed"),
            ("api: [a,\n b\n\n", "1:6: not valid YAML:", "each bracket must be closed"),
            ("api:\n  base: x\n entities: y", "3:2: not valid YAML:", "indentation"),
            ("api: 'x", "1:6: not valid YAML:", "quoted scalar"),
            ("api: a: b", "1:7: not valid YAML:", "quotes"),
            ("ignore: [*_url]", "1:10: not valid YAML:", "'*_url'"),
            ("ignore: [*]", "1:11: not valid YAML:", "'*_url'"),
            ("api: @x", "1:6: not valid YAML:", "quotes"),
            ("api: x\u{0}y", "1:7: not valid YAML:", "remove the character"),
            ("api: x\nbase: \u{1B}[31m", "2:7: not valid YAML:", "remove the character"),
        ])
    func syntaxErrorsHaveTheirPlace(text: String, place: String, advice: String) throws {
        let lines = problems(text)
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.hasPrefix("forge.yaml:\(place)") && line.contains(advice), "\(line)")
    }

    @Test(
        "a key that is twice in a mapping is an error at the second one",
        arguments: [
            ("api:\n  base: x\n  # note\n  aliases: y\n  base: z\n", "5:3: ", "first on line 2"),
            ("api:\n  base: x\n  'base': z\n", "3:3: ", "first on line 2"),
            ("api: { base: x, base: y }", "1:8: ", "merge the two"),
            ("api:\r\n  base: x\r\n\r\n  base: z\r\n", "4:3: ", "first on line 2"),
            ("a:\n  b: 1\nc:\n  b: 1\na: 2\n", "5:1: ", "first on line 1"),
        ])
    func duplicateKeysAreErrors(text: String, place: String, part: String) throws {
        let line = try #require(problems(text).first)
        #expect(line.hasPrefix("forge.yaml:\(place)duplicate key") && line.contains(part), "\(line)")
    }

    @Test("anchors and aliases work", arguments: ["*shared", "{ id: int }"])
    func anchorsAndAliasesWork(second: String) {
        let text =
            "api: { base: 'https://a.example' }\nentities:\n  A: { key: id, attributes: &shared { id: int } }\n  B: { key: id, attributes: \(second) }\n"
        #expect(problems(text) == [])
    }

    @Test("anchors that multiply each other are refused, quickly", .timeLimit(.minutes(1)))
    func multiplyingAnchorsAreRefused() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let alias = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(alias)]\n"
        }
        #expect(problems(text).count == 1)
        #expect(problems(text).first?.contains("anchors that multiply each other are not allowed") == true)
    }

    @Test(
        "anchors that multiply each other inside of a key are refused, quickly", .timeLimit(.minutes(1)),
        arguments: [
            "? *a9\n: x\n", "[*a9]: x\n", "{ *a9 : x }: y\n", "k: { ? [*a9] : x }\n", "k: { *a9 : x }\n",
            "k: { [*a9]:x }\n", "k: [?*a9 : x]\n", "{*a9: 1}: x\n", "? [x,\n  *a9]\n: x\n",
            "? k: *a9\n: x\n", "k: {?[*a9]: x}\n", "k: { ? 'a', ?*a9 : x }\n", "k: x\u{2028}? *a9\n: x\n",
        ])
    func multiplyingAnchorsInKeysAreRefused(key: String) {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let alias = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(alias)]\n"
        }
        let lines = problems(text + key)
        #expect(
            lines.count == 1 && lines[0].hasPrefix("forge.yaml:11:1: an alias (*name) cannot be part of a key"),
            "\(lines)")
    }

    @Test("stars, question marks and colons in texts and comments are no aliases")
    func starsInTextsAreNoAliases() {
        let text = """
            # *note: is this & that: fine? yes
            api: { base: 'https://a.example' }
            entities:
              A: { key: id, attributes: { id: int, x: int? }, ignore: ['*_url', 'a*: b'] }
            endpoints:
              a: { path: '/a/{x}:cancel', entity: A, with: { x: '*', q: 'a & b', r: "? *x" } }
            """
        #expect(problems(text) == [])
    }

    @Test("a path with query variables is no key, in a file with anchors and aliases")
    func questionMarksInPathsAreNoKeys() {
        let text = """
            api: { base: 'https://a.example' }
            entities: { A: { key: id, attributes: { id: int } } }
            endpoints:
              a: { path: '/a{?q,page}', entity: A, with: &w { q: b, page: 1 } }
              b: { path: '/b{?q,page}', entity: A, with: *w }
              # Is this a key ? No: no alias follows.
            """
        #expect(problems(text) == [])
    }

    @Test(
        "deep nesting is an error, not a crash", .timeLimit(.minutes(1)),
        arguments: [
            String(repeating: "[", count: 100_000),
            String(repeating: "[", count: 900) + String(repeating: "]", count: 900),
            String(repeating: "{a: ", count: 50_000), String(repeating: "- ", count: 20_000) + "x",
        ])
    func deepNestingIsAnError(text: String) {
        #expect(problems("api: 1\nx: " + text).count == 1)
        #expect(problems(text).count == 1)
    }

    @Test(
        "what YAML allows and a description does not is an error with its place",
        arguments: [
            ("a:\n  <<: { b: c }\n", "2:3: a: merge keys (<<) are not supported: write the entries out"),
            ("a: b\n---\nc: d\n", "2:1: a second document begins here"),
            ("a: !thing b\n", "1:4: a: the tag \"!thing\" is not supported: remove it"),
            ("a: !!binary b\n", "1:4: a: the tag \"tag:yaml.org,2002:binary\" is not supported"),
            ("a: !thing { b: c }\n", "1:4: a: the tag \"!thing\" is not supported: remove it"),
            ("a:\n  b: c\n  !x b: d\n", "3:3: a: the tag \"!x\" is not supported: remove it"),
            ("a:\n  ? [b]\n  : c\n", "2:5: a: a key must be text"),
            ("a: { ? : c }\n", "1:8: a: a key must be text"),
            ("", " the file is empty"), ("# only a comment\n", " the file is empty"),
            (
                "---\n",
                "2:1: expected a mapping (store, api, apis, entities, endpoints, templates, include), found nothing"
            ),
            (
                "- a\n",
                "1:1: expected a mapping (store, api, apis, entities, endpoints, templates, include), found a list"
            ),
            (
                "just text\n",
                "1:1: expected a mapping (store, api, apis, entities, endpoints, templates, include), found \"just text\""
            ),
        ])
    func whatADescriptionCannotBe(text: String, expected: String) {
        let lines = problems(text)
        #expect(lines.count == 1 && lines[0].hasPrefix("forge.yaml:\(expected)"), "\(lines)")
    }

    @Test("the !!str tag makes a text of what would be nothing")
    func stringTagIsAllowed() throws {
        let text = soundDescription.replacing("values: [open, closed]", with: "values: [open, !!str null]")
        let type = try Description.parse(text, file: "f.yaml").schema.entities[3].attributes[1].type
        #expect(type == .enumeration(["open", "null"]))
    }

    @Test("a byte order mark and Windows line ends change nothing", arguments: ["\u{FEFF}", ""])
    func byteOrderMarkAndLineEnds(mark: String) throws {
        let text = mark + soundDescription.replacing("\n", with: "\r\n")
        #expect(
            try Description.parse(text, file: "forge.yaml") == Description.parse(soundDescription, file: "forge.yaml"))
        let broken = text.replacing("login: string", with: "login: strng")
        #expect(problems(broken).first?.hasPrefix("forge.yaml:13:14: ") == true)
        #expect(problems(mark + "stoer: x").first?.hasPrefix("forge.yaml:1:1: stoer: unknown key") == true)
    }

    @Test("an error is one line, whatever the file contains")
    func errorsAreOneLine() {
        let lines = problems(
            "\"a\\nb\\e[31m\": 1\napi: { base: 'https://a.example' }\nentities: { A: { key: id, attributes: { id: int } } }\n"
        )
        #expect(
            lines == [
                "forge.yaml:1:1: a\\u{a}b\\u{1b}[31m: unknown key \"a\\u{a}b\\u{1b}[31m\": expected one of store, api, apis, entities, endpoints, templates, include"
            ])
    }
}

@Suite("Description file: on disk")
struct DescriptionFileTests {
    /// A temporary folder, removed afterwards.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tarn-description-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private func failure(_ path: String) -> String {
        do {
            _ = try Description.load(path: path)
            return ""
        } catch {
            return error.description
        }
    }

    @Test("a file on disk is read, and its store is beside it")
    func fileIsRead() throws {
        try withFolder { folder in
            try Data(soundDescription.utf8).write(to: URL(fileURLWithPath: folder + "/forge.yaml"))
            let description = try Description.load(path: folder + "/forge.yaml")
            #expect(description.storePath == folder + "/forge.tarn")
            #expect(description.endpoints[0].place == folder + "/forge.yaml:34")
        }
    }

    @Test("a missing file, a directory, bytes that are not UTF-8, an empty file and a huge one are one-line errors")
    func unreadableFilesAreErrors() throws {
        try withFolder { folder in
            func write(_ name: String, _ bytes: Data) throws -> String {
                try bytes.write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
                return "\(folder)/\(name)"
            }
            let missing = "\(folder)/none.yaml"
            #expect(failure(missing).hasPrefix("\(missing): no such file"))
            #expect(failure(folder).hasPrefix("\(folder): is a directory"))
            let latin = try write("latin.yaml", Data("a: b\nc: caf".utf8 + [0xE9, 0x0A]))
            #expect(failure(latin) == "\(latin):2:7: not valid UTF-8: save the file as UTF-8 text")
            let long = try write(
                "long.yaml",
                Data(("entities: { T: { attributes: { d: " + String(repeating: "x", count: 5000) + " } } }").utf8))
            #expect(failure(long).contains("x…") && failure(long).utf8.count < 1000, "\(failure(long))")
            let empty = try write("empty.yaml", Data())
            #expect(failure(empty).hasPrefix("\(empty): the file is empty"))
            let huge = try write("huge.yaml", Data(repeating: UInt8(ascii: "#"), count: 10_000_001))
            #expect(failure(huge) == "\(huge): larger than 10 MB: not a description file")
            #expect(failure("/dev/zero").hasSuffix("larger than 10 MB: not a description file"))
        }
    }
}
