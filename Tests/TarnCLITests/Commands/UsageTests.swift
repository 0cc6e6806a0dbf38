// Help, usage errors and the places where a description or a store is looked for.

import Foundation
import TestSupport
import Testing

@Suite("Command line: help and usage")
struct UsageTests {
    @Test(
        "--help of every command shows an example and is exit 0",
        arguments: [
            ([], "tarn sync "), (["sync"], "  tarn sync issues comments"), (["list"], "  tarn list Issue --limit 10"),
            (["get"], "  tarn get Issue 7"), (["count"], "  tarn count Issue --by author.login"),
            (["missing"], "  tarn missing Issue author"),
            (["explain"], "  tarn explain Issue --where"), (["update"], "  tarn update Issue --where"),
            (["delete"], "  tarn delete Comment --where"),
            (["create"], "  tarn create Issue --set"), (["push"], "  tarn push --watch"),
            (["outbox"], "  tarn outbox discard 12"), (["outbox", "list"], "  tarn outbox list --state dead"),
            (["outbox", "show"], "  tarn outbox show 12"), (["outbox", "retry"], "  tarn outbox retry --all"),
            (["outbox", "discard"], "  tarn outbox discard 12"),
            (["related"], "  tarn related Issue 7 author"),
            (["inspect"], "  tarn inspect stat forge.tarn"), (["inspect", "stat"], "  tarn inspect stat forge.tarn"),
            (["inspect", "dump"], "  tarn inspect dump forge.tarn > forge.ndjson"),
            (["inspect", "keys"], "  tarn inspect keys forge.tarn Issue --limit 10"),
            (["inspect", "schema"], "  tarn inspect schema forge.tarn > catalog.yaml"),
            (["inspect", "top"], "  tarn inspect top forge.tarn --entity Issue"),
            (["inspect", "grep"], "  tarn inspect grep forge.tarn crash --ignore-case"),
            (["inspect", "changes"], "  tarn inspect changes forge.tarn --since 120"),
            (["inspect", "readers"], "  tarn inspect readers forge.tarn --clear"),
            (["inspect", "watch"], "  tarn inspect watch forge.tarn --entity Issue"),
            (["inspect", "verify"], "  tarn inspect verify forge.tarn --json"),
            (["inspect", "salvage"], "  tarn inspect salvage damaged.tarn forge.tarn"),
            (["login"], "  tarn login crm --device --no-open"), (["logout"], "  tarn logout crm"),
            (["store"], "  tarn store compact forge.tarn"),
            (["store", "backup"], "  tarn store backup forge.tarn backups/forge.tarn --verify"),
            (["store", "compact"], "  tarn store compact forge.tarn"),
            (["store", "rewrite"], "  tarn store rewrite forge.tarn --entity Issue"),
            (["store", "repair"], "  tarn store repair forge.tarn --dry-run"),
            (["store", "readers"], "  tarn store readers forge.tarn --clear"),
            (["store", "quota"], "  tarn store quota forge.tarn --set 2GiB"),
        ] as [([String], String)])
    func helpHasAnExample(command: [String], example: String) async throws {
        for flag in ["--help", "-h"] {
            let result = try await tarn(command + [flag])
            #expect(result.status == 0)
            #expect(result.error == "")
            #expect(result.output.contains(example), "\(result.output)")
            #expect(result.output.contains("USAGE: tarn"))
        }
    }

