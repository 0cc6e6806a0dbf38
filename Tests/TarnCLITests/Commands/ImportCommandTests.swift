// `tarn import` as a user runs it: files and pipes in place of a server.

import Foundation
import TestSupport
import Testing

@Suite("Command line: import", .timeLimit(.minutes(5)))
struct ImportCommandTests {
    private static let yaml = """
        store: store.tarn
        api:
          base: https://api.test.example
          auth: { bearer: { env: TARN_TEST_NO_SUCH_TOKEN } }
        entities:
          Item:
            key: id
            attributes: { id: int, name: string, owner: { type: string?, from: '@param.owner' } }
          Note:
            key: id
            attributes: { id: int, text: string }
            relationships: { item: { to: Item } }
        endpoints:
          items:
            path: /items
            records: data
            entity: Item
            responses: [{ contains: '"status":"error"', then: fail, message: the server was busy }]
          notes:
            path: /items/{item.id}/notes
            for_each: { entity: Item, parent: item }
            entity: Note
        """

    private struct Mirror {
        let folder: TemporaryFolder
        let file: String

        init(_ yaml: String = ImportCommandTests.yaml) throws {
            folder = try TemporaryFolder()
            file = try folder.write("tarn.yaml", yaml)
        }

        func tarn(_ arguments: String..., input: String? = nil) async throws -> TarnProcess.Result {
            let arguments = arguments + ["--file", file]
            guard let input else { return try await TarnCLITests.tarn(arguments) }
            let path = try folder.write("input-\(UUID().uuidString)", input)
            return try await shell("cat '\(path)' | \"$TARN\" " + arguments.map { "'\($0)'" }.joined(separator: " "))
        }

        func list(_ entity: String) async throws -> [String] {
            try await TarnCLITests.tarn(["list", entity, "--file", file]).lines
        }
    }

