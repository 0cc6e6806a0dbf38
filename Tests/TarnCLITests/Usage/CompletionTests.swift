// Completions of shells: what `tarn` answers, and what the scripts make of it.

import Foundation
import LMDB
import TestSupport
import Testing

@Suite("Command line: completions")
struct CompletionTests {
    /// The completions of the last word in bash, by its script.
    private func bash(_ words: [String], in folder: String? = nil) async throws -> [String] {
        let list = ([TarnProcess.executable] + words).map { "'\($0)'" }.joined(separator: " ")
        let place = folder.map { "cd '\($0)'; " } ?? ""
        let result = try await shell(
            place + "source <(\"$TARN\" completions bash); COMP_WORDS=(\(list)); COMP_CWORD=\(words.count); _tarn; "
                + "printf '%s\\n' \"${COMPREPLY[@]}\"")
        #expect(result.status == 0 && result.error == "", "\(result.error)")
        return result.lines
    }

    @Test("bash completes commands, subcommands, options and their values")
    func commands() async throws {
        #expect(try await bash(["li"]) == ["list"])
        #expect(try await bash(["inspect", "sa"]) == ["salvage"])
        #expect(try await bash(["list", "Issue", "--fie"]) == ["--fields"])
        #expect(try await bash(["sync", "--refetch", "--ref"]) == [], "a flag is not offered twice")
        #expect(try await bash(["count", "Issue", "--partials", ""]) == ["included", "excluded", "only"])
        #expect(try await bash(["count", "Issue", "--partials", "=", "e"]) == ["excluded"])
        #expect(try await bash(["count", "Issue", "--partials", "="]) == ["included", "excluded", "only"])
        #expect(try await bash(["completions", ""]) == ["bash", "zsh", "fish"])
        #expect(try await bash(["help", "exit"]) == ["exit-codes"])
        #expect(try await bash(["nothing", "x"]) == [])
    }

    @Test("bash completes the APIs that a person may sign in to")
    func apis() async throws {
        let folder = try TemporaryFolder()
        let apis = "apis: { forge: { base: 'https://f.example' }, people: { base: 'https://p.example' } }"
        _ = try folder.write("tarn.yaml", apis + "\nentities: { Item: { key: id, attributes: { id: int } } }\n")
        #expect(try await bash(["login", "p"], in: folder.path) == ["people"])
        #expect(try await bash(["logout", ""], in: folder.path) == ["forge", "people"])
    }

