// Templates, lists of names, environment variables and included files.

import Foundation
import Glibc
import Tarn
import TarnDescription
import TarnImport
import TestSupport
import Testing

@Suite("Description file: templates, variables and includes")
struct DescriptionTemplateTests {
    private static func problems(_ yaml: String, file: String = "t.yaml") -> [String] {
        do throws(DescriptionError) {
            _ = try Description.parse(yaml, file: file)
            return []
        } catch { return error.description.split(separator: "\n").map(String.init) }
    }

    private static let api = "api: { base: 'https://a.example' }\n"

    // MARK: Templates

    @Test("an entity has everything of its templates; its own lines win, and null removes one")
    func like() throws {
        let templates = try Description.parse(
            Self.api + """
                templates:
                  Base: { key: id, attributes: { id: int }, ignore: [a] }
                  Named:
                    like: Base
                    attributes: { name: string, note: string? }
                    relationships: { next: <name> }
                    url: /<name:kebab-case>/{id}/
                entities:
                  BerryFlavor: { like: Named, attributes: { size: int } }
                  Item: { like: [Base, Named], key: name, url: '/i/{name}', attributes: { name: { type: string, index: true }, note: }, ignore: [b] }
                """, file: "t.yaml")
        let plain = try Description.parse(
            Self.api + """
                entities:
                  BerryFlavor:
                    key: id
                    attributes: { id: int, name: string, note: string?, size: int }
                    relationships: { next: BerryFlavor }
                    ignore: [a]
                    url: /berry-flavor/{id}/
                  Item:
                    key: name
                    attributes: { id: int, name: { type: string, index: true } }
                    relationships: { next: Item }
                    ignore: [b]
                    url: /i/{name}
                """, file: "t.yaml")
        #expect(templates == plain)
    }

    @Test("a child has everything of its templates, also in an endpoint that is like one; it has no each")
    func children() throws {
        func text(_ child: String, templates: String = "") -> String {
            Self.api + """
                templates:
                  Detail: { path: '/<part>/{id}', paginate: single_page, headers: { X-Detail: <name> } }
                \(templates)
                entities:
                  Item: { key: id, attributes: { id: int } }
                endpoints:
                  items:
                    path: /items
                    entity: Item
                    children:
                      item: \(child)
                """
        }
        let like = try Description.parse(text("{ like: { Detail: { part: items } }, with: { a: b } }"), file: "t.yaml")
        let plain = try Description.parse(
            Self.api + """
                entities:
                  Item: { key: id, attributes: { id: int } }
                endpoints:
                  items:
                    path: /items
                    entity: Item
                    children:
                      item: { path: '/items/{id}', paginate: single_page, headers: { X-Detail: item }, with: { a: b } }
                """, file: "t.yaml")
        #expect(like.endpoints.map(\.path) == plain.endpoints.map(\.path))
        #expect(like.endpoints.map(\.headers) == plain.endpoints.map(\.headers))
        #expect(like.endpoints.map(\.pagination) == plain.endpoints.map(\.pagination))
        for (child, templates, expected) in [
            ("{ like: Nothing, path: /a }", "", "endpoints.items.children.item.like: unknown template"),
            ("{ each: [a, b], path: '/{id}' }", "", "endpoints.items.children.item.each: a child has one name"),
            ("{ like: Loop }", "  Loop: { path: '/{id}', children: { x: { like: Loop } } }", "a template is a circle"),
        ] {
            let found = Self.problems(text(child, templates: templates))
            #expect(found.contains { $0.contains(expected) }, "\(child): \(found)")
        }
    }

