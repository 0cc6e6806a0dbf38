// `tarn list` with conditions and orders, `count`, `missing`, `explain`: on the mirrored forge.

import Foundation
import TestSupport
import Testing

@Suite("Command line: queries")
struct QueryCommandTests {
    private func run(_ arguments: String...) async throws -> TarnProcess.Result {
        try await tarn(arguments + ["--store", try await Forge.store])
    }

    private func numbers(_ result: TarnProcess.Result, _ field: String = "number") throws -> [Int] {
        try result.lines.map { try #require(try json($0)[field] as? Int) }
    }

    @Test("--sort, --offset and --limit; --after goes on where a limited list ended, until there is no more")
    func pages() async throws {
        let all = try numbers(await run("list", "Issue", "--sort", "updatedAt desc, number", "--where", "state = open"))
        #expect(all.count == 160)
        let some = try await run(
            "list", "Issue", "--sort", "updatedAt desc, number", "--where", "state = open", "--limit", "70", "--offset",
            "3")
        #expect(try numbers(some) == Array(all[3..<73]))
        var pages: [Int] = [], after: [String] = [], count = 0
        repeat {
            let page = try await tarn(
                [
                    "list", "Issue", "--sort", "updatedAt desc, number", "--where", "state = open", "--limit", "70",
                    "--store", try await Forge.store,
                ] + after)
            #expect(page.status == 0, "\(page.error)")
            pages += try numbers(page)
            count += 1
            let prefix = "More: repeat with `--after "
            after =
                page.error.hasPrefix(prefix) ? ["--after", String(page.error.dropFirst(prefix.count).dropLast(2))] : []
            #expect(page.error == "" || !after.isEmpty)
        } while !after.isEmpty && count < 9
        #expect(count == 3 && pages == all)
        let dates = try await run("list", "Issue", "--sort", "updatedAt desc", "--fields", "updatedAt").lines
        #expect(dates == dates.sorted(by: >))
    }

    @Test("conditions go along relationships, ignore case, and know dates and lists")
    func conditions() async throws {
        let author = try json(await run("get", "User", "123727").line(0))
        let login = try #require(author["login"] as? String)
        #expect(try await run("list", "Issue", "--where", "author.login = \(login) and state = open").lines.count == 28)
        #expect(
            try await run(
                "list", "Issue", "--where", "nocase(author.login) = '\(login.uppercased())'", "--where",
                "not state != open"
            ).lines.count == 28)
        let early = try await run("count", "Issue", "--where", "createdAt < 2024-01-01")
        let late = try await run("count", "Issue", "--where", "createdAt >= 2024-01-01T00:00:00Z")
        let before = try #require(Int(early.line(0))), after = try #require(Int(late.line(0)))
        #expect(before + after == 330 && before != 0)
        let only = try await run("count", "User", "--partials", "only"),
            excluded = try await run("count", "User", "--partials", "excluded")
        let users = try await run("count", "User"), all = try #require(Int(users.line(0)))
        let partial = try #require(Int(only.line(0))), full = try #require(Int(excluded.line(0)))
        #expect(partial + full == all && partial != 0)
    }