    @Test("bash splits a URL at its colons: what follows it is completed")
    func colons() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("tarn.yaml", itemsYAML())
        let url = ["--base", "http", ":", "//127.0.0.1", ":", "80"]
        #expect(try await bash(["fetch"] + url + [""], in: folder.path) == ["items"])
        #expect(try await bash(["sync"] + url + ["it"], in: folder.path) == ["items"])
        #expect(
            try await bash(["sync", "--base", "=", "http", ":", "//127.0.0.1", ":", "80", "--quie"]) == ["--quiet"])
        #expect(try await bash(["sync", "--base", "http", ":"], in: folder.path) == [])
    }

    @Test("bash completes the entities, fields, relationships and paths of a store")
    func storeNames() async throws {
        let store = ["--store", try await Forge.store]
        #expect(try await bash(["list"] + store + ["I"]) == ["Issue"])
        #expect(try await bash(["get"] + store + ["C"]) == ["Comment", "ChecklistItem"])
        #expect(try await bash(["list", "Issue"] + store + ["--fields", "ti"]) == ["title"])
        #expect(try await bash(["list", "Issue"] + store + ["--fields", "number,ti"]) == ["number,title"])
        #expect(
            try await bash(["list", "Issue"] + store + ["--where", "author.lo"]) == ["author.login", "author.location"])
        #expect(try await bash(["list", "Issue"] + store + ["--sort", "author.nothing.x"]) == [])
        #expect(try await bash(["list", "Issue"] + store + ["--include", "mil"]) == ["milestone"])
        #expect(try await bash(["related", "Issue", "17"] + store + ["la"]) == ["labels"])
        #expect(try await bash(["inspect", "dump", try await Forge.store, "--entity", "La"]) == ["Label"])
    }

    @Test("bash completes the endpoints and entities of the description in the folder, before there is a store")
    func descriptionNames() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("tarn.yaml", itemsYAML())
        #expect(try await bash(["sync", ""], in: folder.path) == ["items"])
        #expect(try await bash(["sync", "items", ""], in: folder.path) == [])
        #expect(try await bash(["list", ""], in: folder.path) == ["Item"])
        #expect(try await bash(["list", "Item", "--fields", ""], in: folder.path) == ["id", "name"])
        let other = try folder.write("other.yaml", itemsYAML().replacing("items:", with: "things:"))
        #expect(try await bash(["fetch", "--file", other, "t"]) == ["things"])
    }

    @Test("bash gives words with their quotes: names are those of a file with a space, also inside open quotes")
    func quotes() async throws {
        let folder = try TemporaryFolder(), inner = folder.path + "/my dir"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        _ = try folder.write("my dir/tarn.yaml", itemsYAML())
        for file in [#"my\ dir/tarn.yaml"#, #""my dir/tarn.yaml""#, #"my" "dir/tarn.yaml"#] {
            #expect(try await bash(["list", "--file", file, ""], in: folder.path) == ["Item"], "\(file)")
        }
        #expect(try await bash(["list", "Item", "--where", "\"na"], in: inner) == ["name"])
        #expect(try await bash(["list", "Item", "--fields", "\"id,na"], in: inner) == ["id,name"])
    }

    @Test("a name of a file from elsewhere is no command of the shell into which Tab inserts it")
    func foreignNames() async throws {
        let folder = try TemporaryFolder(), path = folder.path + "/foreign"
        let environment = try Environment.open(
            at: path, options: Environment.Options(durability: .volatile, mapSize: 1 << 24))
        let names = ["t$(touch pwned)", "t;touch pwned", "t`x`'\"", "t\u{1B}[2J", "t1"]
        try environment.writeOpeningTables { transaction in
            for name in names {
                let table = try transaction.table(name)
                try [1].withUnsafeBytes { try transaction.raw.put(table, $0, $0) }
            }
        }
        let completions = try await bash(["inspect", "stat", path, "t"])
        #expect(Set(completions) == [#"t\$\(touch\ pwned\)"#, #"t\;touch\ pwned"#, #"t\`x\`\'\""#, "t1"])
        for word in completions {
            let read = try await shell("cd '\(folder.path)' && printf '<%s>' \(word) && ! test -e pwned")
            #expect(read.status == 0 && names.contains { read.output == "<\($0)>" }, "\(word): \(read)")
        }
        #expect(try await bash(["inspect", "stat", path, "\"t"]) == ["t1"])
    }

    @Test("a store is completed as a directory, a description as a file")
    func files() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/tarn.tarn", withIntermediateDirectories: false)
        _ = try folder.write("tarn.yaml", itemsYAML())
        #expect(try await bash(["inspect", "stat", "ta"], in: folder.path) == ["tarn.tarn"])
        #expect(try await bash(["list", "Item", "--store", "ta"], in: folder.path) == ["tarn.tarn"])
        #expect(Set(try await bash(["sync", "--file", "ta"], in: folder.path)) == ["tarn.tarn", "tarn.yaml"])
    }

    @Test("bash completes the tables of a store, fields to set, APIs of --base, policies, and other directories")
    func tablesAndOthers() async throws {
        let store = try await Forge.store
        let tables = try await bash(["inspect", "stat", store, "r/"])
        #expect(tables.count == 6 && tables.first == "r/1", "\(tables)")
        #expect(!(try await bash(["inspect", "stat", store, "r/1", "r/"])).contains("r/1"), "named already")
        #expect(try await bash(["inspect", "stat", store, "meta"]) == ["meta"])
        #expect(try await bash(["inspect", "stat", store + ".none", "r"]) == [])
        let shown = try await tarn("inspect", "stat", store, "r/1", "meta")
        #expect(shown.status == 0 && shown.lines.map { $0.prefix { $0 != " " } } == ["table", "meta", "r/1"])
        let wrong = try await tarn("inspect", "stat", store, "metta")
        #expect(wrong.status == 2 && wrong.error.contains("unknown table \"metta\": did you mean \"meta\"?"))

        #expect(try await bash(["update", "Issue", "--store", store, "--set", "ti"]) == ["title="])
        #expect(try await bash(["update", "Issue", "--store", store, "--add", "la"]) == ["labels="])
        // A reference to one record has no members.
        #expect(try await bash(["update", "Issue", "--store", store, "--add", "mil"]) == [])
        #expect(try await bash(["cache", "collect", store, "--through", "Mil"]) == ["Milestone."])
        #expect(try await bash(["cache", "collect", store, "--through", "Issue.mil"]) == ["Issue.milestone"])
        #expect(try await bash(["fetch", "x", "--policy", "network"]) == ["network-first", "network-only"])
        #expect(try await bash(["inspect", "watch", store, "--format", ""]) == ["table", "ndjson"])
        #expect(try await bash(["outbox", "retry", "--im"]) == [])
        #expect(try await bash(["outbox", "list", "--im"]) == ["--immutable"])
        let folder = try TemporaryFolder()
        _ = try folder.write(
            "tarn.yaml",
            itemsYAML().replacing("api:", with: "apis:\n people: { base: 'https://p.example' }\n forge:"))
        #expect(try await bash(["sync", "--base", "p"], in: folder.path) == ["people="])
        try FileManager.default.createDirectory(atPath: folder.path + "/old", withIntermediateDirectories: false)
        #expect(try await bash(["inspect", "salvage", "o"], in: folder.path) == ["old"])
        #expect(try await bash(["init", "ta"], in: folder.path) == ["tarn.yaml"])
    }

    @Test(
        "in an interactive shell, Tab completes a store, its tables, entities, endpoints and fields",
        arguments: ["bash", "zsh", "fish"])
    func interactive(shell name: String) async throws {
        guard try await shell("command -v \(name)").status == 0 else { return }
        let folder = try TemporaryFolder()
        _ = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        expectSuccess(try await tarn("sync", "--file", folder.path + "/tarn.yaml", "--base", server.base))
        let shell = try InteractiveShell(name, in: folder.path)
        for (typed, expected) in [
            ("tarn inspect stat ta", "tarn.tarn"), ("tarn inspect stat tarn.tarn r/", "r/1"),
            ("tarn list It", "Item"), ("tarn sync it", "items"), ("tarn list Item --fields na", "name"),
            ("tarn list Item --fields id,na", "id,name"), ("tarn count Item --by na", "name"),
            ("tarn list Item --format js", "json"), ("tarn inspect du", "dump"), ("tarn check --onl", "--online"),
        ] {
            let words = try await shell.words(completing: typed)
            let last = words.last?.trimmingCharacters(in: ["/"])
            #expect(last == expected, "\(name): \(typed): \(words)")
        }
    }

    @Test("a broken description, a broken store and odd arguments give no completions, and no error")
    func broken() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("tarn.yaml", "entities: [")
        #expect(try await bash(["list", ""], in: folder.path) == [])
        // Nobody writes to the pipe: Tab does not wait for it.
        let other = try TemporaryFolder()
        #expect(mkfifo(other.path + "/tarn.yaml", 0o600) == 0)
        #expect(try await bash(["list", ""], in: other.path) == [])
        for arguments in [
            ["---complete"], ["---complete", "csh", "1", "tarn"], ["---complete", "bash", "x", "tarn"],
            ["---complete", "bash", "99", "tarn"], ["---complete", "bash", "-1", "tarn", "l"],
        ] {
            let result = try await tarn(arguments)
            #expect(result.status == 0 && result.error == "", "\(result.error)")
            #expect(result.lines.first == "words")
        }
    }

    @Test(
        "the scripts of zsh and fish are right by their shells, where those are installed", arguments: ["zsh", "fish"])
    func syntax(name: String) async throws {
        let script = try await tarn("completions", name)
        #expect(script.status == 0 && script.output.contains("---complete \(name)"))
        let check = try await shell("! command -v \(name) >/dev/null || \(name) -n <(\"$TARN\" completions \(name))")
        #expect(check.status == 0, "\(check.error)")
    }

    @Test("fish offers completions with descriptions, where it is installed")
    func fish() async throws {
        guard try await shell("command -v fish").status == 0 else { return }
        let folder = try TemporaryFolder()
        let link = folder.path + "/tarn"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: TarnProcess.executable)
        let result = try await shell(
            "cd '\(folder.path)'; export HOME='\(folder.path)'; PATH='\(folder.path)':$PATH fish -c "
                + "'tarn completions fish | source; complete -C \"tarn inspect st\"; complete -C \"tarn count x --partials=ex\"'"
        )
        #expect(result.lines.first?.hasPrefix("stat\tShow the content") == true, "\(result)")
        #expect(result.lines.last?.hasPrefix("--partials=excluded") == true, "\(result)")
    }
}
