// Commands beside a writer of another process that commits at full speed.

import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Command line: inspect beside a busy writer")
struct BusyWriterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static var worker: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/StoreWorker"
    }

    private func busy(_ store: String, _ commits: Int, records: Int) throws -> TarnProcess {
        try TarnProcess(["busy", store, "\(commits)", "\(records)"], program: Self.worker)
    }

    private func size(_ store: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: store + "/data.mdb")[.size] as? Int)
    }

    /// A store that has grown to the size at which a writer alone keeps it.
    private func settled(_ records: Int) async throws -> String {
        let store = folder.path + "/settled.tarn"
        try await expectSuccess(busy(store, 400, records: records).end())
        return store
    }

    private func copy(_ store: String, _ name: String) throws -> String {
        let path = folder.path + "/" + name
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: store + "/data.mdb", toPath: path + "/data.mdb")
        return path
    }

    @Test("while a process writes at full speed, questions in a row answer, and its file grows at most a tenth more")
    func growth() async throws {
        let records = 200_000, store = try await settled(records), commits = 4000
        let alone = try copy(store, "alone")
        try await expectSuccess(busy(alone, commits, records: records).end())
        let bound = try Double(size(alone)) * 1.1
        let questions: [[String]] = [
            ["get", "STORE", "Note", "17"], ["keys", "STORE", "Note", "--limit", "100"], ["schema", "STORE"],
            ["stat", "STORE"], ["changes", "STORE", "--limit", "5"], ["readers", "STORE"], ["cache", "STORE"],
            ["dump", "STORE", "--entity", "Note", "--from", "100", "--limit", "200"],
            ["grep", "STORE", "a", "--limit", "5"], ["dump", "STORE", "--renew", "--limit", "3000"],
        ]
        // On a busy machine a question may not be scheduled for a while, and holds its snapshot
        // meanwhile: the best of three runs counts.
        for attempt in 1...3 {
            let beside = try copy(store, "beside \(attempt)")
            let (asked, grown) = try await ask(questions, beside, commits, records: records)
            print("beside a busy writer: \(asked) questions, \(try size(alone)) bytes alone, \(grown) beside them")
            try await expectSuccess(tarn("inspect", "verify", beside))
            if asked >= questions.count, Double(grown) <= bound { return }
        }
        Issue.record("the file grew by more than a tenth in each run")
    }

    /// Asks questions in a row while another process writes; returns how many, and the file's size.
    private func ask(
        _ questions: [[String]], _ beside: String, _ commits: Int, records: Int
    ) async throws -> (asked: Int, size: Int) {
        let writer = try busy(beside, commits, records: records)
        let watch = try TarnProcess(["inspect", "watch", beside])
        let isWriting = Mutex(true)
        let end = Task {
            let result = await writer.end()
            isWriting.withLock { $0 = false }
            return result
        }
        var asked = 0
        while isWriting.withLock({ $0 }) {
            let question = questions[asked % questions.count].map { $0 == "STORE" ? beside : $0 }
            let result = try await tarn(["inspect"] + question)
            #expect(result.status == 0, "\(question): \(result.error)")
            asked += 1
        }
        expectSuccess(await end.value)
        watch.send(SIGINT)
        #expect(await watch.end().status == 130)
        return (asked, try size(beside))
    }

    @Test("a long command says once that its snapshot holds up the writer, and a renewed one does not")
    func warning() async throws {
        let records = 100_000, store = try await settled(records)
        let writer = try busy(store, 1_000_000, records: records)
        defer { writer.send(SIGKILL) }
        let environment = ["TARN_SNAPSHOT_SECONDS": "0.2"]
        let held = try await tarn(["inspect", "dump", store], environment: environment)
        #expect(held.status == 0 && held.errorLines.count == 1, "\(held.error)")
        #expect(held.error.contains("s old, and writers cannot reuse its pages: "), "\(held.error)")
        // A command that is not scheduled for a while holds its snapshot meanwhile.
        var renewed = held
        for _ in 1...3 where renewed.error != "" {
            renewed = try await tarn(["inspect", "dump", store, "--renew"], environment: environment)
        }
        #expect(renewed.status == 0 && renewed.error == "", "\(renewed.error)")
        let keys = try [held, renewed].map { try $0.lines.map { try #require(json($0)["key"] as? Int) } }
        #expect(keys[0] == Array(0..<records) && keys[1] == keys[0])
        let silent = try await tarn(["inspect", "dump", store], environment: ["TARN_SNAPSHOT_SECONDS": "0"])
        #expect(silent.status == 0 && silent.error == "")
    }

    @Test(
        "every command ends without a message if the reader of its output has enough",
        arguments: [
            ["stat"], ["dump"], ["dump", "--mdb"], ["dump", "--format", "csv", "--entity", "Issue"], ["keys", "Issue"],
            ["grep", "e"], ["schema"], ["changes"], ["cache"], ["top"], ["pages"],
            ["export", "--sql"],
            ["verify"],
        ])
    func closedPipe(_ arguments: [String]) async throws {
        let store = try await Forge.store
        let words = ["inspect", arguments[0], store] + arguments.dropFirst()
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        let result = try await shell("set -o pipefail; \"$TARN\" \(command) | head -1; echo \"${PIPESTATUS[0]}\"")
        #expect(result.lines.count == 2 && result.error == "", "\(arguments): \(result.error)")
        // 1 if a line could not be written, 141 if the signal came first.
        #expect(["0", "1", "141"].contains(result.lines.last ?? ""), "\(arguments): \(result.output)")
        let lines = try await shell("printf 'dump\\nkeys Issue\\n' | \"$TARN\" inspect shell '\(store)' | head -1")
        #expect(lines.lines.count == 1 && lines.error == "")
    }
}
