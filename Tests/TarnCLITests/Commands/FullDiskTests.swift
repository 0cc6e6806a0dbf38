// Full disks, and outputs that cannot be written: nothing that cannot be had again is lost, and
// nothing is left behind.

import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Command line: full disks", .timeLimit(.minutes(5)))
struct FullDiskTests {
    /// The refresh tokens of a server that accepts each of them once: `refresh-0`, `refresh-1`, …
    private final class Tokens: Sendable {
        private let used = Mutex(0)

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            guard request.target == "/token" else {
                return ScriptedServer.Answer(body: #"[{"id":1,"name":"one"}]"#)
            }
            return used.withLock { used in
                guard request.body.split(separator: "&").contains("refresh_token=refresh-\(used)") else {
                    return ScriptedServer.Answer(status: "400 Bad Request", body: #"{"error":"invalid_grant"}"#)
                }
                used += 1
                return ScriptedServer.Answer(
                    body: #"{"access_token":"a\#(used)","token_type":"bearer","refresh_token":"refresh-\#(used)"}"#)
            }
        }
    }

    /// Runs a shell command with a disk of its own at `$DISK`; `$TARN` is the executable.
    private func withDisk(_ size: String, _ command: String, in folder: TemporaryFolder) async throws
        -> TarnProcess.Result
    {
        let disk = folder("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        return try await TarnProcess(
            ["-m", "/bin/bash", "-c", "mount -t tmpfs -o size=\(size) tmpfs \"$DISK\" || exit 99\n\(command)"],
            environment: ["TARN": TarnProcess.executable, "DISK": disk], program: "/usr/bin/unshare"
        ).end()
    }

    @Test(
        "a full disk costs no refresh token: without room for the next one, none is used",
        .enabled(if: Mounts.arePermitted, "mounting is not permitted here"))
    func refreshToken() async throws {
        let folder = try TemporaryFolder(), tokens = Tokens(), server = try ScriptedServer { tokens.answer($0) }
        let token = "refresh_token: { file: '\(folder("disk"))/token' }"
        let oauth = "{ token_url: '\(server.base)/token', client_id: tarn, \(token) }"
        let file = try folder.write(
            "tarn.yaml",
            itemsYAML("paginate: single_page", api: "  auth: { oauth2: \(oauth) }")
                .replacing("https://api.test.example", with: server.base))
        let sync = "\"$TARN\" sync --quiet --file \"$DISK/tarn.yaml\" --store '\(folder("s.tarn"))'"
        let result = try await withDisk(
            "1m",
            """
            echo refresh-0 > "$DISK/token" && cp '\(file)' "$DISK/" || exit 98
            cat /dev/zero > "$DISK/fill" 2>/dev/null
            \(sync); echo "full: $?, $(cat "$DISK/token")"
            rm "$DISK/fill"
            \(sync); echo "room: $?, $(cat "$DISK/token")"
            ls "$DISK"
            """, in: folder)
        #expect(
            result.lines == ["full: 4, refresh-0", "room: 0, refresh-1", "tarn.yaml", "token"], "\(result)")
        #expect(result.error.contains("No space left on device. No token was requested"), "\(result.error)")
        #expect(server.targets.count { $0 == "/token" } == 1, "\(server.targets)")
    }

    @Test(
        "a proposal that finds no room leaves nothing, with --force as well, and is written once there is some",
        .enabled(if: Mounts.arePermitted, "mounting is not permitted here"))
    func proposalWithoutRoom() async throws {
        let folder = try TemporaryFolder()
        let answer = try folder.write("items.json", #"[{"id":1,"name":"one"},{"id":2,"name":"two"}]"#)
        let start = "\"$TARN\" init '\(answer)' --base http://127.0.0.1:9 --quiet --output \"$DISK/tarn.yaml\""
        let result = try await withDisk(
            "64k",
            """
            cat /dev/zero > "$DISK/fill" 2>/dev/null
            \(start); echo "new: $?"; \(start) --force; echo "forced: $?"; ls "$DISK"
            rm "$DISK/fill"; \(start); echo "room: $?"; ls "$DISK"
            """, in: folder)
        #expect(result.lines == ["new: 1", "forced: 1", "fill", "room: 0", "tarn.yaml"], "\(result)")
        #expect(
            result.errorLines.allSatisfy { $0.contains("cannot write") } && result.errorLines.count == 2, "\(result)")
    }

