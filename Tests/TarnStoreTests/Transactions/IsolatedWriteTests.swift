// Writes of an actor: their closures run on its thread, because they use the actor's state.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Writes of actors", .timeLimit(.minutes(5)))
struct IsolatedWriteTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Compiles a program of one `main.swift` against the store, and runs it.
    private func run(_ program: String) throws -> (status: Int32, output: String) {
        let build = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: folder("program"), withIntermediateDirectories: true)
        try Data(program.utf8).write(to: URL(fileURLWithPath: folder("program/main.swift")))
        let objects = try ["TarnStore", "LMDB", "LMDBPages", "Locking", "CByteSearch", "CChecksum"].flatMap { name in
            try FileManager.default.contentsOfDirectory(atPath: "\(build)/\(name).build").filter { $0.hasSuffix(".o") }
                .map { "\(build)/\(name).build/\($0)" }
        }
        let compiled = try start(
            "/usr/bin/env",
            [
                "swiftc", "-swift-version", "6", "-o", folder("main"), "-I", build + "/Modules", "-I",
                "\(package)/Sources/CByteSearch/include", "-I", "\(package)/Sources/CChecksum/include",
            ]
                + ["CLMDB", "CCrypto", "CZstd"].flatMap {
                    ["-Xcc", "-fmodule-map-file=\(package)/Sources/\($0)/module.modulemap"]
                }
                + [folder("program/main.swift")] + objects + ["-llmdb", "-lzstd", "-lcrypto"])
        guard compiled.status == 0 else { return compiled }
        return try start(folder("main"), [folder("s")])
    }

    private func start(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let output = folder("output"), process = Process()
        try Data().write(to: URL(fileURLWithPath: output))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        process.waitUntilExit()
        let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return (status, try String(contentsOfFile: output, encoding: .utf8))
    }

    @Test(
        "a write at the top level of main.swift runs, with closures inside of it and with what belongs to the main actor",
        .disabled(if: isSanitized, "the objects need the sanitizer's library"))
    func topLevelOfMain() async throws {
        let result = try await onThread { [self] in
            try run(
                """
                import Foundation
                import TarnStore

                let schema = Schema([EntityDefinition("User", key: ["id"], attributes: [.init("id", .int)])])
                let store = try Store.open(at: CommandLine.arguments[1], schema: schema)
                var written = 0
                try store.write { writer in
                    for key in [3, 1, 2].sorted(by: { $0 < $1 }).map({ Int64($0) }) {
                        try writer.put("User", RecordKey(key), [])
                        written += 1
                    }
                }
                do {
                    try store.write { writer in
                        try writer.put("User", RecordKey(9), [])
                        try store.write { _ in }
                    }
                } catch { print("nested:", error) }
                let task = Task { @MainActor in
                    try await store.write { writer in try [4, 5].map { Int64($0) }.forEach { try writer.put("User", RecordKey($0), []) } }
                }
                try await task.value
                print(written, try store.read { try $0.count("User") })
                """)
        }
        #expect(result.status == 0 && result.output.hasSuffix("3 5\n"), "\(result)")
        #expect(result.output.contains("nested:") && result.output.contains("inside a read or write"), "\(result)")
    }

    /// An actor with state that its writes use.
    private actor Counter {
        var count = 0
        let store: Store
        init(_ store: Store) { self.store = store }

        func put(_ keys: Range<Int64>) throws -> Bool {
            let thread = pthread_self()
            return try store.write { writer in
                for key in keys.map({ $0 }) {
                    try writer.put("User", RecordKey(key), [])
                    count += 1
                }
                assertIsolated()
                return pthread_equal(pthread_self(), thread) != 0
            }
        }

        func fail() throws {
            struct Undone: Error {}
            try store.write { writer in
                try writer.put("User", RecordKey(-1), [])
                throw Undone()
            }
        }
    }

    @Test("writes of several actors at once, with others between them, run on their actors' threads and are all there")
    func actors() async throws {
        let store = try Forge.open(folder("s"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number: Int64 in 0..<4 {
                let counter = Counter(store)
                group.addTask {
                    for round: Int64 in 0..<50 {
                        let start = number * 1000 + round * 10
                        let isOnThread = try await counter.put(start..<start + 10)
                        #expect(isOnThread)
                    }
                    await #expect(throws: (any Error).self) { try await counter.fail() }
                    let count = await counter.count
                    #expect(count == 500)
                }
                group.addTask {
                    for round: Int64 in 0..<50 {
                        try await store.write { try $0.put("Label", RecordKey("\(number) \(round)"), []) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.count("User") == 2000)
        #expect(try store.count("Label") == 200)
    }
}
