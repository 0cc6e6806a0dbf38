// Files with any damage: the inspector neither crashes nor hangs, and always reports something.

import Foundation
import Glibc
import Tarn
import TarnInspect
import TestSupport
import Testing

@Suite("Command line: damaged files", .timeLimit(.minutes(120)))
struct DamagedFilesTests {
    /// `TARN_SEED` repeats the choices of an earlier run.
    private static let seed = ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? 20_261_122
    /// `TARN_DAMAGES` for more than continuous integration has time for.
    private static let files = ProcessInfo.processInfo.environment["TARN_DAMAGES"].flatMap { Int($0) } ?? 40
    /// After that many seconds a command is taken to hang.
    private static let patience = 60

    enum Kind: String, CaseIterable {
        case cutAtAPage, cutAnywhere, metaBytes, anyBytes, pagesExchanged, pageCopied, branchNumber, zeros, noise,
            nodeOffset, otherFile
    }

    /// Damages the bytes of a store in one way.
    static func damage(_ bytes: inout [UInt8], _ kind: Kind, _ dice: inout SeededRandom) {
        let size = 4096, pages = bytes.count / size
        func page(_ dice: inout SeededRandom) -> Int { dice.roll(0..<pages) * size }
        switch kind {
        case .cutAtAPage: bytes.removeLast(bytes.count - dice.roll(0..<pages) * size)
        case .cutAnywhere: bytes.removeLast(dice.roll(1..<bytes.count))
        case .metaBytes:
            for _ in 0..<dice.roll(1..<6) {
                bytes[dice.roll(0..<2) * size + dice.roll(0..<152)] = UInt8(dice.roll(0..<256))
            }
        case .anyBytes:
            for _ in 0..<dice.roll(1..<200) { bytes[dice.roll(0..<bytes.count)] = UInt8(dice.roll(0..<256)) }
        case .pagesExchanged:
            let (a, b) = (page(&dice), page(&dice)), first = Array(bytes[a..<a + size])
            bytes.replaceSubrange(a..<a + size, with: Array(bytes[b..<b + size]))
            bytes.replaceSubrange(b..<b + size, with: first)
        case .pageCopied:
            let (a, b) = (page(&dice), page(&dice))
            // With the number of its own page, so that the number does not reveal it.
            bytes.replaceSubrange(a + 8..<a + size, with: Array(bytes[b + 8..<b + size]))
        case .branchNumber:
            let branches = (2..<pages).filter { bytes[$0 * size + 10] & 1 != 0 && bytes[$0 * size + 10] & 0x6E == 0 }
            guard let branch = branches.randomElement(using: &dice).map({ $0 * size }) else { return }
            let count = (Int(bytes[branch + 12]) | Int(bytes[branch + 13]) << 8) / 2 - 8
            let offset = branch + 16 + 2 * dice.roll(0..<max(1, min(count, 1000)))
            let node = branch + (Int(bytes[offset]) | Int(bytes[offset + 1]) << 8)
            guard node + 4 < bytes.count else { return }
            // Often to a branch: a loop.
            let target = dice.roll(0..<2) == 0 ? (branches.randomElement(using: &dice) ?? 0) : dice.roll(0..<pages + 3)
            for index in 0..<4 { bytes[node + index] = UInt8(truncatingIfNeeded: target >> (8 * index)) }
        case .zeros:
            let start = page(&dice)
            for index in start..<min(bytes.count, start + size * dice.roll(1..<9)) { bytes[index] = 0 }
        case .noise:
            let start = page(&dice)
            for index in start..<start + size { bytes[index] = UInt8(dice.roll(0..<256)) }
        case .nodeOffset:
            let start = page(&dice)
            for _ in 0..<dice.roll(1..<20) { bytes[start + dice.roll(8..<60)] = UInt8(dice.roll(0..<256)) }
        case .otherFile:
            switch dice.roll(0..<4) {
            case 0:
                bytes =
                    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
                    + (0..<dice.roll(1..<100_000)).map { UInt8(truncatingIfNeeded: $0 * 7) }
            case 1: bytes = Array(repeating: 0, count: dice.roll(0..<100_000))
            case 2: bytes = Array(bytes.prefix(dice.roll(0..<8192)))
            default: bytes = Array(bytes[(dice.roll(1..<bytes.count))...])
            }
        }
    }

