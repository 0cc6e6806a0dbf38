// A process that queues and sends changes, and is killed at any moment.

import Foundation
import Glibc
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Outbox: kills", .serialized)
struct OutboxKillTests {
    /// The number of kills: `TARN_OUTBOX_KILLS`, else 60.
    private static let kills = ProcessInfo.processInfo.environment["TARN_OUTBOX_KILLS"].flatMap(Int.init) ?? 60

    private static var worker: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/OutboxWorker"
    }

    private final class Lines: Sendable {
        let text = Mutex("")
        var all: [String] {
            // A line that was cut off by the kill is no acknowledgement.
            text.withLock { $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }
        }
    }

    /// Runs the worker, and kills it after a time unless that is nil.
    private func run(_ arguments: [String], killAfter delay: Duration?) async throws -> (lines: [String], status: Int32)
    {
        let process = Process(), pipe = Pipe(), lines = Lines()
        process.executableURL = URL(fileURLWithPath: Self.worker)
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        // On a thread of its own: it waits, and so may another test on each thread of the pool.
        let reader = Task {
            try await onThread {
                while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
                    lines.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
                }
            }
        }
        if let delay {
            // Not before it is at work, and then at any moment.
            try await eventually("a queued change") { !lines.all.isEmpty || !process.isRunning }
            try await Task.sleep(for: delay)
            kill(process.processIdentifier, SIGKILL)
        }
        try await onThread { process.waitUntilExit() }
        try await reader.value
        return (lines.all, process.terminationStatus)
    }

    /// The titles of each item are in the order in which they were queued.
    private func expectOrder(_ effects: [String], _ seed: UInt64) {
        var last: [Substring: (kill: Int, number: Int)] = [:]
        for effect in effects where effect.contains(" item ") && effect.contains("title=s") {
            let words = effect.split(separator: " ")
            guard let text = words.first(where: { $0.hasPrefix("title=s") })?.dropFirst(7) else { continue }
            let numbers = text.split(separator: "n").compactMap { Int($0) }
            guard numbers.count == 2 else { continue }
            let now = (kill: numbers[0], number: numbers[1])
            if let before = last[words[2]] { #expect(before < now, "seed \(seed): \(effect) came too late") }
            last[words[2]] = now
        }
    }

    @Test("nothing that was queued is lost, and nothing has its effect twice")
    func kills() async throws {
        let seed = UInt64.random(in: 0..<1_000_000)
        var random = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        var api = ModelAPI()
        let dice = Mutex(SeededRandom(seed: seed))
        api.fault = { _ in dice.withLock { $0.roll(0..<12) } == 0 ? .lost : nil }
        let server = try ModelServer(api), file = folder.path + "/tarn.yaml", store = folder.path + "/model.tarn"
        try ModelAPI.yaml(base: server.base).write(toFile: file, atomically: true, encoding: .utf8)
        var queued: [String] = []
        for kill in 0..<Self.kills {
            let (lines, _) = try await run(
                [file, store, "\(kill)", "100000"],
                killAfter: .microseconds(random.roll(0..<60_000)))
            queued += lines.filter { $0.hasPrefix("queued") }
        }
        let last = try await run([file, store, "0", "0"], killAfter: nil)
        #expect(last.status == 0 && last.lines.last == "done", "seed \(seed)")
        let effects = server.with(\.effects), items = server.with(\.items), comments = server.with(\.comments)
        var seen: [Substring: Int] = [:]
        for effect in effects {
            let text = effect.split(separator: " ").first { $0.contains("title=") || $0.contains("text=") }
            if let text = text?.split(separator: "=").last { seen[text, default: 0] += 1 }
        }
        #expect(seen.filter { $0.value > 1 } == [:], "seed \(seed): effects were doubled")
        for line in queued {
            let text = line.split(separator: " ")[2]
            // A later update of an unsent record replaces its title.
            if line.hasPrefix("queued comment") { #expect(seen[text] == 1, "seed \(seed): \(line) was lost") }
        }
        expectOrder(effects, seed)
        let created = effects.count { $0.hasPrefix("POST item") }
        #expect(created == items.count)
        let description = try Description.load(path: file)
        let opened = try Store.open(at: store, schema: description.schema)
        try opened.read { reader in
            #expect(try reader.outbox.counts.isEmpty)
            #expect(try reader.count("Item") == items.count && reader.count("Comment") == comments.count)
            for (id, item) in items {
                #expect(
                    try reader.record("Item", RecordKey(Int64(id)))?["title"] == .string(item.title), "seed \(seed)")
            }
            for (id, comment) in comments {
                let stored = try reader.record("Comment", RecordKey(Int64(id)))
                #expect(stored?["text"] == .string(comment.text), "seed \(seed)")
                #expect(stored?["item"] == .reference(RecordKey(Int64(comment.item))), "seed \(seed)")
            }
        }
        // Each queued item is at the server, however often its title was changed.
        let queuedItems = queued.count { $0.hasPrefix("queued item") }
        #expect(items.count >= queuedItems, "seed \(seed): \(queuedItems) items were queued, \(items.count) are there")
    }
}