    @Test("a proposal that cannot be checked, for want of a temporary folder, is not written, also with --quiet")
    func uncheckedProposal() async throws {
        let folder = try TemporaryFolder(), proposal = folder("tarn.yaml")
        let answer = try folder.write("items.json", #"[{"id":1,"name":"one"},{"id":2,"name":"two"}]"#)
        let arguments = ["init", answer, "--base", "http://127.0.0.1:9", "--quiet", "--output", proposal]
        let result = try await tarn(arguments, environment: ["TMPDIR": folder("none")])
        #expect(result.status == 1 && result.error.contains(folder("none")), "\(result)")
        #expect(result.error.contains("cannot be checked") && result.error.contains("TMPDIR"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: proposal))
        expectSuccess(try await tarn(arguments))
    }

    @Test(
        "commands that make a temporary or a new store on a full disk do not advise an option that they lack",
        .enabled(if: Mounts.arePermitted, "mounting is not permitted here"))
    func advice() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages)
        let answer = try folder.write("items.json", #"[{"id":1,"name":"one"}]"#)
        let lines = try folder.write("lines", #"{"entity":"Item","key":1,"fields":{"id":1,"name":"one"}}"# + "\n")
        let file = try folder.write("tarn.yaml", itemsYAML())
        for (status, command) in [
            (1, "init '\(answer)' --base http://127.0.0.1:9 --output '\(folder("new.yaml"))'"),
            (6, "check --online --file '\(file)' --base '\(server.base)'"),
            (6, "store import \"$DISK/new.tarn\" '\(lines)' --file '\(file)'"),
        ] as [(Int32, String)] {
            let result = try await withDisk("64k", "TMPDIR=\"$DISK\" \"$TARN\" \(command)", in: folder)
            #expect(result.status == status, "\(command): \(result)")
            #expect(
                result.error.contains("disk is full") && !result.error.contains("--immutable"),
                "\(command): \(result.error)")
        }
    }

    @Test(
        "a full folder of temporary files is no error of a description that is checked online",
        .enabled(if: Mounts.arePermitted, "mounting is not permitted here"))
    func onlineCheck() async throws {
        let folder = try TemporaryFolder(), name = String(repeating: "long ", count: 100_000)
        let server = try LocalServer([recording("/items", #"[{"id":1,"name":"\#(name)"}]"#)])
        let file = try folder.write("tarn.yaml", itemsYAML("paginate: single_page"))
        let check = "TMPDIR=\"$DISK\" \"$TARN\" check --online --file '\(file)' --base '\(server.base)'"
        // Enough for a new store, and not for the record.
        let full = try await withDisk("300k", check, in: folder)
        #expect(full.status == 6 && full.output.isEmpty, "\(full)")
        #expect(full.error.contains("disk is full") && full.error.contains("tarn-check-"), "\(full.error)")
        let sound = try await withDisk("8m", check, in: folder)
        #expect(sound.status == 0, "\(sound)")
    }

    @Test(
        "a run without a store whose output cannot be written leaves no temporary store",
        arguments: [
            ("--dry-run", "> /dev/full"), ("--dry-run --json", "| true"), ("--offline", "> /dev/full"),
        ] as [(String, String)])
    func temporaryStore(_ options: String, _ output: String) async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages), temporary = folder("temporary")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        let file = try folder.write("tarn.yaml", itemsYAML())
        let sync = "\"$TARN\" sync --file '\(file)' --store '\(folder("s.tarn"))' --base '\(server.base)' \(options)"
        // The reader of the pipe has ended before the first line.
        let result = try await shell("export TMPDIR='\(temporary)'; (sleep 0.5; \(sync)) \(output); exit 0")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty, "\(result)")
        #expect(!FileManager.default.fileExists(atPath: folder("s.tarn")))
    }

    @Test("a wrong name of a table leaves no picture, which would be in the way of the next attempt")
    func picture() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store, picture = folder("sizes.svg")
        let wrong = try await tarn("inspect", "stat", store, "nothing", "--plot", picture)
        #expect(wrong.status == 2 && !FileManager.default.fileExists(atPath: picture), "\(wrong)")
        expectSuccess(try await tarn("inspect", "stat", store, "meta", "--plot", picture))
    }
}