    @Test("count counts, and --by for each value by itself")
    func count() async throws {
        #expect(try await run("count", "Issue").output == "330\n")
        #expect(
            try await run("count", "Issue", "--by", "state").output
                == "{\"value\":\"closed\",\"count\":170}\n{\"value\":\"open\",\"count\":160}\n")
        let table = try await run("count", "Issue", "--by", "milestone", "--format", "table")
        #expect(
            table.lines.first?.hasPrefix("milestone") == true && table.lines.contains { $0.hasPrefix("(missing)") },
            "\(table.output)")
        let wrong = try await run("count", "Issue", "--by", "labels")
        #expect(
            wrong.status == 2
                && wrong.error.hasPrefix("tarn: --by labels: expected a field with a single value, found a list")
                && wrong.error.contains("--where 'labels contains VALUE'"), "\(wrong.error)")
        let list = try await run("count", "User", "--by", "spokenLanguages")
        #expect(
            list.status == 2 && list.error.contains("--where 'spokenLanguages contains VALUE'")
                && list.error.contains("jq -c '.[][]?'"), "\(list.error)")
        let ordered = try await run("count", "Issue", "--by", "state desc")
        #expect(ordered.status == 2 && ordered.error.contains("ascending order"), "\(ordered.error)")
    }

    @Test("missing lists each key that is referred to and not there, once")
    func missing() async throws {
        let result = try await run("missing", "Comment", "author")
        #expect(result.status == 0 && result.lines.contains("90000017"), "\(result.output)\(result.error)")
        #expect(Set(result.lines).count == result.lines.count)
        for key in result.lines { #expect(try await run("get", "User", key).status == 1) }
        #expect(try await run("missing", "Issue", "autor").status == 2)
    }

    @Test("the count below a part of the missing keys is none of all of them")
    func partOfMissing() async throws {
        let result = try await run("missing", "Comment", "author", "--format", "table"), all = result.lines.count
        #expect(result.errorLines.last == "\(all) missing", "\(result.error)")
        let part = try await run("missing", "Comment", "author", "--format", "table", "--limit", "1")
        #expect(part.lines.count == 1 && all > 1)
        #expect(part.errorLines.contains("1 shown; there are more"), "\(part.error)")
        #expect(!part.error.contains("missing"), "\(part.error)")
        let token = try #require(part.errorLines.last?.firstMatch(of: /--after ([^`]+)`/)?.1)
        let rest = try await run("missing", "Comment", "author", "--format", "table", "--after", String(token))
        #expect(rest.lines.count == all - 1 && rest.errorLines.last == "\(all - 1) shown", "\(rest.error)")
    }

    @Test("explain, and list --explain, show the plan and no record")
    func explain() async throws {
        let result = try await run(
            "explain", "Issue", "--where", "updatedAt >= 2025-01-01", "--sort", "updatedAt desc", "--limit", "5")
        #expect(
            result.status == 0 && result.output.contains("access:") && result.output.contains("sort:"),
            "\(result.output)")
        let list = try await run(
            "list", "Issue", "--where", "updatedAt >= 2025-01-01", "--sort", "updatedAt desc", "--limit", "5",
            "--explain")
        #expect(list.output == result.output)
    }

    @Test(
        "what is wrong is shown with the text and a caret, and is exit 2",
        arguments: [
            (
                ["--where", "state = opne"],
                "--where: column 9: Issue.state: unknown value \"opne\": did you mean \"open\"?\n  state = opne\n          ^~~~\n"
            ),
            (
                ["--where", "state ="],
                "--where: column 8: unexpected end; expected a value\n  state =\n         ^\n"
            ),
            (
                ["--where", "number = 1", "--where", "number = one"],
                "--where: column 10: Issue.number: expected int, found \"one\"\n  number = one\n           ^~~\n"
            ),
            (
                ["--where", "labels.name = bug"],
                "--where: column 1: Issue.labels is to-many; a path can only follow to-one relationships; expected `labels contains` and a key\n  labels.name = bug\n  ^~~~~~\n"
            ),
            (
                ["--sort", "number dsc"],
                "--sort: column 8: unexpected \"dsc\"; expected \"desc\", \"asc\", \",\" or the end\n  number dsc\n         ^~~\n"
            ),
            (
                ["--after", "xyz"],
                "--after xyz: not a token; use the one that the previous list printed, with the same --where and --sort\n"
            ),
        ] as [([String], String)])
    func errors(arguments: [String], message: String) async throws {
        let result = try await tarn(["list", "Issue"] + arguments + ["--store", try await Forge.store])
        #expect(result.status == 2 && result.output == "")
        #expect(result.error == "tarn: " + message)
    }

    @Test("a token of another query is refused")
    func foreignToken() async throws {
        let page = try await run("list", "Issue", "--limit", "1")
        let token = String(page.error.dropFirst("More: repeat with `--after ".count).dropLast(2))
        let result = try await run("list", "Issue", "--limit", "1", "--sort", "number", "--after", token)
        #expect(
            result.status == 2
                && result.error.contains("the continuation token belongs to another query than this one of Issue"),
            "\(result.error)")
    }
}

