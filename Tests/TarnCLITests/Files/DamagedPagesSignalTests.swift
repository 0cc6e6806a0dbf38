// Signals that damaged pages cause in liblmdb: an error with exit code 6, and no other signal is.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: signals of damaged pages", .timeLimit(.minutes(60)))
struct DamagedPagesSignalTests {
    /// `TARN_DAMAGES` for more than continuous integration has time for.
    private static let files = max(
        210, ProcessInfo.processInfo.environment["TARN_DAMAGES"].flatMap { Int($0) } ?? 0)

    /// The bytes of the forge's store.
    private static var original: [UInt8] {
        get async throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await Forge.store + "/data.mdb"))) }
    }

    /// A store of these bytes.
    private static func store(_ bytes: [UInt8], _ path: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    /// The root of the table of tables, and the place of a table's record in it.
    private static func record(of table: String, _ bytes: [UInt8]) throws -> (root: Int, record: Int) {
        let page = number(bytes, 144, 8) > number(bytes, 4096 + 144, 8) ? 0 : 1
        let root = number(bytes, page * 4096 + 128, 8)
        for index in 0..<(number(bytes, root * 4096 + 12, 2) - 16) / 2 {
            let node = root * 4096 + number(bytes, root * 4096 + 16 + 2 * index, 2), key = node + 8,
                length = number(bytes, node + 6, 2)
            if Array(bytes[key..<key + length]) == Array(table.utf8) { return (root, key + length) }
        }
        throw LocalServer.Failure(description: "no table \(table)")
    }

    /// A store whose table is the table of tables: a loop for whatever follows tables.
    private static func looped(_ table: String) async throws -> [UInt8] {
        var bytes = try await original
        let (root, record) = try record(of: table, bytes)
        for index in 0..<8 { bytes[record + 40 + index] = UInt8(truncatingIfNeeded: root >> (8 * index)) }
        (bytes[record + 6], bytes[record + 7]) = (1, 0)
        return bytes
    }

    private static func run(_ arguments: [String]) async throws -> TarnProcess.Result {
        try await TarnProcess(
            ["-s", "KILL", "60", TarnProcess.executable] + arguments, environment: ["SWIFT_BACKTRACE": "enable=no"],
            program: "/usr/bin/timeout"
        ).end()
    }

    /// The text that names the signal, the store and the way out.
    private static func expectReport(_ result: TarnProcess.Result, _ signal: String, _ store: String) {
        #expect(result.status == 6, "\(result)")
        #expect(result.error.contains("tarn: \(store): the data file is damaged"), "\(result.error)")
        for text in [": \(signal) while", "`tarn inspect verify \(store)`", "`tarn inspect salvage \(store) NEW`"] {
            #expect(result.error.contains(text), "\(text): \(result.error)")
        }
    }

    @Test("a loop of pages that fills the stack inside of liblmdb is a damaged store")
    func fullStack() async throws {
        let folder = try TemporaryFolder(), store = folder("s.tarn")
        try Self.store(try await Self.looped("changes"), store)
        Self.expectReport(try await Self.run(["store", "backup", store, folder("copy.tarn")]), "SIGSEGV", store)
        #expect(!FileManager.default.fileExists(atPath: folder("copy.tarn")))
    }

    @Test("a loop of pages that would fill the disk ends a backup, and nothing of the copy stays")
    func fullDisk() async throws {
        let folder = try TemporaryFolder(), store = folder("s.tarn")
        try Self.store(try await Self.looped("urls"), store)
        let result = try await Self.run(["store", "backup", store, folder("copy.tarn")])
        #expect(result.status == 6 && result.error.contains("its pages form a loop"), "\(result)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["s.tarn"])
    }

    @Test("commands that read a damaged file through liblmdb never end by a signal")
    func damagedFiles() async throws {
        let original = try await Self.original, workers = 2
        let outcomes = try await withThrowingTaskGroup(of: [String: Int].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    let numbers = Array(stride(from: worker, to: Self.files, by: workers))
                    return try await Self.change(original, numbers)
                }
            }
            return try await group.reduce(into: [String: Int]()) { $0.merge($1, uniquingKeysWith: +) }
        }
        print("signals of damaged pages: \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        // Or no file was damaged where liblmdb reads.
        #expect(outcomes["signal", default: 0] > 0 && outcomes["6", default: 0] > Self.files / 8)
    }

    /// Runs a command on each of the damaged files.
    private static func change(_ original: [UInt8], _ numbers: [Int]) async throws -> [String: Int] {
        let folder = try TemporaryFolder(), store = folder("s.tarn")
        var outcomes: [String: Int] = [:]
        // Kinds that leave the file openable.
        let kinds: [DamagedFilesTests.Kind] = [
            .anyBytes, .pagesExchanged, .pageCopied, .branchNumber, .zeros, .noise, .nodeOffset,
        ]
        let commands = [
            ["store", "rewrite", store], ["store", "backup", store, folder("copy.tarn")], ["store", "quota", store],
            ["count", "Issue", "--by", "state", "--store", store],
            [
                "update", "Issue", "--where", "number > 3", "--set", "state=open", "--store", store, "--file",
                Repository.forgeFile,
            ],
            ["changes", "--store", store],
        ]
        for number in numbers {
            var dice = SeededRandom(seed: 4711 &+ UInt64(number)), bytes = original
            let kind = kinds[number % kinds.count]
            DamagedFilesTests.damage(&bytes, kind, &dice)
            try Self.store(bytes, store)
            let arguments = commands[number / kinds.count % commands.count]
            let result = try await run(arguments)
            let place = "file \(number), \(kind.rawValue), \(arguments.prefix(2))"
            #expect(result.status >= 0 && result.status < 100, "\(place): \(result.status) \(result.error.suffix(300))")
            outcomes["\(result.status)", default: 0] += 1
            if result.error.contains(": SIG") {
                outcomes["signal", default: 0] += 1
                #expect(result.status == 6 && result.error.contains("tarn: \(store): "), "\(place): \(result)")
            }
            try? FileManager.default.removeItem(atPath: folder("copy.tarn"))
        }
        return outcomes
    }

    // MARK: - The causes of signals

    /// Maps a `data.mdb` of one page with a second page that the file lacks, and returns the latter.
    private static func missingPage(_ folder: String) throws -> UnsafeMutableRawPointer {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data(count: 4096).write(to: URL(fileURLWithPath: folder + "/data.mdb"))
        let file = open(folder + "/data.mdb", O_RDONLY)
        let map = try #require(mmap(nil, 8192, PROT_READ, MAP_SHARED, file, 0))
        try #require(map != MAP_FAILED)
        return map + 4096
    }

    @Test("a fault within the map of a data file is exit code 6, with a message that escapes the store's path")
    func withinTheMap() async throws {
        let folder = try TemporaryFolder(), store = folder("a\u{1B}b")
        let result = await #expect(
            processExitsWith: .exitCode(6), observing: [\.standardErrorContent]
        ) { [store = store as String] in
            let page = try DamagedPagesSignalTests.missingPage(store)
            DamagedPages.reportSignals()
            print(page.load(as: UInt8.self))
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("/a?b: the data file is damaged") && text.contains(": SIGBUS while"), "\(text)")
    }

    @Test("a write into the map is a defect of the program, not a damaged file")
    func writeIntoTheMap() async throws {
        let folder = try TemporaryFolder(), store = folder("s")
        await #expect(processExitsWith: .signal(SIGSEGV)) { [store = store as String] in
            setenv("SWIFT_BACKTRACE", "enable=no", 1)
            let page = try DamagedPagesSignalTests.missingPage(store)
            signal(SIGSEGV, SIG_DFL)
            DamagedPages.reportSignals()
            (page - 4096).storeBytes(of: 1, as: UInt8.self)
        }
    }

    @Test("a fault elsewhere ends the process by its signal, also while a data file is mapped")
    func elsewhere() async throws {
        let folder = try TemporaryFolder(), store = folder("s")
        await #expect(processExitsWith: .signal(SIGSEGV)) { [store = store as String] in
            _ = try DamagedPagesSignalTests.missingPage(store)
            signal(SIGSEGV, SIG_DFL)
            DamagedPages.reportSignals()
            print(UnsafeRawPointer(bitPattern: 0x10).map { $0.load(as: UInt8.self) } ?? 0)
        }
        let other = folder("t"), file = folder("other.bin")
        await #expect(processExitsWith: .signal(SIGBUS)) { [other = other as String, file = file as String] in
            _ = try DamagedPagesSignalTests.missingPage(other)
            try Data(count: 4096).write(to: URL(fileURLWithPath: file))
            let map = mmap(nil, 8192, PROT_READ, MAP_SHARED, open(file, O_RDONLY), 0)
            signal(SIGBUS, SIG_DFL)
            DamagedPages.reportSignals()
            print(map.map { ($0 + 4096).load(as: UInt8.self) } ?? 0)
        }
    }

    @Test("an abort elsewhere ends the process by SIGABRT, also while a data file is mapped")
    func abortElsewhere() async throws {
        let folder = try TemporaryFolder(), store = folder("s")
        await #expect(processExitsWith: .signal(SIGABRT)) { [store = store as String] in
            _ = try DamagedPagesSignalTests.missingPage(store)
            signal(SIGABRT, SIG_DFL)
            DamagedPages.reportSignals()
            abort()
        }
    }

    @Test("the same signals from another process end a command as usual", arguments: [SIGSEGV, SIGBUS, SIGABRT])
    func fromOutside(_ number: Int32) async throws {
        let store = try await Forge.store
        let process = try TarnProcess(
            ["changes", "--follow", "--store", store], environment: ["SWIFT_BACKTRACE": "enable=no"])
        try await eventually { !process.output.isEmpty }
        process.send(number)
        let result = await process.end()
        #expect(result.status == -number && !result.error.contains("damaged"), "\(result)")
    }
}