    @Test("each makes an entity and an endpoint of every name, with arguments of its own")
    func each() throws {
        let made = try Description.parse(MadeAPI.yaml, file: "made.yaml")
        #expect(made.schema.entities.count == MadeAPI.kinds.count + 3)
        #expect(made.endpoints.count == 2 * MadeAPI.kinds.count + 2)
        #expect(made.endpoints.prefix(4).map(\.name) == ["ability", "ability-details", "berry", "berry-details"])
        #expect(made.schema.entities[2].name == "BerryFlavor")
        #expect(
            made.schema.entities[2].relationships.map(\.destination) == [
                "Characteristic", "Characteristic", "BerryFlavor", "Place",
            ])
        let endpoint = try #require(made.endpoints.first { $0.name == "berry-flavor-details" })
        #expect(endpoint.entity == "BerryFlavor" && endpoint.forEach?.entity == "BerryFlavor" && endpoint.followsURL)
        #expect(made.endpoints.first { $0.name == "berry-flavor" }?.listsExcerpts == true)
        #expect(MadeAPI.yaml.split(separator: "\n").count < 50)
    }

    @Test("an endpoint may be like a template, and each may be a list with arguments")
    func endpoints() throws {
        let description = try Description.parse(
            Self.api + """
                templates:
                  Listed: { path: /<path>/, records: <name>, entity: User, with: { size: '10', all: 'x < 10 and y > 3' } }
                entities:
                  User: { key: id, attributes: { id: int } }
                endpoints:
                  <name>: { each: [{ users: { path: users } }, { people: { path: persons } }], like: Listed }
                  others: { like: { Listed: { path: o } }, with: { size: '20' } }
                """, file: "t.yaml")
        #expect(description.endpoints.map(\.name) == ["users", "people", "others"])
        #expect(description.endpoints.map(\.path) == ["/users/", "/persons/", "/o/"])
        #expect(description.endpoints.map(\.records.description) == ["users", "people", "others"])
        #expect(description.endpoints[2].parameters.map(\.value) == ["20", "x < 10 and y > 3"])
        #expect(description.endpoints[1].parameters.map(\.value) == ["10", "x < 10 and y > 3"])
    }

    @Test(
        "problems of templates name the line of the template, once for all instances",
        arguments: [
            (
                """
                templates:
                  T: { key: id, attributes: { id: int, name: strng } }
                entities:
                  <name>: { each: [A, B, C], like: T }
                """, ["t.yaml:3:46: entities.A.attributes.name.type: unknown type \"strng\": did you mean \"string\"?"]
            ),
            (
                "entities: { A: { like: Nmed } }\ntemplates: { Named: {} }",
                ["t.yaml:2:24: entities.A.like: unknown template \"Nmed\": did you mean \"Named\"?"]
            ),
            (
                "entities: { <name>: { each: [A, B], like: Nmed } }\ntemplates: { Named: {} }",
                ["t.yaml:2:43: entities.A.like: unknown template \"Nmed\": did you mean \"Named\"?"]
            ),
            (
                "templates: { A: { like: B }, B: { like: A } }\nentities: { X: { like: A } }",
                ["t.yaml:2:41: entities.X.like: more than 16 templates in a chain: it is a circle"]
            ),
            (
                "templates: { T: { url: '/<pth>/{id}' } }\nentities: { X: { like: { T: { path: x } } } }",
                [
                    "t.yaml:2:24: entities.X.url: no value for <pth>: write it where the template is named, such as like: { Template: { pth: … } }"
                ]
            ),
            (
                "templates: { T: { url: '/<name:kebab>/{id}' } }\nentities: { X: { like: T } }",
                ["t.yaml:2:24: entities.X.url: unknown naming style \"kebab\": did you mean \"kebab-case\"?"]
            ),
            (
                "entities: { A: { each: [B, C], key: id, attributes: { id: int } } }",
                ["t.yaml:2:13: entities.A: each makes this name twice: use <name> in the key"]
            ),
            (
                "entities: { <name>: { each: { like: T }, key: id, attributes: { id: int } } }",
                ["t.yaml:2:37: entities.<name>.each.like: no entity is like T: write like: T there"]
            ),
            (
                """
                templates: { T: { key: id, attributes: { id: int } } }
                entities:
                  <name>: { each: [A, { B: { path: bees } }], like: { T: { size: '5' } } }
                """,
                [
                    "t.yaml:4:30: entities.<name>.each.B.path: nothing uses <path>: write it where the value belongs, or remove it",
                    "t.yaml:4:60: entities.A.like.T.size: nothing uses <size>: write it where the value belongs, or remove it",
                ]
            ),
            (
                "templates: [a]\nentities: {}",
                ["t.yaml:2:12: templates: expected a mapping from names to templates, found a list"]
            ),
        ])
    func problems(yaml: String, expected: [String]) {
        #expect(Self.problems(Self.api + yaml) == expected)
    }

    @Test("templates that multiply each other end at a limit")
    func bound() {
        var yaml = Self.api + "templates:\n"
        let names = (0..<40).map { "a\($0): int" }.joined(separator: ", ")
        yaml += "  T: { key: id, attributes: { id: int, \(names) } }\n"
        yaml += "entities:\n  <name>: { each: [\((0..<30_000).map { "E\($0)" }.joined(separator: ", "))], like: T }\n"
        #expect(Self.problems(yaml).first?.contains("more than 1000000 values") == true)
    }

    // MARK: Variables

    @Test("environment variables are replaced in base URLs, the store and parameters, and only there")
    func variables() throws {
        setenv("TARN_TEST_HOST", "h.example", 1)
        setenv("TARN_TEST_EMPTY", "", 1)
        let description = try Description.parse(
            """
            store: ${TARN_TEST_NONE:-x}/${TARN_TEST_EMPTY}s.tarn
            api:
              base: https://${TARN_TEST_HOST}/${TARN_TEST_EMPTY:-v1}
              aliases: ['http://${TARN_TEST_HOST}']
              parameters: { a: '$${TARN_TEST_HOST} $x ${TARN_TEST_HOST}' }
            entities: { A: { key: id, attributes: { id: int, name: { type: string, value: '${TARN_TEST_HOST}' } } } }
            endpoints:
              a: { path: /a, entity: A, with: { b: ['${TARN_TEST_HOST}'] } }
            """, file: "d/t.yaml")
        #expect(description.storePath == "d/x/s.tarn")
        #expect(description.api.base == "https://h.example/v1")
        #expect(description.api.aliases == ["http://h.example"])
        #expect(description.api.parameters.map(\.value) == ["${TARN_TEST_HOST} $x h.example"])
        #expect(description.endpoints[0].parameters.map(\.value) == ["h.example"])
        #expect(description.mapping.entities["A"]?.paths["name"] == [.constant(.string("${TARN_TEST_HOST}"))])
    }

    @Test(
        "a variable that is not set, or malformed, is an error with its line",
        arguments: [
            (
                "${TARN_TEST_UNSET}",
                "the environment variable TARN_TEST_UNSET is not set: set it, or write a default: ${TARN_TEST_UNSET:-…}"
            ),
            ("${1}", "\"${1}\" is not an environment variable: write ${NAME} or ${NAME:-default}"),
            (
                "${TARN_TEST_HOST:-x${Y}}",
                "the default of ${TARN_TEST_HOST:-…} cannot have variables: write a text without ${"
            ),
            ("${A:b}", "\"${A:b}\" is not an environment variable: write ${NAME} or ${NAME:-default}"),
            ("${A", "${ without }: close the brace, or write $${ for the text ${"),
        ])
    func unset(text: String, message: String) {
        let yaml = "api:\n  base: 'https://\(text)'\nentities: { A: { key: id, attributes: { id: int } } }"
        #expect(Self.problems(yaml) == ["t.yaml:2:9: api.base: \(message)"])
        let header =
            "api:\n  base: https://a.example\n  headers: { X-Key: '${KEY}' }\nentities: { A: { key: id, attributes: { id: int } } }"
        #expect(
            Self.problems(header).first?.hasPrefix("t.yaml:3:21: api.headers.X-Key: environment variables are not")
                == true)
    }

    @Test("keys of a mapping that placeholders make equal are an error at the second one")
    func equalKeys() {
        let text =
            Self.api + """
                templates:
                  List: { path: /l, with: { <a>: 1, <b>: 2 }, entity: Item }
                entities:
                  Item: { key: id, attributes: { id: int } }
                endpoints:
                  items: { like: { List: { a: x, b: x } } }
                """
        #expect(
            Self.problems(text).first
                == "t.yaml:3:37: endpoints.items.with.x: duplicate key \"x\" in this mapping: remove one")
        #expect(Self.problems(text.replacing("b: x", with: "b: y")) == [])
    }

    // MARK: Includes

    @Test("requests for local changes in an included file have their place there")
    func includedWrites() throws {
        let folder = try TemporaryFolder()
        let common = try folder.write(
            "common.yaml",
            """
            entities:
              Item:
                key: id
                attributes: { id: int }
                write: { update: 'PATCH /items/{id}' }
            """)
        let file = try folder.write("tarn.yaml", "include: common.yaml\napi: { base: 'https://a.example' }\n")
        #expect(try Description.load(path: file).writes["Item"]?.update?.place == "\(common):5")
    }

    @Test("an included file has sections of the description; the file's own lines win, and errors name their file")
    func includes() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("parts"), withIntermediateDirectories: true)
        _ = try folder.write(
            "parts/common.yaml",
            """
            include: base.yaml
            templates: { Named: { key: id, attributes: { id: int, name: string } } }
            entities:
              User: { like: Named }
              Label: { like: Named }
            """)
        _ = try folder.write("parts/base.yaml", "api: { base: 'https://a.example', nulls: ignore }\n")
        let file = try folder.write(
            "tarn.yaml",
            """
            include: [parts/common.yaml, 'parts/${TARN_TEST_PART:-base}.yaml']
            api: { nulls: clear, coercion: strict }
            entities:
              Label: { like: Named, attributes: { color: string } }
            endpoints:
              users: { path: /users, entity: User }
            """)
        let description = try Description.load(path: file)
        #expect(description.api.base == "https://a.example")
        #expect(description.schema.entities.map(\.name) == ["User", "Label"])
        #expect(description.schema.entities[1].attributes.map(\.name) == ["id", "name", "color"])
        #expect(description.mapping.rules.coercion == .strict)
        #expect(description.storePath == folder("tarn.tarn"))

        _ = try folder.write("parts/base.yaml", "api: { base: 'a.example' }\n")
        #expect(throws: DescriptionError.self) { try Description.load(path: file) }
        do { _ = try Description.load(path: file) } catch {
            #expect(
                error.description.hasPrefix("\(folder("parts/base.yaml")):1:14: api.base: not an http or https URL"))
        }
    }

    @Test("the APIs of the including file come first, also before those of nested included files")
    func includedAPIs() throws {
        let folder = try TemporaryFolder()
        func apis(_ names: String...) -> String {
            "apis: { \(names.map { "\($0): { base: 'https://\($0).example' }" }.joined(separator: ", ")) }\n"
        }
        _ = try folder.write("d.yaml", apis("delta"))
        _ = try folder.write("b.yaml", "include: d.yaml\n" + apis("beta", "main"))
        _ = try folder.write("c.yaml", apis("gamma"))
        let file = try folder.write(
            "tarn.yaml",
            "include: [b.yaml, c.yaml]\n" + apis("alpha", "main")
                + "entities: { User: { key: id, attributes: { id: int } } }\n")
        let description = try Description.load(path: file)
        #expect(description.api.base == "https://alpha.example")
        #expect(description.furtherAPIs.map(\.name) == ["main", "beta", "delta", "gamma"])
    }

    @Test(
        "files that include themselves, are not there, or have other sections are errors with file, line and column",
        arguments: [
            ("include: t.yaml", "t.yaml:1:10: include: DIR/t.yaml includes itself: remove one of the lines"),
            ("include: [b.yaml]", "b.yaml:1:10: include: DIR/t.yaml includes itself: remove one of the lines"),
            (
                "include: none.yaml",
                "t.yaml:1:10: include: DIR/none.yaml: no such file: correct the path, which is relative to DIR/t.yaml, or create the file"
            ),
            (
                "include: [1, [x]]",
                "t.yaml:1:14: include: expected the path of a file, relative to this one, found a list"
            ),
            (
                "include: store.yaml",
                "store.yaml:1:1: store: an included file cannot name the store: write it in the file that includes it"
            ),
            (
                "include: [x.yaml, y.yaml]",
                "y.yaml:1:13: entities.User: DIR/x.yaml:1 has it, too: write it in one included file"
            ),
            ("include: bad.yaml", "bad.yaml:2:"),
            (
                "include: pipe",
                "t.yaml:1:10: include: DIR/pipe is a device or a pipe, and is not read: write the text to a file"
            ),
            ("include: chain0.yaml", "chain7.yaml:1:10: include: more than 8 files include one another"),
        ])
    func broken(text: String, message: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("b.yaml", "include: t.yaml\n")
        _ = try folder.write("store.yaml", "store: x\n")
        _ = try folder.write("bad.yaml", "api: [\n")
        _ = try folder.write("1", "api: {}\n")
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        for number in 0..<12 { _ = try folder.write("chain\(number).yaml", "include: chain\(number + 1).yaml\n") }
        for name in ["x", "y"] {
            _ = try folder.write("\(name).yaml", "entities: { User: { key: id, attributes: { id: int } } }\n")
        }
        let file = try folder.write("t.yaml", text + "\n" + Self.api)
        let expected = folder.path + "/" + message.replacing("DIR", with: folder.path)
        do {
            _ = try Description.load(path: file)
            Issue.record("no error")
        } catch { #expect(error.problems.contains { $0.description.hasPrefix(expected) }, "\(error)") }
    }
}