    @Test(
        "the inspector's commands on a damaged file never end by a signal, never hang, and always say something")
    func damagedFiles() async throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await Forge.store + "/data.mdb")))
        let workers = 2
        let outcomes = try await withThrowingTaskGroup(of: [String: Int].self) { group in
            for worker in 0..<workers {
                group.addTask { try await Self.run(original, Array(stride(from: worker, to: Self.files, by: workers))) }
            }
            return try await group.reduce(into: [String: Int]()) { $0.merge($1, uniquingKeysWith: +) }
        }
        print(
            "damaged files: \(Self.files), seed \(Self.seed): \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
        )
        // Or nothing was damaged, or everything was lost.
        #expect(outcomes["verify 6", default: 0] > Self.files / 2 && outcomes["salvage 3", default: 0] > Self.files / 8)
    }

    @Test("the same of a file that ends at a page, whichever it is")
    func endsAtAPage() async throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await Forge.store + "/data.mdb"))),
            pages = original.count / 4096
        // Every page if time permits; otherwise the meta pages, and some others.
        let ends =
            ProcessInfo.processInfo.environment["TARN_DAMAGES"] == nil
            ? Array(0..<4) + Array(stride(from: 4, to: pages, by: pages / 12)) : Array(0..<pages)
        let folder = try TemporaryFolder()
        var outcomes: [String: Int] = [:], whole = 0
        for end in ends {
            var own: [String: Int] = [:]
            try await Self.look(at: Array(original[..<(end * 4096)]), "cut at page \(end)", folder.path, &own)
            outcomes.merge(own, uniquingKeysWith: +)
            // The last pages of a file may be free: without them it is whole for every command.
            if own["verify 0"] == 1 {
                whole += 1
                #expect(
                    ["stat 0", "dump 0", "export 0", "get 0", "diff 0"].allSatisfy { own[$0] == 1 }, "\(end): \(own)")
            }
        }
        print(
            "damaged files: cut at \(ends.count) of \(pages) pages: \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
        )
        // Nothing else passes for whole.
        #expect(whole <= 1 && outcomes["verify 6", default: 0] + outcomes["verify 3", default: 0] + whole == ends.count)
    }

    private static func run(_ original: [UInt8], _ numbers: [Int]) async throws -> [String: Int] {
        let folder = try TemporaryFolder()
        var outcomes: [String: Int] = [:]
        for number in numbers {
            var dice = SeededRandom(seed: seed &+ UInt64(number)), bytes = original
            let kind = Kind.allCases[number % Kind.allCases.count]
            damage(&bytes, kind, &dice)
            try await look(at: bytes, "seed \(seed), file \(number), \(kind.rawValue)", folder.path, &outcomes)
        }
        return outcomes
    }

    /// Each command on a file, as a separate process.
    private static func look(at bytes: [UInt8], _ what: String, _ folder: String, _ outcomes: inout [String: Int])
        async throws
    {
        let store = folder + "/damaged.tarn", new = folder + "/new.tarn"
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
        try Data(bytes).write(to: URL(fileURLWithPath: store + "/data.mdb"))
        for (name, arguments) in [
            ("stat", ["stat", store]), ("dump", ["dump", store]), ("verify", ["verify", store]),
            ("salvage", ["salvage", store, new]), ("get", ["get", store, "Issue", "4605470132"]),
            ("diff", ["diff", try await Forge.store, store]), ("export", ["export", store, "--sql"]),
        ] {
            let result = try await TarnProcess(
                ["-s", "KILL", "\(patience)", TarnProcess.executable, "inspect"] + arguments,
                environment: ["SWIFT_BACKTRACE": "enable=no"],
                program: "/usr/bin/timeout"
            ).end()
            let place = "\(what), \(name)"
            // 124 and 137: `timeout` ended a hanging command; 128 and more: a signal ended it.
            #expect(result.status >= 0 && result.status < 100, "\(place): \(result.status) \(result.error.suffix(300))")
            // 1: the stores differ, or the record is not there.
            let isExpected =
                [0, 3, 6].contains(result.status) || (["get", "diff"].contains(name) && result.status == 1)
            #expect(isExpected, "\(place): \(result.status) \(result.error)")
            #expect(!result.output.isEmpty || !result.error.isEmpty, "\(place): it says nothing")
            outcomes["\(name) \(result.status)", default: 0] += 1
        }
        #expect(
            try [UInt8](Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))) == bytes,
            "\(what): it was written to")
        if FileManager.default.fileExists(atPath: new) {
            let report = try StoreInspector(at: new).verification()
            // A letter of the catalog that changed may leave another name of a value behind;
            // nothing else follows from it.
            let isSound = report.isSound || Set(report.counts.keys) == [.rowValue]
            #expect(isSound, "\(what): \(report.findings.prefix(3))")
        }
        for path in [store, new] { try? FileManager.default.removeItem(atPath: path) }
    }
}
