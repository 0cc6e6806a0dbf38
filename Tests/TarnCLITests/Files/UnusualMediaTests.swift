// Stores where nothing can be written, and files that change while they are looked at.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Command line: unusual media")
struct UnusualMediaTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Mounting needs root, or a sandbox that claims to be root.
    private static let canMount = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["-m", "/bin/mount", "-t", "tmpfs", "none", "/mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(
        "on a medium that nobody can write to, a store is read without any lock if that is asked for, and looked at in any case",
        .enabled(if: canMount))
    func readOnlyMedium() async throws {
        let store = try await Forge.store, commands = folder.path + "/commands", medium = folder.path + "/medium"
        try FileManager.default.createDirectory(atPath: medium, withIntermediateDirectories: false)
        try """
        set -e
        mount -t tmpfs none \(medium)
        mkdir \(medium)/s && cp \(store)/data.mdb \(medium)/s
        mount -o remount,ro \(medium)
        ! touch \(medium)/s/x 2>/dev/null
        ! $TARN count Issue --store \(medium)/s
        $TARN count Issue --store \(medium)/s --immutable
        $TARN inspect stat \(medium)/s | head -n 1
        $TARN inspect dump \(medium)/s | wc -l
        $TARN inspect verify \(medium)/s
        ! $TARN delete Issue --where 'id = 1' --store \(medium)/s
        $TARN store backup \(medium)/s \(folder.path)/copy --immutable
        ls \(medium)/s
        """.write(toFile: commands, atomically: true, encoding: .utf8)
        let result = try await shell("unshare -m bash \(commands)")
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.lines.contains("330") && result.lines.contains("965"), "\(result.output)")
        #expect(
            result.lines.contains { $0.hasSuffix(": sound") } && result.lines.last == "data.mdb", "\(result.output)")
        #expect(result.error.contains("--immutable") && result.error.contains("read without locks"), "\(result.error)")
        try await expectSuccess(tarn("inspect", "verify", folder.path + "/copy"))
    }

    @Test(
        "without /proc, which has the arguments, a command fails with the reason and does nothing",
        .enabled(if: canMount))
    func withoutProc() async throws {
        let store = try await Forge.store
        let result = try await shell(
            "unshare -m sh -c 'umount -l /proc; exec \"$TARN\" store backup \(store) \(folder.path)/copy'")
        #expect(result.status == 1 && result.output.isEmpty && result.error.contains("/proc"), "\(result)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("a user's ~/.sqliterc has no part in an export to SQLite", .enabled(if: canMount))
    func settingsOfSQLite() async throws {
        let store = try await Forge.store
        _ = try folder.write(".sqliterc", ".open other.db\n")
        // `sqlite3` finds the home in the list of users first.
        let commands = try folder.write(
            "commands",
            """
            set -e; cd '\(folder.path)'
            awk -F: -v OFS=: -v home="$PWD" '{ $6 = home } 1' /etc/passwd > passwd
            mount --bind passwd /etc/passwd
            "$TARN" inspect export '\(store)' --sqlite forge.db > /dev/null
            ls *.db
            """)
        let result = try await shell("unshare -m bash '\(commands)'")
        #expect(result.status == 0 && result.lines == ["forge.db"], "\(result)")
    }

    @Test("a file that is cut off while it is looked at ends no command by a signal")
    func cutOffMeanwhile() async throws {
        let original = try Data(contentsOf: URL(fileURLWithPath: try await Forge.store + "/data.mdb"))
        var damaged = 0
        for round in 0..<24 {
            let store = folder.path + "/\(round)"
            try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
            try original.write(to: URL(fileURLWithPath: store + "/data.mdb"))
            let commands = [
                ["verify", store], ["dump", store], ["stat", store], ["salvage", store, store + ".new"],
            ]
            let process = try TarnProcess(
                ["inspect"] + commands[round % 4], environment: ["SWIFT_BACKTRACE": "enable=no"])
            usleep(UInt32(round * 2500))
            // Not below the meta pages, which LMDB itself has mapped.
            truncate(store + "/data.mdb", off_t(8192 + round * 4096))
            let result = await process.end()
            #expect([0, 3, 6].contains(result.status), "\(round): \(result.status) \(result.error)")
            if result.status != 0 { damaged += 1 }
        }
        #expect(damaged > 0)
    }
}
