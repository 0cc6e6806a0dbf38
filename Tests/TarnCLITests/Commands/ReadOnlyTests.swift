// Stores on read-only mounts and full disks, and users without permission: real ones, in namespaces
// of their own.

import Foundation
import Glibc
import TarnStore
import TestSupport
import Testing

/// Mounts that only the child processes of a test see.
enum Mounts {
    /// Why there are none: nil if this user may mount.
    static let obstacle: String? = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "unshare -m sh -c 'mount -t tmpfs -o size=64k tmpfs /mnt' >/dev/null 2>&1"]
        do { try process.run() } catch { return "there is no shell" }
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : "mounting is not permitted here (unshare -m, mount)"
    }()
    static var arePermitted: Bool { obstacle == nil }
    static var hasOtherUser: Bool { getuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0 }
}

@Suite("Stores that cannot be locked", .timeLimit(.minutes(5)))
struct ReadOnlyTests {
    let folder: TemporaryFolder
    let store: String

    private static let schema = Schema([
        EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int), .init("text", .string, optional: true)])
    ])

    init() throws {
        folder = try TemporaryFolder()
        store = folder.path + "/s.tarn"
        let store = try Store.open(at: store, schema: ReadOnlyTests.schema, options: .init(durability: .relaxed))
        try store.write { writer in
            for key: Int64 in 0..<3000 {
                try writer.put(
                    "Note", RecordKey(key),
                    [.init("text", .string("note \(key) " + String(repeating: "\(key) ", count: 40)))])
            }
        }
    }

    /// Commits that change every record, one transaction each.
    private func commit(_ count: Int) throws {
        let store = try Store.open(at: store, options: .init(durability: .relaxed))
        for round in 0..<count {
            try store.write(alone: true) { writer in
                for key: Int64 in 0..<3000 {
                    try writer.put("Note", RecordKey(key), [.init("text", .string("round \(round)"))])
                }
            }
        }
    }

    /// A shell in which `$RO` is the store on a read-only bind mount.
    private func onMount(_ command: String) throws -> TarnProcess {
        let mounted = folder.path + "/ro"
        try FileManager.default.createDirectory(atPath: mounted, withIntermediateDirectories: true)
        return try TarnProcess(
            [
                "-m", "/bin/bash", "-c",
                "mount --bind \(store) \(mounted) && mount -o remount,ro,bind \(mounted) && { \(command); }",
            ],
            environment: ["TARN": TarnProcess.executable, "RO": mounted, "D": folder.path], program: "/usr/bin/unshare")
    }

    @Test(
        "on a read-only mount a reader is refused, since a writer on the other side would not see it, unless it is asked to read without locks",
        .enabled(if: Mounts.arePermitted, "mounting is not permitted here"))
    func readOnlyMount() async throws {
        let refused = try await onMount("$TARN list Note --store $RO --limit 2").end()
        #expect(refused.status == 6 && refused.output.isEmpty)
        #expect(refused.error.contains("--immutable") && refused.error.contains("lock.mdb"), "\(refused.error)")
        let read = try await onMount(
            "$TARN list Note --store $RO --limit 2 --immutable --format ndjson && $TARN count Note --store $RO --immutable"
        ).end()
        #expect(read.status == 0 && read.output.contains("note 1 ") && read.output.contains("3000"), "\(read)")
        let copied = try await onMount("$TARN store backup $RO $D/copy --immutable --verify").end()
        expectSuccess(copied)
        let written = try await tarn("delete", "Note", "--where", "id = 1", "--store", store, "--immutable")
        #expect(written.status == 2 && written.error.contains("--immutable is only for reading"))
    }

    @Test(
        "inspect reads what it cannot lock, says so, and is as good as with locks while nothing is committed",
        .enabled(if: Mounts.arePermitted, "mounting is not permitted here"))
    func inspectOnMount() async throws {
        let locked = try await tarn("inspect", "dump", store)
        let dump = try await onMount("$TARN inspect dump $RO").end()
        #expect(
            dump.status == 0 && dump.output == locked.output && dump.error.contains("read without locks"),
            "\(dump.error)")
        for command in [
            "inspect stat $RO", "inspect verify $RO", "inspect salvage $RO $D/salvaged", "inspect dump $RO --tables",
        ] {
            let result = try await onMount("$TARN \(command)").end()
            #expect(result.status == 0 && result.error.contains("read without locks"), "\(command): \(result.error)")
        }
    }

    @Test(
        "a dump that commits have overtaken ends with a code of its own and says what to do; one commit disturbs nothing",
        .enabled(if: Mounts.arePermitted, "mounting is not permitted here"), arguments: [1, 2, 4], ["", " --tables"])
    func overtakenDump(_ commits: Int, _ option: String) async throws {
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let dump = try onMount("$TARN inspect dump $RO\(option) > $D/pipe")
        // Much more than a pipe holds: it is in the middle of its work.
        let descriptor = await Task.detached { open(pipe, O_RDONLY) }.value
        try #require(descriptor >= 0)
        let reader = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let first = try #require(try reader.read(upToCount: 10_000))
        try commit(commits)
        let rest = try await Task.detached { try reader.readToEnd() ?? Data() }.value
        let result = await dump.end()
        #expect(first.count + rest.count > 100_000)
        #expect(result.status == (commits > 1 ? 9 : 0), "\(result)")
        #expect(result.error.contains("several commits") == (commits > 1), "\(result.error)")
    }

    @Test(
        "a user who may not write to the lock files is refused with the way out, reads without locks if asked to, and with them once the lock files are writable",
        .enabled(if: Mounts.hasOtherUser, "needs root and setpriv, to become another user"))
    func otherUser() async throws {
        // The store is its owner's alone: this one is to be read by others.
        chmod(folder.path, 0o755)
        chmod(store, 0o755)
        for name in ["data.mdb", "lock.mdb", "store.lock"] { chmod(store + "/" + name, 0o644) }
        func asNobody(_ command: String) async throws -> TarnProcess.Result {
            try await TarnProcess(
                ["--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/bash", "-c", command],
                environment: ["TARN": TarnProcess.executable, "S": store, "HOME": "/"], program: "/usr/bin/setpriv"
            ).end()
        }
        // If the build is in a private directory, another user cannot run it.
        guard try await asNobody("$TARN --version").status == 0 else { return }
        let refused = try await asNobody("$TARN list Note --store $S --limit 2")
        #expect(
            refused.status == 6 && refused.error.contains("--immutable") && refused.error.contains("lock"), "\(refused)"
        )
        let immutable = try await asNobody("$TARN list Note --store $S --limit 2 --immutable --format ndjson")
        #expect(immutable.status == 0 && immutable.lines.count == 2, "\(immutable)")
        let dump = try await asNobody("$TARN inspect dump $S")
        #expect(
            dump.status == 0 && dump.lines.count == 3000 && dump.error.contains("read without locks"), "\(dump.error)")
        // These commands have no `--immutable`, and nothing is damaged.
        for command in [
            "store repair $S --dry-run", "store quota $S", "store readers $S", "cache list $S", "cache totals $S",
            "doctor --offline --store $S --file /nowhere.yaml 1>&2",
        ] {
            let result = try await asNobody("$TARN \(command)")
            #expect(
                result.status == 6 && result.error.contains("lock") && !result.error.contains("--immutable")
                    && !result.error.contains("damage"), "\(command): \(result)")
        }
        for name in ["lock.mdb", "store.lock"] { chmod(store + "/" + name, 0o666) }
        let locked = try await asNobody("$TARN list Note --store $S --limit 2 --format ndjson && $TARN inspect stat $S")
        #expect(locked.status == 0 && !locked.error.contains("without locks"), "\(locked)")
    }

    @Test(
        "on a full disk a store without a lock file, or with one of holes, is an error and no signal; without locks it is read",
        .enabled(if: Mounts.arePermitted, "mounting is not permitted here"), arguments: ["missing", "holes"])
    func fullDisk(_ lockFile: String) async throws {
        let size = try #require(try FileManager.default.attributesOfItem(atPath: store + "/data.mdb")[.size] as? Int)
        let disk = folder.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        func onFullDisk(_ command: String) async throws -> TarnProcess.Result {
            let script = """
                mount -t tmpfs -o size=\(size + 200_000) tmpfs \(disk) && mkdir \(disk)/s && cp \(store)/data.mdb \(disk)/s/ || exit 99
                \(lockFile == "holes" ? "truncate -s 65664 \(disk)/s/lock.mdb" : "")
                cat /dev/zero > \(disk)/fill 2>/dev/null
                S=\(disk)/s; \(command)
                """
            return try await TarnProcess(
                ["-m", "/bin/bash", "-c", script],
                environment: ["TARN": TarnProcess.executable, "SWIFT_BACKTRACE": "enable=no"],
                program: "/usr/bin/unshare"
            ).end()
        }
        for command in ["list Note --store $S --limit 2", "delete Note --where 'id = 1' --store $S", "store quota $S"] {
            let result = try await onFullDisk("$TARN \(command)")
            #expect(result.status == 6, "\(command): \(result)")
            #expect(result.error.contains("disk is full"), "\(command): \(result)")
        }
        let immutable = try await onFullDisk("$TARN list Note --store $S --limit 2 --immutable --format ndjson")
        #expect(immutable.status == 0 && immutable.lines.count == 2, "\(immutable)")
        let dump = try await onFullDisk("$TARN inspect dump $S | wc -l; exit ${PIPESTATUS[0]}")
        #expect(dump.status == 0 && dump.output.contains("3000"), "\(dump)")
        // With room again it is a store as before.
        let room = try await onFullDisk(
            "rm \(disk)/fill; $TARN delete Note --where 'id = 1' --store $S && $TARN inspect verify $S")
        #expect(room.status == 0, "\(room)")
    }

    @Test("a pipe in the place of a store's file is an error at once, for every command that reads one")
    func pipe() async throws {
        try FileManager.default.removeItem(atPath: store + "/data.mdb")
        #expect(mkfifo(store + "/data.mdb", 0o600) == 0)
        for command in [
            "list Note --store $S", "list Note --store $S --immutable", "inspect stat $S", "inspect dump $S",
            "inspect verify $S",
            "inspect salvage $S $S.new", "store compact $S", "store readers $S", "store quota $S",
        ] {
            let result = try await TarnProcess(
                ["-c", "timeout 60 $TARN \(command)"], environment: ["TARN": TarnProcess.executable, "S": store],
                program: "/bin/bash"
            ).end()
            #expect(result.status == 6, "\(command): \(result)")
        }
    }

    @Test("a pipe in the place of the lock file of syncs holds up no status")
    func pipeOfClaims() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages), claims = folder("tarn.tarn/claims.lock")
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base))
        try FileManager.default.removeItem(atPath: claims)
        #expect(mkfifo(claims, 0o600) == 0)
        try await expectSuccess(shell("timeout 60 \"$TARN\" status --file '\(file)'"))
    }
}
