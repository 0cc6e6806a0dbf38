// Every exit code that `tarn --help` lists, each of a real process.

import Foundation
import TestSupport
import Testing

@Suite("Command line: exit codes")
struct ExitCodeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var status: Int32
        var name: String
        /// FILE is a description of an API at BASE with a mirrored store, STORE is that store, NEW
        /// is a store that does not exist.
        var arguments: [String]
        var fault: String?
        /// The text of the error.
        var shows = ""
        var testDescription: String { "\(status): \(name)" }
    }

    private static let sync = ["sync", "--file", "FILE", "--store", "NEW", "--base", "BASE", "--attempts", "1"]

    static let cases: [Case] = [
        Case(status: 0, name: "a sync", arguments: sync),
        Case(status: 0, name: "a list", arguments: ["list", "Item", "--store", "STORE"]),
        Case(status: 0, name: "help", arguments: ["help"]),
        Case(status: 0, name: "help of a subcommand", arguments: ["help", "inspect", "dump"]),
        Case(status: 0, name: "a sound store", arguments: ["inspect", "verify", "STORE"]),
        Case(
            status: 1, name: "a record that is not there", arguments: ["get", "Item", "99", "--store", "STORE"],
            shows: "Item 99 is not in the store"),
        Case(status: 1, name: "a server that fails", arguments: sync, fault: ":status:500", shows: "500"),
        Case(
            status: 1, name: "a page that is not there", arguments: ["fetch", "--raw", "BASE/none", "--store", "NEW"],
            shows: "404"),
        Case(status: 1, name: "a backup onto a store", arguments: ["store", "backup", "STORE", "STORE"]),
        Case(status: 2, name: "no such command", arguments: ["frobnicate"]),
        Case(
            status: 2, name: "help for no such command", arguments: ["help", "bogus"],
            shows: "unknown command \"bogus\": expected one of init, sync, "),
        Case(
            status: 2, name: "help for no such subcommand", arguments: ["help", "inspect", "bogus"],
            shows: "unknown command \"bogus\": expected one of stat, "),
        Case(status: 2, name: "an option that is not there", arguments: ["list", "Item", "--bogus"]),
        Case(status: 2, name: "an entity that is not there", arguments: ["list", "Bogus", "--store", "STORE"]),
        Case(status: 2, name: "no description", arguments: ["sync", "--file", "NEW"]),
        Case(
            status: 2, name: "a condition that is none",
            arguments: ["count", "Item", "--where", "name =", "--store", "STORE"]),
        Case(status: 3, name: "a second page that fails", arguments: sync, fault: "page=2:status:500"),
        Case(status: 3, name: "a second page that refuses credentials", arguments: sync, fault: "page=2:status:401"),
        Case(status: 4, name: "a server that refuses credentials", arguments: sync, fault: ":status:401"),
        Case(status: 4, name: "a server that forbids", arguments: sync, fault: ":status:403"),
        Case(
            status: 4, name: "a token that is not set",
            arguments: ["sync", "--file", "TOKENFILE", "--store", "NEW", "--base", "BASE"], shows: "TARN_TEST_NO_TOKEN"),
        Case(
            status: 4, name: "a refused URL", arguments: ["fetch", "--raw", "BASE/items", "--store", "NEW"],
            fault: ":status:401", shows: "the server returned 401"),
        Case(
            status: 4, name: "a forbidden URL", arguments: ["fetch", "--raw", "BASE/items", "--store", "NEW"],
            fault: ":status:403"),
        Case(
            status: 7, name: "too many requests to a URL",
            arguments: ["fetch", "--raw", "BASE/items", "--store", "NEW"],
            fault: ":status:429"),
        Case(
            status: 5, name: "no server",
            arguments: ["sync", "--file", "FILE", "--store", "NEW", "--base", "DEAD", "--attempts", "1"]),
        Case(
            status: 5, name: "nothing stored, offline",
            arguments: ["fetch", "items", "--offline", "--file", "FILE", "--store", "NEW"]),
        Case(status: 6, name: "no store", arguments: ["list", "Item", "--store", "NEW"]),
        Case(status: 6, name: "no store to verify", arguments: ["inspect", "verify", "NEW"]),
        Case(status: 7, name: "too many requests", arguments: sync, fault: ":status:429", shows: "--ignore-limits"),
        Case(
            status: 7, name: "too many requests, one answer",
            arguments: ["fetch", "items", "--file", "RETRYFILE", "--store", "NEW", "--base", "BASE"],
            fault: ":status:429"),
        Case(status: 7, name: "too many requests after a page", arguments: sync, fault: "page=2:status:429"),
    ]

    @Test("each documented exit code is that of its processes", arguments: cases)
    func code(_ each: Case) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let tokens = try folder.write("tokens.yaml", itemsYAML(api: "  auth: { bearer: { env: TARN_TEST_NO_TOKEN } }"))
        let retry = try folder.write("retry.yaml", itemsYAML(api: "  retry: never"))
        let store = folder.path + "/mirrored.tarn"
        let sound = try LocalServer(itemPages)
        expectSuccess(try await tarn("sync", "--file", file, "--store", store, "--base", sound.base))
        let server = try each.fault.map { try LocalServer(itemPages, "--fault", $0) } ?? sound
        let dead = DeadPort()
        let names = [
            "FILE": file, "TOKENFILE": tokens, "RETRYFILE": retry, "STORE": store, "NEW": folder.path + "/new",
            "DEAD": "http://127.0.0.1:\(dead.port)",
        ]
        let result = try await tarn(each.arguments.map { names[$0] ?? $0.replacing("BASE", with: server.base) })
        #expect(result.status == each.status, "\(result.error)\(result.output)")
        #expect((result.status == 0) == result.error.isEmpty, "\(result.error)")
        #expect(each.shows.isEmpty || result.error.contains(each.shows), "\(result.error)")
    }

    @Test(
        "a process that is interrupted ends with 128 and the number of the first signal",
        arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func interrupted(signal: Int32, status: Int32) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages, "--fault", "page=2:stall:600")
        let sync = try TarnProcess(["sync", "--file", file, "--base", server.base])
        try await eventually { server.requests.contains { $0.contains("page=2 ") } }
        sync.send(signal)
        let synced = await sync.end()
        #expect(synced.status == status, "\(synced.error)")
        let watch = try TarnProcess(["watch", "Item", "--file", file])
        try await eventually { !watch.output.isEmpty }
        watch.send(signal)
        let watched = await watch.end()
        #expect(watched.status == status && watched.error == "", "\(watched.error)")
    }

    @Test("a process whose reader has ended is ended by SIGPIPE, without a word")
    func withoutReader() async throws {
        let result = try await shell(
            "env --default-signal=PIPE \"$TARN\" inspect dump '\(try await Forge.store)' | true; exit ${PIPESTATUS[0]}")
        #expect(result.status == 141 && result.error == "", "\(result)")
    }

    @Test("a command that handles interrupts has the exit code 141 as well when its reader has ended")
    func interruptibleWithoutReader() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        let result = try await shell(
            "(sleep 0.5; env --default-signal=PIPE \"$TARN\" sync --json --file '\(file)' --base '\(server.base)') | true; "
                + "exit ${PIPESTATUS[0]}")
        #expect(result.status == 141, "\(result)")
    }

    @Test("a file that exceeds the limit of the shell is an error with a message, and no signal")
    func fileSizeLimit() async throws {
        let folder = try TemporaryFolder()
        let result = try await shell(
            "ulimit -f 256; \"$TARN\" store backup '\(try await Forge.store)' '\(folder.path)/copy.tarn'; exit $?")
        #expect(result.status == 6 && result.error.contains("ulimit -f"), "\(result)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "an output that does not block is waited for",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func nonBlockingOutput() async throws {
        let store = try await Forge.store
        let whole = try await tarn("inspect", "dump", store)
        let program = """
            import os, subprocess, sys, time
            a, b = os.pipe()
            os.set_blocking(b, False)
            child = subprocess.Popen(sys.argv[1:], stdout=b)
            os.close(b)
            time.sleep(1)
            with os.fdopen(a, "rb") as f: sys.stdout.buffer.write(f.read())
            sys.exit(child.wait())
            """
        let result = try await TarnProcess(
            ["-c", program, TarnProcess.executable, "inspect", "dump", store], program: "/usr/bin/python3"
        ).end()
        #expect(result.status == 0 && result.output == whole.output, "\(result.error)")
    }

    @Test(
        "an input that does not block is waited for",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")),
        arguments: ["pipe", "socketpair"])
    func nonBlockingInput(kind: String) async throws {
        let program = """
            import os, socket, subprocess, sys, time
            a, b = os.pipe() if sys.argv[1] == "pipe" else [each.detach() for each in socket.socketpair()]
            os.set_blocking(a, False)
            child = subprocess.Popen(sys.argv[2:], stdin=a, stdout=subprocess.PIPE)
            # Until it reads its standard input (proc_pid_syscall(5)), or has ended.
            def is_reading():
                try: return open(f"/proc/{child.pid}/syscall").read().startswith(("0 0x0 ", "63 0x0 "))
                except OSError: return True
            for _ in range(500):
                if child.poll() is not None or is_reading(): break
                time.sleep(0.01)
            if child.poll() is None: os.write(b, b"count Issue\\n")
            os.close(b)
            os.close(a)
            print(child.stdout.read().decode(), end="")
            sys.exit(child.wait())
            """
        let result = try await TarnProcess(
            ["-c", program, kind, TarnProcess.executable, "inspect", "shell", try await Forge.store],
            program: "/usr/bin/python3"
        ).end()
        #expect(result.status == 0 && result.lines == ["330"], "\(result)")
    }

    @Test(
        "an input that does not block, and whose writers have closed their named pipe, is read to its end",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func closedInput() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let program = """
            import os, subprocess, sys
            os.mkfifo(sys.argv[1])
            a = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
            b = os.open(sys.argv[1], os.O_WRONLY)
            os.write(b, b"count Issue\\n")
            os.close(b)
            sys.exit(subprocess.call(sys.argv[2:], stdin=a, timeout=60))
            """
        let result = try await TarnProcess(
            ["-c", program, folder("pipe"), TarnProcess.executable, "inspect", "shell", try await Forge.store],
            program: "/usr/bin/python3"
        ).end()
        #expect(result.status == 0 && result.lines == ["330"], "\(result)")
    }

    @Test("a dry run does not make the directory of temporary files")
    func missingTemporaryDirectory() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        let result = try await tarn(
            ["sync", "--dry-run", "--file", file, "--base", server.base], environment: ["TMPDIR": folder("none")])
        #expect(result.status == 1 && result.error.contains(folder("none")), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: folder("none")))
    }

    /// A process that watches the items of a store, once it has printed their number.
    private func watching(
        in folder: TemporaryFolder, _ start: (_ file: String) throws -> TarnProcess
    ) async throws -> TarnProcess {
        let file = try folder.write("tarn.yaml", itemsYAML()), server = try LocalServer(itemPages)
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        let watch = try start(file)
        try await eventually { watch.output.contains("count") }
        return watch
    }

    @Test("SIGQUIT ends a process at once, without Swift's backtrace")
    func quit() async throws {
        let folder = try TemporaryFolder()
        let watch = try await watching(in: folder) { file in
            try TarnProcess(
                ["watch", "Item", "--file", file], environment: ["SWIFT_BACKTRACE": "enable=yes,color=no"])
        }
        watch.send(SIGQUIT)
        let ended = await watch.end()
        #expect(ended.status == -SIGQUIT && ended.error.isEmpty, "\(ended)")
    }

    @Test("under nohup a SIGHUP ends nothing")
    func withoutTerminal() async throws {
        let folder = try TemporaryFolder()
        let watch = try await watching(in: folder) { file in
            try TarnProcess(
                ["nohup", TarnProcess.executable, "watch", "Item", "--file", file], program: "/usr/bin/env")
        }
        watch.send(SIGHUP)
        watch.send(SIGTERM)
        let ended = await watch.end()
        #expect(ended.status == 143, "\(ended)")
    }

    @Test("a signal that the parent ignores ends nothing: SIGINT of a command in the background of a script")
    func ignoredByTheParent() async throws {
        let folder = try TemporaryFolder()
        let watch = try await watching(in: folder) { file in
            try TarnProcess(
                ["-c", "trap '' INT; exec \"$0\" watch Item --file \"$1\"", TarnProcess.executable, file],
                program: "/bin/bash")
        }
        watch.send(SIGINT)
        watch.send(SIGTERM)
        let ended = await watch.end()
        #expect(ended.status == 143, "\(ended)")
    }

    @Test("a parent that ignores SIGCHLD hides no failure of a program: of sqlite3, or of a command for a secret")
    func ignoredChildren() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages), store = try await Forge.store
        let ignoring = "env --ignore-signal=CHLD \"$TARN\""
        let database = folder("forge.db")
        let export = try await shell("ulimit -f 100; \(ignoring) inspect export '\(store)' --sqlite '\(database)'")
        #expect(export.status == 1 && export.error.hasPrefix("tarn: \(database): sqlite3: "), "\(export)")
        #expect(!FileManager.default.fileExists(atPath: database))
        let command = "  auth: { bearer: { command: [sh, -c, 'echo s3cret; exit 3'] } }"
        let file = try folder.write("tarn.yaml", itemsYAML(api: command))
        let sync = try await shell("\(ignoring) sync --file '\(file)' --base '\(server.base)'")
        #expect(sync.status == 4 && sync.error.contains("failed with status 3"), "\(sync)")
        #expect(server.requests.isEmpty)
    }

    @Test("`tarn --help` lists exactly the codes that are tested here")
    func documented() async throws {
        let help = try await tarn("--help").output
        let text = try #require(help.firstMatch(of: /Exit codes: ([^.]*)\./)?.1)
        let listed = Set(text.matches(of: /\d+/).compactMap { Int32($0.0) })
        // 8 takes two syncs (`ForEachKillTests`), and 9 commits meanwhile (`ReadOnlyTests`).
        #expect(listed == Set(Self.cases.map(\.status) + [8, 9, 129, 130, 131, 141, 143]))
        let page = try await tarn("help", "exit-codes")
        #expect(page.status == 0)
        let rows = page.lines.compactMap { $0.firstMatch(of: /^ {2}(\d+) +\S/).flatMap { Int32($0.1) } }
        #expect(rows == rows.sorted() && Set(rows) == listed, "\(page.output)")
    }
}
