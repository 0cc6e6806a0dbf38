// State that processes share with a file: reader slots, and the size of the map.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@Suite("Shared environments", .timeLimit(.minutes(5)))
struct SharedEnvironmentTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a closure inside several snapshots of one environment.
    static func inside(_ count: Int, _ environment: Environment, _ body: () throws -> Void) throws {
        guard count > 0 else { return try body() }
        try environment.read { _ in try inside(count - 1, environment, body) }
    }

    @Test("any number of snapshots is read at once, and at most 32 of their slots are kept")
    func slotsAreGivenBack() async throws {
        let path = folder("e"), options = Environment.Options(maximumReaders: 40)
        let environment = try Environment.open(at: path, options: options)
        let table = try environment.makeTable("t")
        try environment.put(table, [("a", "1")])
        try SharedEnvironmentTests.inside(40, environment) {
            // The table has no slot left.
            #expect(kindOfError { try environment.read { _ in } } == .readersFull)
        }
        #expect(try environment.value(table, "a") == "1")
        await #expect(processExitsWith: .success) { [path = path as String] in
            let other = try Environment.open(at: path, options: .init(maximumReaders: 40))
            try SharedEnvironmentTests.inside(8, other) {
                #expect(kindOfError { try other.read { _ in } } == .readersFull)
            }
            try other.read { _ in }
        }
        try SharedEnvironmentTests.inside(32, environment) {}
    }

    @Test("an opening that waits for another process holds up no other environment")
    func waitingOpening() throws {
        let path = folder("slow") as String
        do { _ = try Environment.open(at: path) }
        // As another process holds it while it opens the environment.
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
        defer { close(descriptor) }
        let isOpen = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            _ = try? Environment.open(at: path)
            isOpen.signal()
        }
        #expect(isOpen.wait(timeout: .now() + .milliseconds(300)) == .timedOut, "it does not wait")
        _ = try Environment.open(at: folder("other"))
        flock(descriptor, LOCK_UN)
        isOpen.wait()
    }

    @Test(
        "of a file that another process has grown past this one's map an error says so, it holds up nobody, and opening again helps"
    )
    func otherProcessGrowsPastTheMap() async throws {
        let path = folder("e"),
            small = Environment.Options(durability: .volatile, mapSize: 4 << 20, minimumMapSize: 4 << 20)
        do {
            let environment = try Environment.open(at: path, options: small)
            let table = try environment.makeTable("t")
            try environment.put(table, [("a", "1")])
            await fillInAnotherProcess(path)
            // A pooled reader, a renewed one, and a writer.
            #expect(kindOfError { try environment.read { _ in } } == .mapResized)
            #expect(kindOfError { try environment.read { _ in } } == .mapResized)
            #expect(kindOfError { try environment.put(table, [("b", "1")]) } == .mapResized)
            await fillInAnotherProcess(path)
            #expect(LMDBError(.mapResized, operation: "read").description.contains("open it again"))
        }
        let environment = try Environment.open(at: path, options: small)
        let table = try #require(try environment.existingTables(["t"])[0])
        #expect(try environment.value(table, "a") == "1")
        #expect(try environment.entryCount(table) == 41)
    }

    private func fillInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Environment.open(at: path, options: .init(durability: .volatile, mapSize: 64 << 20))
            let table = try #require(try environment.existingTables(["t"])[0])
            try environment.write { transaction in
                for number in 0..<40 {
                    try transaction.set(table, bytes("\(number)"), Array(repeating: 1, count: 200_000))
                }
            }
        }
    }

    @Test("the pages that a killed reader saw are used again, and the file stops growing")
    func killedReaderFreesItsPages() async throws {
        let path = folder("e")
        let environment = try Environment.open(at: path, options: .init(durability: .volatile))
        let table = try environment.makeTable("t")
        func overwrite(_ times: Int) throws {
            for number in 0..<times {
                try environment.write { try $0.set(table, bytes("\(number % 100)"), Array(repeating: 1, count: 1500)) }
            }
        }
        try overwrite(200)
        let before = try environment.information().lastPage
        try overwrite(400)
        // Without readers a write takes the pages that earlier ones have freed.
        #expect(try environment.information().lastPage < before + 20)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let environment = try Environment.open(at: path, options: .init(durability: .volatile))
            try environment.read { _ in _ = kill(getpid(), SIGKILL) }
        }
        // The first of them may not know yet that the reader is dead.
        try overwrite(2000)
        let settled = try environment.information().lastPage
        try overwrite(4000)
        #expect(try environment.information().lastPage < settled + 20)
    }
}
