// Commands that wait for a write of another process.

import Foundation
import TestSupport
import Testing

@Suite("Command line: waiting for another process's write", .timeLimit(.minutes(5)))
struct WriterWaitTests {
    /// A store with one record.
    private struct Mirrored {
        let folder: TemporaryFolder, file: String, store: String

        init() async throws {
            folder = try TemporaryFolder()
            file = try folder.write("tarn.yaml", itemsYAML())
            store = folder.path + "/items.tarn"
            let server = try LocalServer([recording("/items", #"[{"id":1,"name":"first"}]"#)])
            try await expectSuccess(tarn("sync", "--file", file, "--store", store, "--base", server.base))
        }
    }

    /// Waits until a process has stopped itself.
    private func untilStopped(_ holder: TarnProcess) async throws {
        try await eventually("the process stops") {
            let status = try String(contentsOfFile: "/proc/\(holder.processID)/status", encoding: .utf8)
            return status.contains("State:\tT")
        }
    }

    @Test("a write that waits for a stopped process says for which, and goes on when that continues")
    func stopped() async throws {
        let mirrored = try await Mirrored(), (file, store) = (mirrored.file, mirrored.store)
        defer { withExtendedLifetime(mirrored) {} }
        let worker = URL(fileURLWithPath: TarnProcess.executable).deletingLastPathComponent().path + "/StoreWorker"
        let holder = try TarnProcess(["hold", store], program: worker)
        try await untilStopped(holder)
        let update = try TarnProcess(
            ["update", "Item", "--where", "id = 1", "--set", "name=second", "--file", file, "--store", store])
        let expected = "tarn: waiting for StoreWorker (\(holder.processID)), which writes to \(store), and is stopped"
        try await eventually("the message") { update.error.contains(expected) }
        holder.send(SIGCONT)
        await expectSuccess(holder.end())
        let updated = await update.end()
        #expect(updated.status == 0, "\(updated.error)")
        let records = try await tarn("list", "Item", "--file", file, "--store", store, "--format", "ndjson").lines
        #expect(records == [#"{"id":1,"name":"second"}"#])
    }

    @Test("a write that waits for a process that was stopped before it could write says for which")
    func stoppedInTheQueue() async throws {
        let mirrored = try await Mirrored(), (file, store) = (mirrored.file, mirrored.store)
        defer { withExtendedLifetime(mirrored) {} }
        // The queue of the writers is a lock; the next one holds it until it can write.
        let program = """
            import fcntl, os, signal, sys
            data, turn = (open(sys.argv[1] + name, 'rb') for name in ('/data.mdb', '/turn.lock'))
            fcntl.flock(turn, fcntl.LOCK_EX)
            os.kill(os.getpid(), signal.SIGSTOP)
            """
        let holder = try TarnProcess(["python3", "-c", program, store], program: "/usr/bin/env")
        try await untilStopped(holder)
        let update = try TarnProcess(
            ["update", "Item", "--where", "id = 1", "--set", "name=second", "--file", file, "--store", store])
        let expected = "(\(holder.processID)), which writes to \(store), and is stopped: continue it"
        try await eventually("the message") { update.error.contains("waiting for ") }
        #expect(update.error.contains(expected), "\(update.error)")
        holder.send(SIGCONT)
        await expectSuccess(holder.end())
        #expect(await update.end().status == 0)
    }

    @Test("a write that waits for a process of another PID namespace says that it waits")
    func unknownWriter() async throws {
        let mirrored = try await Mirrored(), (file, store) = (mirrored.file, mirrored.store)
        defer { withExtendedLifetime(mirrored) {} }
        // It keeps the store open: the first process that opens it makes a new mutex.
        let watch = try TarnProcess(["watch", "Item", "--file", file, "--store", store])
        try await eventually("the watch") { !watch.output.isEmpty }
        // A thread that this system does not know has the mutex (`LockFile.writer(in:)`).
        let program = """
            import os, struct, sys
            os.pwrite(os.open(sys.argv[1] + '/lock.mdb', os.O_RDWR), struct.pack('<I', 0x3FFF0000), 64)
            """
        await expectSuccess(try TarnProcess(["python3", "-c", program, store], program: "/usr/bin/env").end())
        let update = try TarnProcess(
            ["update", "Item", "--where", "id = 1", "--set", "name=second", "--file", file, "--store", store])
        try await eventually("the message") {
            update.error.contains("tarn: waiting for another process that writes to \(store)\n")
        }
        for process in [update, watch] {
            process.send(SIGKILL)
            #expect(await process.end().status == -SIGKILL)
        }
    }
}