    @Test("tarn --help lists every command and the exit codes; --version is a version")
    func overview() async throws {
        let help = try await tarn("--help").output
        for text in [
            "sync", "list", "get", "related", "count", "missing", "explain", "create", "update", "delete", "push",
            "outbox", "inspect",
            "Exit codes: 0 done; 1 failed; 2 usage or description; 3 partial",
            "login", "logout", "check", "doctor", "completions", "schema",
        ] {
            #expect(help.contains(text), "\(text)")
        }
        let version = try await tarn("--version")
        #expect(
            version.status == 0 && version.lines.first?.wholeMatch(of: /tarn \d+\.\d+\.\d+/) != nil, "\(version.output)"
        )
        for library in ["store format 3", "Swift 6.", "liblmdb 0.", "libcurl 7.", "OpenSSL/", "simdjson ", "zstd 1."] {
            #expect(version.output.contains(library), "\(version.output)")
        }
    }

    @Test(
        "a usage error is exit 2 and its first line says what is wrong",
        arguments: [
            (["frobnicate"], "tarn: unknown command \"frobnicate\": expected one of init, sync, "),
            (["sync", "--frobnicate"], "tarn: unknown option \"--frobnicate\": expected one of --file, "),
            (["list"], "tarn: Missing expected argument '<entity>'"),
            (["get", "Issue"], "tarn: Missing expected argument '<key>'"),
            (["related", "Issue", "7"], "tarn: Missing expected argument '<relationship>'"),
            (["inspect", "dump"], "tarn: Missing expected argument '<store>'"),
            (["inspect", "nothing"], "tarn: unknown command \"nothing\": expected one of stat, dump, "),
            (["list", "Issue", "--limit=-1"], "tarn: --limit must not be negative"),
            (["list", "Issue", "--limit", "many"], "tarn: The value 'many' is invalid for '--limit <limit>'"),
            (["related", "Issue", "7", "labels", "--limit=-1"], "tarn: --limit must not be negative"),
            (["list", "Issue", "--format", "xml"], "tarn: The value 'xml' is invalid for '--format <format>'"),
        ] as [([String], String)])
    func usageErrors(arguments: [String], line: String) async throws {
        let result = try await tarn(arguments)
        #expect(result.status == 2, "\(result.error)")
        #expect(result.errorLines.first?.hasPrefix(line) == true, "\(result.error)")
        #expect(result.output == "")
    }

    @Test("the description is looked for in the working directory, and its store beside it")
    func defaultPlaces() async throws {
        let folder = try TemporaryFolder()
        let none = try await shell("cd '\(folder.path)' && \"$TARN\" list Item")
        #expect(none.status == 2)
        #expect(
            none.error
                == "tarn: there is no tarn.yaml in this directory: name the store with --store, or the description with --file\n"
        )
        let noSync = try await shell("cd '\(folder.path)' && \"$TARN\" sync")
        #expect(noSync.status == 2 && noSync.errorLines.count == 1)
        #expect(noSync.error.hasPrefix("tarn: tarn.yaml: no such file"), "\(noSync.error)")

        _ = try folder.write("tarn.yaml", "store: kept/../items.tarn\n" + itemsYAML())
        try FileManager.default.createDirectory(atPath: folder.path + "/kept", withIntermediateDirectories: false)
        let empty = try await shell("cd '\(folder.path)' && \"$TARN\" list Item")
        #expect(empty.status == 6 && empty.error.contains("no such store; `tarn sync` creates one"), "\(empty.error)")
        let server = try LocalServer(itemPages)
        let sync = try await shell("cd '\(folder.path)' && \"$TARN\" sync --base \(server.base)")
        #expect(sync.status == 0, "\(sync.error)")
        #expect(FileManager.default.fileExists(atPath: folder.path + "/items.tarn/data.mdb"))
        #expect(try await shell("cd '\(folder.path)' && \"$TARN\" list Item").lines.count == 3)
    }

    @Test("an endpoint that the description does not have is exit 2 and names those it has; a bad --base is exit 2 too")
    func syncArguments() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let endpoint = try await tarn("sync", "--file", file, "item")
        #expect(
            endpoint.status == 2
                && endpoint.error == "tarn: \(file): unknown endpoint \"item\": did you mean \"items\"?\n")
        let base = try await tarn("sync", "--file", file, "--base", "localhost:80")
        #expect(
            base.status == 2
                && base.error == "tarn: --base localhost:80: expected an absolute URL with http:// or https://\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tarn.yaml"])
    }
}