    @Test("files and standard input become records of an endpoint, without a token and without a request")
    func files() async throws {
        let mirror = try Mirror()
        let first = try mirror.folder.write("1.json", #"{"data":[{"id":1,"name":"one"},{"id":2,"name":"two"}]}"#)
        let second = try mirror.folder.write("2.json", #"{"data":[{"id":2,"name":"two"},{"id":3,"name":"three"}]}"#)
        let result = try await mirror.tarn("import", "items", first, second)
        expectSuccess(result)
        #expect(
            result.lines == [
                #"{"files":2,"listed":4,"entities":{"Item":{"created":3,"updated":0,"unchanged":1,"deleted":0,"older":0,"partial":0,"skipped":0}}}"#
            ])
        let piped = try await mirror.tarn("import", "items", input: #"{"data":[{"id":3,"name":"THREE"}]}"#)
        expectSuccess(piped)
        #expect(piped.output.contains(#""updated":1"#), "\(piped.output)")
        #expect(
            try await mirror.list("Item") == [
                #"{"id":1,"name":"one"}"#, #"{"id":2,"name":"two"}"#,
                #"{"id":3,"name":"THREE"}"#,
            ])
    }

    @Test("the object of a webhook becomes a record of its entity, with parameters that the mapping reads")
    func webhook() async throws {
        let mirror = try Mirror()
        let hook = #"{"action":"opened","item":{"id":7,"name":"seven"}}"#
        let result = try await mirror.tarn(
            "import", "Item", "-", "--records", "item", "--with", "owner=acme", input: hook)
        expectSuccess(result)
        #expect(try await mirror.list("Item") == [#"{"id":7,"name":"seven","owner":"acme"}"#])
    }

    @Test("an endpoint with for_each needs the record that its response belongs to")
    func parent() async throws {
        let mirror = try Mirror()
        let notes = try mirror.folder.write("notes.json", #"[{"id":1,"text":"a"}]"#)
        let none = try await mirror.tarn("import", "notes", notes)
        #expect(none.status == 2 && none.error.contains("--parent"), "\(none.error)")
        let unknown = try await mirror.tarn("import", "notes", notes, "--parent", "7")
        #expect(unknown.status != 0 && unknown.error.contains("Item 7 is not in the store"), "\(unknown.error)")
        expectSuccess(try await mirror.tarn("import", "Item", "-", input: #"{"id":7,"name":"seven"}"#))
        expectSuccess(try await mirror.tarn("import", "notes", notes, "--parent", "7"))
        #expect(try await mirror.list("Note") == [#"{"id":1,"text":"a","item":7}"#])
    }

    @Test("a file that cannot be imported is named, and those before it stay")
    func failures() async throws {
        let mirror = try Mirror()
        let good = try mirror.folder.write("good.json", #"{"data":[{"id":1,"name":"one"}]}"#)
        let broken = try mirror.folder.write("broken.json", #"{"data":[{"id":2,"name":"#)
        let busy = try mirror.folder.write("busy.json", #"{"status":"error","data":[]}"#)
        let result = try await mirror.tarn("import", "items", good, broken, busy)
        #expect(result.status == 3, "\(result.error)")
        #expect(result.error.contains("broken.json: ") && result.error.contains("the file before it is imported"))
        #expect(try await mirror.list("Item") == [#"{"id":1,"name":"one"}"#])
        let refused = try await mirror.tarn("import", "items", busy)
        #expect(refused.status == 1 && refused.error.contains("busy.json: "), "\(refused.error)")
        #expect(refused.error.contains("the server was busy"), "\(refused.error)")
        let missing = try await mirror.tarn("import", "items", good, mirror.folder.path + "/none.json")
        #expect(missing.status == 1 && missing.error.contains("none.json: cannot be read"), "\(missing.error)")
        let other = try await mirror.tarn("import", "itms", good)
        #expect(other.status == 2 && other.error.contains("did you mean \"items\"?"), "\(other.error)")
        let empty = try await mirror.tarn("import", "items", input: "")
        #expect(empty.status == 1 && empty.error.contains("standard input"), "\(empty.error)")
    }

    @Test("a file of lines is a list of records; one whose last line is cut off is refused whole")
    func lines() async throws {
        let mirror = try Mirror()
        func line(_ id: Int) -> String { #"{"id":\#(id),"name":"item \#(id)"}"# + "\n" }
        let lines = try mirror.folder.write("items.ndjson", line(1) + line(2))
        expectSuccess(try await mirror.tarn("import", "Item", lines))
        #expect(try await mirror.list("Item").count == 2)
        let cut = try mirror.folder.write("cut.ndjson", line(3) + line(4) + line(5).prefix(9))
        let result = try await mirror.tarn("import", "Item", cut)
        #expect(result.status == 1, "\(result.error)")
        #expect(result.error.contains("cut.ndjson: the response was cut short"), "\(result.error)")
        #expect(try await mirror.list("Item").count == 2)
    }

    @Test("records without a key are told, with exit code 3")
    func skipped() async throws {
        let mirror = try Mirror()
        let result = try await mirror.tarn(
            "import", "items", input: #"{"data":[{"id":1,"name":"one"},{"name":"nameless"}]}"#)
        #expect(result.status == 3, "\(result.error)")
        #expect(result.error.contains("skipped 1 record"), "\(result.error)")
        #expect(try await mirror.list("Item").count == 1)
    }

    @Test("the next sync reads the lists of an imported record again, although they have not changed")
    func validators() async throws {
        let server = try LocalServer([
            recording("/items", #"{"data":[{"id":1,"name":"one"}]}"#, "ETag: \"a\"")
        ])
        let yaml = ImportCommandTests.yaml.replacing("  auth: { bearer: { env: TARN_TEST_NO_SUCH_TOKEN } }\n", with: "")
        let mirror = try Mirror(yaml)
        expectSuccess(try await mirror.tarn("sync", "items", "--base", server.base))
        expectSuccess(try await mirror.tarn("import", "Item", "-", input: #"{"id":1,"name":"an older name"}"#))
        #expect(try await mirror.list("Item") == [#"{"id":1,"name":"an older name"}"#])
        expectSuccess(try await mirror.tarn("sync", "items", "--base", server.base))
        #expect(try await mirror.list("Item") == [#"{"id":1,"name":"one"}"#])
    }

    @Test("what was not imported is told with exit code 3: a part, a body that a rule passes over, a second name")
    func leftOut() async throws {
        let yaml = Self.yaml.replacing("responses: [{", with: "responses: [{ contains: nothing, then: ignore }, {")
        let mirror = try Mirror(yaml)
        let part = try await mirror.tarn(
            "import", "items", input: #"{"data":[{"id":1,"name":"a"}],"incomplete_results":true}"#)
        #expect(part.status == 3 && part.error.contains("incomplete_results"), "\(part)")
        let passed = try await mirror.tarn("import", "items", input: #"{"data":[{"id":2,"name":"nothing"}]}"#)
        #expect(passed.status == 3 && passed.error.contains("nothing imported: a rule"), "\(passed)")
        #expect(try await mirror.list("Item").count == 1)
        let file = try mirror.folder.write("1.json", #"{"data":[{"id":3,"name":"c"}]}"#)
        let misspelt = try await mirror.tarn("import", "items", file, mirror.folder("2.json"))
        #expect(misspelt.status == 1 && misspelt.error.contains("2.json: cannot be read"), "\(misspelt)")
        #expect(try await mirror.list("Item").count == 1)
    }
}
