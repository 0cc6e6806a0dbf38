// `tarn inspect shell`: lines from a pipe, and a person at a terminal.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Command line: the inspector's shell")
struct InspectShellTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func pipe(_ lines: String..., store: String) async throws -> TarnProcess.Result {
        let file = try folder.write("lines", lines.map { $0 + "\n" }.joined())
        return try await shell("\"$TARN\" inspect shell '\(store)' < '\(file)'")
    }

    private func key(of entity: String) async throws -> String {
        try await tarn("inspect", "keys", Forge.store, entity, "--limit", "1").line(0)
    }

    @Test("an input that cannot be read is an error, not one without lines", arguments: ["<&-", "</"])
    func unreadableInput(_ redirection: String) async throws {
        let result = try await shell("\"$TARN\" inspect shell '\(Forge.store)' \(redirection)")
        #expect(result.status == 1 && result.error.contains("standard input cannot be read"), "\(result)")
    }

    @Test("related has --fields, and names the nearest field for a misspelt one")
    func relatedFields() async throws {
        let store = try await Forge.store
        let dumped = try await tarn("inspect", "dump", store, "--entity", "Issue", "--limit", "1")
        let fields = try #require(try json(dumped.output)["fields"] as? [String: Any])
        let user = try #require(fields["author"] as? Int)
        let rows = try await pipe("related User \(user) issues --fields number,title --format csv", store: store)
        #expect(rows.status == 0 && rows.lines.first == "entity,key,number,title", "\(rows)")
        let objects = try await pipe("related User \(user) issues --limit 1 --fields number", store: store)
        #expect(try json(objects.output).keys.sorted() == ["entity", "number"], "\(objects)")
        let wrong = try await pipe("related User \(user) issues --fields titel", store: store)
        #expect(wrong.status == 2 && wrong.error.contains("did you mean \"title\"?"), "\(wrong.error)")
    }

    @Test("each line of a pipe is a command of inspect without the store, with its output and no prompt")
    func commands() async throws {
        let store = try await Forge.store, key = try await key(of: "Issue")
        for (line, arguments) in [
            ("get Issue \(key)", ["get", store, "Issue", key]),
            ("keys Label --limit 3", ["keys", store, "Label", "--limit", "3"]),
            ("schema", ["schema", store]), ("grep 'time out' -i", ["grep", store, "time out", "-i"]),
            ("top --limit 2", ["top", store, "--limit", "2"]), ("cache", ["cache", store]),
            ("changes --limit 4", ["changes", store, "--limit", "4"]), ("verify", ["verify", store]),
            ("dump --entity User", ["dump", store, "--entity", "User"]),
            ("dump --table meta", ["dump", store, "--table", "meta"]),
            ("export --sql", ["export", store, "--sql"]), ("diff '\(store)'", ["diff", store, store]),
        ] {
            let own = try await pipe(line, store: store), other = try await tarn(["inspect"] + arguments)
            // The second may end between the two commands.
            let age = /"age":\d+|for \d+ s"/
            #expect(own.output.replacing(age, with: "") == other.output.replacing(age, with: ""), "\(line)")
            #expect(own.status == other.status && own.error == other.error, "\(line): \(own.status) \(own.error)")
            #expect(!own.output.isEmpty || own.status == 1, "\(line)")
        }
        let statistics = try await pipe("stat", store: store)
        #expect(statistics.output.contains("records of Issue"))
    }

    @Test("list, count and related answer as tarn list, count and related do")
    func ownCommands() async throws {
        let store = try await Forge.store
        let count = try await pipe("count Issue", "count Issue --where 'state = open'", store: store)
        let open = try await tarn("count", "Issue", "--where", "state = open", "--store", store)
        #expect(count.lines == ["330", open.output.trimmingCharacters(in: .whitespacesAndNewlines)])
        let key = try await key(of: "Issue")
        let list = try await pipe("list Label --fields name,color --format csv", store: store)
        #expect(
            try await list.output
                == tarn("list", "Label", "--fields", "name,color", "--format", "csv", "--store", store).output)
        #expect(list.lines.count == 26)
        for relationship in ["author", "labels", "comments"] {
            let own = try await pipe("related Issue \(key) \(relationship)", store: store)
            let other = try await tarn("related", "Issue", key, relationship, "--store", store)
            #expect(own.lines.count == other.lines.count && own.status == 0, "\(relationship) \(own.error)")
            for (a, b) in zip(own.lines, other.lines) {
                let found = try json(a), wanted = try json(b)
                #expect("\(found["id"] ?? "-")" == "\(wanted["id"] ?? "?")")
            }
        }
        #expect(try await pipe("related Issue 999999 author", store: store).status == 1)
    }

    @Test("the exit code is the highest of all lines, and every line runs")
    func exitCodes() async throws {
        let store = try await Forge.store
        let good = try await pipe("# a comment", "", "count Label", ".help", store: store)
        #expect(good.status == 0 && good.lines.first == "25" && good.output.contains(".refresh"), "\(good.error)")
        let failed = try await pipe("get Issue 999999", "count Label", store: store)
        #expect(failed.status == 1 && failed.lines.last == "25")
        let wrong = try await pipe(
            "cuont Label", "get Issue 999999", "count Label --nope", "count 'Label", store: store)
        #expect(wrong.status == 2 && wrong.error.contains("did you mean \"count\"?"), "\(wrong.error)")
        #expect(wrong.error.contains("--nope") && wrong.error.contains("a quotation is not closed"), "\(wrong.error)")
        let copy = folder.path + "/damaged"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: store + "/data.mdb", toPath: copy + "/data.mdb")
        try Damage.flip("color", in: copy)
        let damaged = try await pipe("get Issue 999999", "count Label", "verify", "stat", store: copy)
        #expect(damaged.status == 6, "\(damaged.status) \(damaged.error)")
        #expect(try await pipe(".exit", "nope", store: store).status == 0)
    }

    @Test("all answers are of one commit until .refresh")
    func snapshot() async throws {
        let path = folder.path + "/notes.tarn"
        let schema = Schema([EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int)])])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        func put(_ number: Int64) throws { try store.write { try $0.put("Note", RecordKey(number), []) } }
        try put(1)
        let input = folder.path + "/input"
        mkfifo(input, 0o600)
        let process = try TarnProcess(
            ["-c", "exec \"$TARN\" inspect shell '\(path)' < '\(input)'"],
            environment: ["TARN": TarnProcess.executable], program: "/bin/bash")
        let lines = try #require(FileHandle(forWritingAtPath: input))
        func ask(_ line: String, answers: Int) async throws {
            try lines.write(contentsOf: Data((line + "\n").utf8))
            for _ in 0..<600 where process.output.split(separator: "\n").count < answers {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        try await ask("count Note", answers: 1)
        for number: Int64 in 2...6 { try put(number) }
        try await ask("count Note", answers: 2)
        try await ask("keys Note --count", answers: 3)
        try await ask(".refresh\ncount Note", answers: 4)
        try lines.close()
        let result = await process.end()
        #expect(result.status == 0 && result.lines == ["1", "1", "1", "6"], "\(result)")
    }

    @Test(
        "lines from a pipe go on without a snapshot if the store is gone at .refresh, and are errors until the next one"
    )
    func refreshFromPipe() async throws {
        let path = folder.path + "/notes.tarn", away = folder.path + "/away.tarn"
        let schema = Schema([EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int)])])
        func fill() throws {
            let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
            try store.write { try $0.put("Note", RecordKey(1), []) }
        }
        try fill()
        let result = try await shell(
            #"""
            coproc "$TARN" inspect shell '\#(path)' 2>&1
            pid=$! answers=${COPROC[0]} lines=${COPROC[1]}
            ask() { echo "$1" >&$lines; read -r answer <&$answers; echo "$answer"; }
            ask 'count Note'
            mv '\#(path)' '\#(away)'
            ask .refresh
            echo '# a comment' >&$lines
            ask 'count Note'
            mv '\#(away)' '\#(path)'
            echo .refresh >&$lines
            ask 'count Note'
            eval "exec $lines>&-"
            wait $pid
            """#)
        #expect(result.status == 6 && result.lines.count == 4, "\(result)")
        #expect(result.lines.first == "1" && result.lines.last == "1", "\(result)")
        #expect(result.lines.dropFirst().first?.contains("no such store") == true, "\(result)")
        #expect(
            result.lines.dropFirst(2).first
                == "tarn: count: no snapshot: `.refresh` takes one, `.exit` ends the session", "\(result)")
    }

    @Test("on a terminal, Tab completes commands, entities and fields, and the history recalls lines")
    func terminal() async throws {
        let store = try await Forge.store, key = try await key(of: "Issue"), history = folder.path + "/state/history"
        let first = try await TypedSession.run(
            ["inspect", "shell", store],
            [
                ("forge.tarn> ", "cou\tLab\t\r"), ("25\r\n.*> ", "list Issue --limit 1 --fields nu\t,ti\t\r"),
                ("number +title.*> ", "get Iss\t\(key) --js\t\r"),
                ("\"table\":\"r/.*> ", "grep Grüße\u{7F}e | \u{17}\u{15}count L\tx\u{7F}\r"),
                ("25\r\n.*> ", ".re\t\r"), ("ends the session.*> ", "\u{04}"),
            ], environment: ["TARN_HISTORY": history])
        #expect(first.status == 0 && !first.output.contains("MISSING"), "\(first.output) \(first.error)")
        #expect(first.output.contains("count Label"))
        let kept = try String(contentsOfFile: history, encoding: .utf8)
        #expect(
            kept.hasPrefix(
                "count Label \nlist Issue --limit 1 --fields number,title\nget Issue \(key) --json \ncount Label"),
            "\(kept)")
        let mode = try FileManager.default.attributesOfItem(atPath: history)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let second = try await TypedSession.run(
            ["inspect", "shell", store],
            [
                ("forge.tarn> ", "cou\u{1B}[A\r"), ("25\r\n.*> ", "sta\u{1}x\u{1B}[3~\u{1B}[D\u{4}\u{5}t\u{3}"),
                ("> ", ".exit\r"),
            ],
            environment: ["TARN_HISTORY": history])
        #expect(second.status == 0 && !second.output.contains("MISSING"), "\(second.output)")
    }

    private static let lost = #"""
        import os, pty, signal, sys, termios, time
        def begin():
            child, master = pty.fork()
            if child == 0:
                os.environ.update(TERM='xterm', TARN_HISTORY='')
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                os.execv(sys.argv[1], sys.argv[1:])
            seen = b''
            while b'> ' not in seen:
                seen += os.read(master, 65536)
            os.write(master, b'half')
            while b'half' not in seen:
                seen += os.read(master, 65536)
            return child, master
        def is_raw(terminal):
            return not termios.tcgetattr(terminal)[3] & termios.ICANON
        for number in signal.SIGTERM, signal.SIGQUIT:
            child, master = begin()
            before = is_raw(master)
            os.kill(child, number)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(before, is_raw(master), status)
        child, master = begin()
        os.close(master)
        for _ in range(200):
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                print(os.waitstatus_to_exitcode(status))
                break
            time.sleep(0.1)
        else:
            os.kill(child, 9)
            print('goes on')
        """#

    @Test("SIGTERM and SIGQUIT take the terminal out of raw mode; one that is gone ends a session with half a line")
    func lostTerminal() async throws {
        let script = try folder.write("lost.py", Self.lost)
        let result = try await TarnProcess(
            ["python3", script, TarnProcess.executable, "inspect", "shell", try await Forge.store],
            program: "/usr/bin/env"
        ).end()
        #expect(result.lines == ["True False 143", "True False 131", "0"], "\(result)")
    }

    @Test("with TERM=dumb there are a first line and a prompt, and no escape sequence")
    func dumbTerminal() async throws {
        let result = try await TypedSession.run(
            ["inspect", "shell", try await Forge.store],
            [("ends the session.*forge.tarn> ", "count Label\r"), ("25\r\nforge.tarn> ", ".exit\r")],
            environment: ["SESSION_TERM": "dumb", "TARN_HISTORY": ""])
        #expect(result.status == 0 && !result.output.contains("MISSING"), "\(result.output)")
        #expect(!result.output.contains("\u{1B}"), "\(result.output.debugDescription)")
    }

    @Test("a store that is gone at .refresh does not end a session on a terminal")
    func refreshWithoutStore() async throws {
        let path = folder.path + "/gone.tarn"
        let schema = Schema([EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int)])])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        try await store.write { try $0.put("Note", RecordKey(1), []) }
        let moving = Task.detached {
            // Once the session holds its snapshot.
            while try !Store.readers(ofStoreAt: path, clearing: false).contains(where: {
                $0.transaction != nil && $0.processID != getpid()
            }) { try await Task.sleep(for: .milliseconds(20)) }
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        }
        let result = try await TypedSession.run(
            ["inspect", "shell", path],
            [
                ("ends the session.*> ", "\0count Note\r"), ("1\r\n.*> ", ".refresh\r"),
                ("no such store.*no snapshot; .refresh[)]> ", "count Note\r"), ("no snapshot: .*> ", ".exit\r"),
            ], environment: ["TARN_HISTORY": ""])
        try await moving.value
        #expect(result.status == 0 && !result.output.contains("MISSING"), "\(result.output.suffix(2000))")
    }

    @Test("the prompt shows how far the snapshot is behind, and Ctrl-C ends a command but not the session")
    func interrupted() async throws {
        let path = folder.path + "/notes.tarn"
        let schema = Schema([
            EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int), .init("text", .string)])
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        try await store.write { writer in
            for number: Int64 in 1...60_000 {
                try writer.put("Note", RecordKey(number), [.init("text", .string("text \(number) \(number * 7919)"))])
            }
        }
        let writing = Task.detached {
            // Once the session holds its snapshot.
            while try !Store.readers(ofStoreAt: path, clearing: false).contains(where: {
                $0.transaction != nil && $0.processID != getpid()
            }) { try await Task.sleep(for: .milliseconds(20)) }
            for number: Int64 in 1...3 {
                try await store.write { try $0.put("Note", RecordKey(number), [.init("text", .string("new"))]) }
            }
        }
        let result = try await TypedSession.run(
            ["inspect", "shell", path],
            [
                ("ends the session.*> ", "dump\r"), ("\"key\":30,", "\u{3}"), ("interrupted.*> ", "\0\r"),
                ("3 commits behind.*> ", ".refresh\r"), ("commit 4.*notes.tarn> ", ".exit\r"),
            ], environment: ["TARN_HISTORY": ""])
        try await writing.value
        #expect(result.status == 0 && !result.output.contains("MISSING"), "\(result.output.suffix(2000))")
        #expect(!result.output.contains("\"key\":60000,"))
    }
}
