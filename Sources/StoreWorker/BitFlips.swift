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
            throw StoreError.notAStore(path: path, detail: "it is damaged already")
        }
        (self.records, self.tables) = (records, tables)
    }

    /// The lines of a dump; nil if it reports damage.
    private static func records(_ path: String) -> [String]? {
        var lines: [String] = [], isWhole = true
        do {
            try StoreDump(storeAt: path).records(line: { lines.append($0) }, damaged: { _ in isWhole = false })
        } catch {
            return nil
        }
        return isWhole ? lines : nil
    }

    /// The stored content of all tables; nil if the dump reports damage.
    private static func tables(_ path: String) -> [String]? {
        var lines: [String] = [], isWhole = true
        do {
            try TableDump(fileAt: path).tables(
                line: { if $0.hasPrefix(" ") || $0.hasPrefix("database") { lines.append($0) } },
                damaged: { _ in isWhole = false })
        } catch {
            return nil
        }
        return isWhole ? lines : nil
    }

    /// Flips every bit of the bytes that are not zero, and one bit of each that is: free space.
    ///
    /// Prints a line for each find, and the counts at the end.
    ///
    /// - Parameter part: the part of the bits, of so many, that this process takes.
    /// - Returns: the number of finds.
    func run(part: Int, of parts: Int) -> Int {
        var counts: [String: Int] = [:], finds = 0, bits = 0
        let new = path + ".salvaged"
        for byte in original.indices {
            for bit in 0..<8 where original[byte] != 0 || bit == byte % 8 {
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
                let isSound = (try? StoreVerification(ofStoreAt: path).isSound) ?? false
                counts[isSound ? "verify 0" : "verify 6", default: 0] += 1
                if isSound, BitFlips.tables(path) != tables { find("verified, and the tables differ") }
                try? FileManager.default.removeItem(atPath: new)
                if let report = try? SalvageReport.salvage(path, to: new), report.lostCount == 0 {
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
}

/// Deletes records until each entity has a few, shortens long bodies, and compacts the store: a small
/// store with every feature of the large one.
func shrink(_ path: String, keeping count: Int, longestBody: Int) throws {
    do {
        let store = try Store.open(at: path)
        let surplus = try store.read { reader in
            var surplus: [(entity: String, key: RecordKey)] = []
            for entity in reader.catalog.entities {
                var seen = 0
                try reader.forEach(entity.name, in: .all) { record in
                    guard record.entity == entity.name else { return true }
                    seen += 1
                    if seen > count { surplus.append((entity.name, record.key)) }
                    return true
                }
            }
            return surplus
        }
        try store.write { writer in
            // A record that a delete rule protects stays.
            for record in surplus { _ = try? writer.delete(record.entity, record.key) }
        }
        try shortenBodies(store, to: longestBody)
        try store.setChangeRetention(ChangeRetention(age: .seconds(0), share: nil))
    }
    try Store.compact(at: path)
}

/// Replaces stored bodies that are longer than so many bytes by their beginnings.
private func shortenBodies(_ store: Store, to longest: Int) throws {
    let bodies = try store.read { reader in
        var bodies: [(entry: ResponseEntry, bytes: [UInt8])] = []
        try reader.access.responses.forEach { response in
            guard let entry = response.entry, (entry.caching?.bodySize ?? 0) > longest else { return true }
            let bytes = try reader.access.responses.body(of: response.id, 0..<longest)
            if let bytes { bodies.append((entry, bytes)) }
            return true
        }
        return bodies
    }
    try store.write { writer in
        for var body in bodies {
            body.entry.caching?.bodySize = body.bytes.count
            try writer.putResponse(body.entry, body: body.bytes)
        }
    }
}
