// Every bit of a small store, flipped: a damaged store never passes for a whole one.

import Foundation
import Glibc
import TarnInspect
import TarnStore

/// The outputs of the inspector for a store with one flipped bit.
struct BitFlips {
    let path: String
    private let file: Int32
    private let original: [UInt8]
    private let records: [String]
    private let tables: [String]

    init(_ path: String) throws {
        self.path = path
        original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
        file = open(path + "/data.mdb", O_RDWR)
        guard let records = BitFlips.records(path), let tables = BitFlips.tables(path) else {
            throw StoreOpenError.notAStore(path: path, detail: "it is damaged already")
        }
        (self.records, self.tables) = (records, tables)
    }

    /// The lines of a dump; nil if it reports damage.
    private static func records(_ path: String) -> [String]? {
        var lines: [String] = [], isWhole = true
        do {
            try StoreInspector(at: path).dumpRecords(line: { lines.append($0) }, damaged: { _ in isWhole = false })
        } catch {
            return nil
        }
        return isWhole ? lines : nil
    }

    /// The stored content of all tables; nil if the dump reports damage.
    private static func tables(_ path: String) -> [String]? {
        var lines: [String] = [], isWhole = true
        do {
            try StoreInspector(at: path).dumpTables(
                line: { if $0.hasPrefix(" ") || $0.hasPrefix("database") { lines.append($0) } },
                damaged: { _ in isWhole = false })
        } catch {
            return nil
        }
        return isWhole ? lines : nil
    }

    /// Flips every bit of the bytes that are not zero, one bit of each zero byte, and one of each
    /// eight zero bytes in the free space of a page.
    ///
    /// Prints a line for each find, and the counts at the end.
    ///
    /// - Parameter part: the part of the bits, of so many, that this process takes.
    /// - Returns: the number of finds.
    func run(part: Int, of parts: Int) -> Int {
        var counts: [String: Int] = [:], finds = 0, bits = 0
        let new = path + ".salvaged"
        for byte in original.indices {
            let isFree = original[byte] == 0 && isInFreeSpace(byte)
            for bit in 0..<8 where isFree ? byte % 64 == bit * 8 : original[byte] != 0 || bit == byte % 8 {
                bits += 1
                guard bits % parts == part else { continue }
                var changed = original[byte] ^ 1 << UInt8(bit)
                pwrite(file, &changed, 1, off_t(byte))
                func find(_ what: String) {
                    finds += 1
                    say("find: bit \(bit) of byte \(byte), page \(byte / 4096): \(what)")
                }
                let found = BitFlips.records(path)
                counts[found == nil ? "dump 6" : "dump 0", default: 0] += 1
                if let found, found != records { find("the dump differs without a word") }
                let isSound = (try? StoreInspector(at: path).verification().isSound) ?? false
                counts[isSound ? "verify 0" : "verify 6", default: 0] += 1
                if isSound, BitFlips.tables(path) != tables { find("verified, and the tables differ") }
                try? FileManager.default.removeItem(atPath: new)
                if let report = try? StoreInspector(at: path).salvage(to: new), report.lostCount == 0 {
                    counts["salvage 0", default: 0] += 1
                    if BitFlips.records(new) != records { find("salvaged without a loss, and the records differ") }
                } else {
                    counts["salvage 3", default: 0] += 1
                }
                var restored = original[byte]
                pwrite(file, &restored, 1, off_t(byte))
            }
        }
        try? FileManager.default.removeItem(atPath: new)
        let outcomes = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        say(
            "bit flips: part \(part) of \(parts) of \(bits) bits in \(original.count) bytes, \(finds) finds: \(outcomes)"
        )
        return finds
    }

    /// Whether a byte is between the nodes and their index on a page of a tree (`mp_lower`,
    /// `mp_upper` of lmdb's `MDB_page`).
    private func isInFreeSpace(_ byte: Int) -> Bool {
        func number(_ offset: Int) -> Int {
            Int(original[byte / 4096 * 4096 + offset]) | Int(original[byte / 4096 * 4096 + offset + 1]) << 8
        }
        guard byte >= 2 * 4096, number(10) == 1 || number(10) == 2 else { return false }
        let page = original[(byte / 4096 * 4096)..<(byte / 4096 * 4096 + 8)]
        // The page's own number tells it from the content of a long value.
        guard page.enumerated().allSatisfy({ $1 == UInt8(truncatingIfNeeded: (byte / 4096) >> ($0 * 8)) }) else {
            return false
        }
        return (number(12)..<max(number(12), number(14))).contains(byte % 4096)
    }
}