@Suite("Command line: writes by query")
struct WriteCommandTests {
    /// A separate store with three named items.
    private func store() async throws -> (
        folder: TemporaryFolder, run: @Sendable ([String]) async throws -> TarnProcess.Result
    ) {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        let synced = try await tarn("sync", "--file", file, "--base", server.base)
        try #require(synced.status == 0, "\(synced.error)")
        return (folder, { try await tarn($0 + ["--file", file]) })
    }

    @Test("update sets fields of what meets the condition; --dry-run only counts")
    func update() async throws {
        let (folder, run) = try await store()
        let dry = try await run([
            "update", "Item", "--where", "id >= 2", "--set", "name=new", "--dry-run", "--format", "table",
        ])
        #expect(dry.output == "2 records; nothing was written\n" && dry.status == 0)
        #expect(try await run(["list", "Item", "--where", "name = new"]).lines.count == 0)
        let done = try await run(["update", "Item", "--where", "id >= 2", "--set", "name = 'new name'"])
        #expect(done.output == "{\"matched\":2,\"changed\":2,\"steps\":1}\n" && done.error == "", "\(done.error)")
        #expect(
            try await run(["list", "Item", "--where", "name = 'new name'", "--fields", "id"]).lines == [
                "{\"id\":2}", "{\"id\":3}",
            ])
        #expect(
            try await run(["update", "Item", "--all", "--set", "name=12", "--step", "2", "--format", "table"]).output
                == "3 records found, 3 changed\n")
        #expect(try await run(["get", "Item", "1"]).output == "{\"id\":1,\"name\":\"12\"}\n")
        _ = folder
    }

    @Test("delete deletes what meets the condition")
    func delete() async throws {
        let (folder, run) = try await store()
        #expect(try await run(["delete", "Item", "--where", "id = 2", "--dry-run"]).output == "{\"matched\":1}\n")
        #expect(
            try await run(["delete", "Item", "--where", "id = 2"]).output
                == "{\"matched\":1,\"deleted\":1,\"steps\":1}\n")
        #expect(try await run(["count", "Item"]).output == "2\n")
        try await expectSuccess(run(["delete", "Item", "--all"]))
        #expect(try await run(["count", "Item"]).output == "0\n")
        _ = folder
    }

    @Test(
        "nothing is written without a condition, or with one that is wrong",
        arguments: [
            (["delete", "Item"], "confirm with --all"), (["update", "Item", "--set", "name=x"], "confirm with --all"),
            (["update", "Item", "--all"], "nothing to set: add --set field=value"),
            (["delete", "Item", "--all", "--where", "id = 1"], "--all and --where exclude each other"),
            (
                ["update", "Item", "--all", "--set", "nmae=x"],
                "--set: column 1: Item: unknown field \"nmae\": did you mean \"name\"?\n  nmae=x\n  ^~~~"
            ),
            (["update", "Item", "--all", "--set", "name=x", "--set", "name=y"], "name is set more than once"),
            (
                ["update", "Item", "--all", "--set", "name"],
                "--set: column 5: unexpected end; expected \"=\" and a value"
            ),
            (
                ["update", "Item", "--all", "--set", "id=7"],
                "key of Item: expected no change of a key field"
            ),
            (["delete", "Item", "--where", "id ="], "--where: column 5: unexpected end"),
        ] as [([String], String)])
    func refused(arguments: [String], message: String) async throws {
        let (folder, run) = try await store()
        let result = try await run(arguments)
        #expect(result.status == 2 && result.output == "" && result.error.contains(message), "\(result.error)")
        #expect(try await run(["list", "Item", "--fields", "name"]).lines.count == 3)
        _ = folder
    }
}
