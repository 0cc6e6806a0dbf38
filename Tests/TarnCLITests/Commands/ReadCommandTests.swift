// `tarn list`, `get` and `related` on the mirrored forge: output and refusals.

import Foundation
import TestSupport
import Testing

@Suite("Command line: reading")
struct ReadCommandTests {
    private static let issue17 = "2262018391"

    private func run(_ arguments: String...) async throws -> TarnProcess.Result {
        try await tarn(arguments + ["--store", try await Forge.store])
    }

    @Test("list prints one JSON object a line into a pipe, every record, in the order of keys")
    func listIsJSONLines() async throws {
        let result = try await run("list", "Issue")
        #expect(result.status == 0 && result.error == "")
        let ids = try result.lines.map { try #require(try json($0)["id"] as? Int) }
        #expect(ids.count == 330)
        #expect(ids == ids.sorted())
        let user = try json(try #require(try await run("list", "User", "--where", "login=ada-fjord").lines.first))
        #expect(user["name"] as? String == "Ada Fjord")
        #expect((user["seenAt"] as? String)?.hasPrefix("2025-") == true)
        #expect(user["spokenLanguages"] is [String])
    }

    @Test("--where keeps what meets the condition, several all at once")
    func conditions() async throws {
        #expect(try await run("list", "Issue", "--where", "state=open").lines.count == 160)
        let both = try await run("list", "Issue", "--where", "state=open", "--where", "author=123727")
        #expect(both.lines.count == 28)
        #expect(try await run("list", "Issue", "--where", "state = open and author = 123727").output == both.output)
        #expect(try await run("list", "Issue", "--where", "body is missing or body = ''").lines.count == 31)
        #expect(try await run("list", "Label", "--where", "isDefault=true", "--where", "name=bug").lines.count == 1)
        #expect(try await run("list", "Issue", "--where", "title=\"a=b=c\"").lines.count == 0)
        let unknown = try await run("list", "Issue", "--where", "state = open and stat=open")
        #expect(unknown.status == 2 && unknown.output == "")
        #expect(
            unknown.error == """
                tarn: --where: column 18: Issue: unknown field "stat": did you mean "state"?
                  state = open and stat=open
                                   ^~~~

                """)
    }

    @Test("two titles that differ only in composed and decomposed letters are told apart")
    func equalityIsByBytes() async throws {
        let composed = "Caf\u{E9} menu example: accents in rule names"
        let decomposed = "Cafe\u{301} menu example: accents in rule names"
        for (title, number) in [(composed, 3), (decomposed, 5)] {
            let found = try await run("list", "Issue", "--where", "title=\"\(title)\"", "--fields", "number")
            #expect(found.lines == ["{\"number\":\(number)}"])
        }
    }

    @Test("--fields chooses, with or without spaces, --limit stops, --include nests")
    func shape() async throws {
        let result = try await run(
            "list", "Issue", "--limit", "2", "--fields", "number, title", "--include", "author", "--include", "labels")
        #expect(result.lines.count == 2)
        let first = try json(try #require(result.lines.first))
        #expect(Set(first.keys) == ["number", "title", "author", "labels"])
        #expect((first["author"] as? [String: Any])?["login"] is String)
        #expect(first["labels"] is [[String: Any]])
        #expect(try await run("list", "Issue", "--limit", "0").output == "")
        let related = try await run("related", "Issue", ReadCommandTests.issue17, "labels", "--fields", "id, name")
        #expect(related.status == 0, "\(related.error)")
        #expect(
            try related.lines.map { try json($0)["name"] as? String } == [
                "area: scheduler", "area: remote", "状態: 要確認", "platform: windows",
            ])
        for (option, name) in [("--fields", "nope"), ("--include", "nope"), ("--include", "title")] {
            let wrong = try await run("list", "Issue", option, name)
            #expect(wrong.status == 2 && wrong.error.hasPrefix("tarn: Issue has no \(name); it has "), "\(wrong.error)")
        }
    }

    @Test("a table is aligned, and says how many of how many on standard error")
    func tableIsAligned() async throws {
        let result = try await run("list", "Label", "--format", "table", "--limit", "3", "--fields", "id,name,color")
        #expect(result.lines.count == 4)
        let column = try #require(result.lines.first?.range(of: "name")).lowerBound.utf16Offset(in: try result.line(0))
        for line in result.lines.dropFirst() {
            let characters = Array(line)
            try #require(characters.count > column, "\(line)")
            #expect(
                characters[column - 1] == " " && characters[column - 2] == " " && characters[column] != " ", "\(line)")
        }
        #expect(
            result.errorLines.first == "3 of 25 records"
                && result.errorLines.last?.hasPrefix("More: repeat with `--after ") == true)
        #expect(result.lines.allSatisfy { $0.count <= 100 })
        let wide = try await run("list", "Issue", "--format", "table")
        #expect(wide.lines.count == 331 && wide.errorLines.first == "330 records", "\(wide.error)")
        #expect(
            wide.errorLines.last?.hasPrefix("17 hidden columns: body, authorAssociation, ") == true, "\(wide.error)")
        #expect(!wide.output.contains("\u{1B}"))
    }

    @Test("get shows one record, and the records that it leads to")
    func getShowsOne() async throws {
        let result = try await run(
            "get", "Issue", ReadCommandTests.issue17, "--include", "author", "--include", "comments")
        #expect(result.status == 0 && result.lines.count == 1)
        let issue = try json(result.line(0))
        #expect(issue["number"] as? Int == 17)
        #expect((issue["author"] as? [String: Any])?["login"] as? String == "mreyes")
        #expect(
            (issue["comments"] as? [[String: Any]])?.compactMap { $0["id"] as? Int } == [
                2_309_356_051, 2_312_324_463, 2_315_178_324, 2_317_613_359, 2_324_645_638,
            ])
        #expect((issue["createdAt"] as? String) == "2023-03-12T01:04:47Z")
        let table = try await run("get", "User", "41987040", "--format", "table")
        #expect(table.lines.first?.contains("41987040 (partial)") == true, "\(table.output)")
        #expect(table.lines.contains { $0.hasPrefix("login") && $0.hasSuffix("former-colleague") })
    }

    @Test("a UUID key is taken in either case")
    func uuidKey() async throws {
        for key in ["002b70a6-f2a9-44fd-83e4-a8caf75c7d66", "002B70A6-F2A9-44FD-83E4-A8CAF75C7D66"] {
            let result = try await run("get", "ChecklistItem", key)
            #expect(result.status == 0, "\(result.error)")
            #expect(try json(result.line(0))["milestone"] as? Int == 3_152_789)
        }
    }

    @Test(
        "a key of the wrong form, an unknown entity and an unknown relationship are exit 2; a missing record is exit 1",
        arguments: [
            (["get", "Issue", "abc"], 2, "key of Issue: expected int, found abc"),
            (["get", "Issue", "1.0"], 2, "key of Issue: expected int, found 1.0"),
            (["get", "Issue", "9223372036854775808"], 2, "key of Issue: expected int, found 9223372036854775808"),
            (["get", "Issue", ""], 2, "key of Issue: expected int, found "),
            (["get", "ChecklistItem", "002b70a6"], 2, "key of ChecklistItem: expected uuid, found 002b70a6"),
            (["get", "Issue", "[17]"], 2, "key of Issue: expected int, found [17]"),
            (
                ["get", "Isue", "17"], 2,
                "unknown entity Isue: did you mean Issue?"
            ),
            (["list", "issue"], 2, "unknown entity issue: did you mean Issue?"),
            (["get", "Issue", "17"], 1, "Issue 17 is not in the store"),
            (["related", "Issue", "17", "author"], 1, "Issue 17 is not in the store"),
            (
                ["related", "Issue", "2262018391", "autor"], 2,
                "Issue has no autor: did you mean author?"
            ),
            (["related", "Issue", "2262018391", "title"], 2, "Issue has no title; it has assignees, author"),
            (["get", "User", "90000017"], 1, "User 90000017 is not in the store"),
        ] as [([String], Int32, String)])
    func refused(arguments: [String], status: Int32, line: String) async throws {
        let result = try await tarn(arguments + ["--store", try await Forge.store])
        #expect(result.status == status, "\(result.error)")
        #expect(result.error.hasPrefix("tarn: " + line) && result.errorLines.count == 1, "\(result.error)")
        #expect(result.output == "")
    }

    @Test("related follows both directions, in order, and shows a missing target as missing")
    func relatedBothWays() async throws {
        let author = try await run("related", "Issue", ReadCommandTests.issue17, "author")
        #expect(try author.lines.map { try json($0)["login"] as? String } == ["mreyes"])
        let issues = try await run("related", "User", "123727", "issues", "--fields", "id")
        #expect(issues.lines.count == 58)
        #expect(issues.lines.first == "{\"id\":2252302695}")
        #expect(try await run("related", "User", "123727", "issues", "--limit", "3").lines.count == 3)
        let missing = try await run("related", "Comment", "2480900047", "author")
        #expect(missing.status == 0 && missing.output == "{\"missing\":90000017}\n")
        let table = try await run("related", "Comment", "2480900047", "author", "--format", "table")
        #expect(table.lines.last == "90000017 (missing)")
        let included = try await run("get", "Comment", "2480900047", "--include", "author")
        #expect(try json(included.line(0))["author"] as? Int == 90_000_017)
    }

    @Test("a reader that goes away early ends the command without a word")
    func earlyEndOfReader() async throws {
        let store = try await Forge.store
        for command in ["list Issue", "list Comment --format table", "related User 123727 comments"] {
            let result = try await shell("\"$TARN\" \(command) --store '\(store)' | head -1")
            #expect(result.status == 0 && result.lines.count == 1)
            #expect(
                result.error == "" || command.contains("table") && result.errorLines.first == "500 records",
                "\(result.error)")
        }
        let dump = try await shell("\"$TARN\" inspect dump '\(store)' | head -1")
        #expect(dump.lines.count == 1 && dump.error == "", "\(dump.error)")
    }

    private static let composite = """
        api: { base: https://api.test.example }
        entities:
          Member:
            key: [team, number]
            attributes: { team: string, number: int, role: string }
          Tag: { key: name, attributes: { name: string } }
        endpoints:
          members: { path: /members, entity: Member }
          tags: { path: /tags, entity: Tag }
        """

    @Test("a composite key is a JSON array of the right number and types of components; a text key is taken as it is")
    func compositeKeys() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", ReadCommandTests.composite)
        let server = try LocalServer([
            recording(
                "/members",
                #"[{"team":"acme","number":12,"role":"a"},{"team":"<null>","number":1,"role":"b"},{"team":"true","number":1,"role":"c"}]"#
            ),
            recording("/tags", #"[{"name":"[\"x\"]"},{"name":""},{"name":"a b"}]"#),
        ])
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base))
        func get(_ entity: String, _ key: String) async throws -> TarnProcess.Result {
            try await tarn("get", entity, key, "--file", file)
        }
        #expect(
            try await get("Member", #"["acme", 12]"#).output == "{\"team\":\"acme\",\"number\":12,\"role\":\"a\"}\n")
        #expect(try await get("Member", #"["acme",13]"#).status == 1)
        for wrong in [
            "acme", "acme,12", #"["acme"]"#, #"["acme",12,1]"#, #"["acme","x"]"#, #"["acme",12.5]"#,
            #"{"team":"acme"}"#,
            "[null,1]", "[true,1]", #"["acme",true]"#, #"["acme",[12]]"#, #"[["acme"],12]"#,
        ] {
            let result = try await get("Member", wrong)
            #expect(result.status == 2, "\(wrong): \(result.status) \(result.output)")
            #expect(result.error == "tarn: key of Member: expected a JSON array of [string, int], found \(wrong)\n")
        }
        try await expectSuccess(get("Tag", #"["x"]"#))
        try await expectSuccess(get("Tag", "a b"))
        #expect(try await get("Tag", "a").status == 1)
    }
}
