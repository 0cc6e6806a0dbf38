// One flipped bit, anywhere in a store's file: nothing that was damaged passes for whole.

import Foundation
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: single bits", .serialized, .timeLimit(.minutes(240)))
struct SingleBitTests {
    /// `TARN_BITS`: `all` for every bit, `bytes` for one bit of each byte, or how many of them in
    /// each store; `TARN_SEED` chooses.
    private static let bits = ProcessInfo.processInfo.environment["TARN_BITS"] ?? "300"
    private static let seed = ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? 20_261_122

    /// Golden stores of the current format: they have every type, every table and every form of
    /// rows.
    static var stores: [String] {
        get throws {
            let folder = "\(golden)/format-\(Store.format)"
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { "\(folder)/\($0)" }
        }
    }

    private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("TarnStoreTests/Golden").path

    /// The lines of a dump; nil if it reports damage.
    private func dump(_ path: String) -> [String]? {
        var lines: [String] = [], isWhole = true
        do {
            try StoreInspector(at: path).dumpRecords {
                lines.append($0)
            } damaged: { _ in
                isWhole = false
            }
        } catch {
            return nil
        }
        return isWhole ? lines : nil
    }

    /// All that the tables have, as it is stored.
    private func tables(_ path: String) throws -> [String] {
        var lines: [String] = []
        try StoreInspector(at: path).dumpTables {
            if $0.hasPrefix(" ") || $0.hasPrefix("database") { lines.append($0) }
        } damaged: { _ in
        }
        return lines
    }

    private func chosen(_ all: Int) -> [Int] {
        guard Self.bits != "all" else { return Array(0..<all) }
        var state = Self.seed
        func random() -> UInt64 {
            // SplitMix64.
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }
        if Self.bits == "bytes" { return (0..<all / 8).map { $0 * 8 + Int(random() % 8) } }
        return (0..<(Int(Self.bits) ?? 300)).map { _ in Int(random() % UInt64(all)) }
    }

    @Test(
        "a dump, a verification or a salvage of a store with one flipped bit says so, or nothing that it gives is another",
        arguments: try stores)
    func everyBit(_ golden: String) throws {
        let victim = try GoldenFile(golden), path = victim.path
        let lines = try #require(dump(path)), stored = try tables(path)
        #expect(try verifyBothWays(path).isSound && lines.count > 30)
        var outcomes: [String: Int] = [:], salvages = 0
        func note(_ outcome: String) { outcomes[outcome, default: 0] += 1 }
        let bits = chosen(victim.original.count * 8)
        for (number, bit) in bits.enumerated() {
            try victim.set(bit, flipped: true)
            defer { try? victim.set(bit, flipped: false) }
            func place() -> Comment {
                "seed \(Self.seed), bit \(bit % 8) of byte \(bit / 8), page \(bit / 8 / 4096), of \(golden)"
            }
            let found = dump(path)
            if let found, found != lines { Issue.record("the dump is another, and nothing is said: \(place())") }
            note(found == nil ? "dump 6" : "dump 0")
            let isSound = (try? verifyBothWays(path).isSound) ?? false
            if isSound, (try? tables(path)) != stored {
                Issue.record("verified, and the tables are others: \(place())")
            }
            note(isSound ? "verify 0" : "verify 6")
            // Takes longest.
            guard number % 8 == 0 || Self.bits == "all" else { continue }
            let new = path + "-salvaged-\(salvages)"
            salvages += 1
            defer { try? FileManager.default.removeItem(atPath: new) }
            guard let report = try? StoreInspector(at: path).salvage(to: new), report.lostCount == 0 else {
                note("salvage 3")
                continue
            }
            note("salvage 0")
            if dump(new) != lines { Issue.record("salvaged without a word, and the records are others: \(place())") }
        }
        print(
            "single bits: \(bits.count) of \((golden as NSString).lastPathComponent), seed \(Self.seed): \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
        )
        // Or nothing was damaged.
        #expect(outcomes["verify 6", default: 0] > bits.count / 20)
    }

    @Test(
        "a bit of a row or of a dictionary that is flipped is an error for the library, also where a query follows an index",
        arguments: try stores)
    func reads(_ golden: String) throws {
        let victim = try GoldenFile(golden), path = victim.path
        /// Every record in its order, and by an index.
        func read() -> [String]? {
            guard let store = try? Store.open(at: path, options: Store.Options(isReadOnly: true)) else { return nil }
            return try? store.read { reader in
                var lines: [String] = []
                for root in reader.catalog.entities where root.root == root.id {
                    try reader.forEach(root.name) { record in
                        lines.append("\(record)")
                        return true
                    }
                }
                let query = Query(
                    "Thing", where: try Condition(text: "team != 'nobody'"), sortedBy: [.ascending("serial")])
                for record in try reader.fetch(query) { lines.append("\(record)") }
                return lines
            }
        }
        let wanted = try #require(read())
        var places: [Int] = []
        try StoreFile.open(at: path) { file in
            let rows = Set(file.catalog.entities.map { TableName.records($0.root) })
            for name in file.snapshot.names where rows.contains(name) || name == TableName.meta {
                try file.again(name, asStored: true) { key, value in
                    guard
                        name != TableName.meta
                            || String(decoding: key, as: UTF8.self).hasPrefix(MetaKey.dictionaryPrefix)
                    else { return }
                    // Rows are identified by their bytes: none occurs twice.
                    let bytes = Array(value),
                        start = try #require(bytes.isEmpty ? nil : victim.original.firstRange(of: bytes)?.lowerBound)
                    places += start..<start + bytes.count
                }
            }
        }
        var damaged = 0
        for bit in chosen(places.count * 8).prefix(Self.bits == "all" ? .max : 300) {
            let flipped = places[bit / 8] * 8 + bit % 8
            try victim.set(flipped, flipped: true)
            defer { try? victim.set(flipped, flipped: false) }
            let found = read()
            if found == nil { damaged += 1 }
            if let found, found != wanted {
                Issue.record(
                    "seed \(Self.seed), bit \(flipped % 8) of byte \(flipped / 8) of \(golden): records are others, and nothing is said"
                )
            }
        }
        // A dictionary that no row uses, or a row of a page that was left behind, may be damaged.
        #expect(damaged > 200)
    }
}
