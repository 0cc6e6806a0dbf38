// A temporary folder for each test, and shared helpers of this target.

import Foundation
import TestSupport
import Testing

@testable import LMDB

/// The kind of the LMDB error that a closure throws; nil if it throws nothing, or something else.
func kindOfError(_ body: () throws -> Void) -> LMDBError.Kind? {
    do {
        try body()
        return nil
    } catch let error as LMDBError {
        return error.kind
    } catch {
        Issue.record("not an LMDBError: \(error)")
        return nil
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func copied(_ span: RawSpan) -> [UInt8] { span.withUnsafeBytes { Array($0) } }

extension Environment {
    /// Opens or makes tables in a transaction of their own.
    func makeTable(_ name: String) throws -> Table {
        try writeOpeningTables { transaction in try transaction.table(name) }
    }

    func put(_ table: Table, _ pairs: [(String, String)]) throws {
        try write { transaction in
            for (key, value) in pairs { try transaction.set(table, bytes(key), bytes(value)) }
        }
    }

    /// Puts 1,500 random entries in one transaction, and deletes some of all entries again.
    ///
    /// - Parameter entries: the content of the table, before and after.
    func change(
        _ table: Table, _ entries: inout [[UInt8]: [UInt8]], deleting count: Int, longestValue: Int,
        using random: inout SeededRandom, key: (inout SeededRandom) -> [UInt8]
    ) throws {
        try write { transaction in
            for _ in 0..<1500 {
                let key = key(&random),
                    value = [UInt8](
                        repeating: UInt8.random(in: 0...255, using: &random),
                        count: Int.random(in: 0...longestValue, using: &random))
                try transaction.set(table, key, value)
                entries[key] = value
            }
            for key in entries.keys.shuffled(using: &random).prefix(count) {
                _ = try key.withUnsafeBytes { try transaction.raw.delete(table, $0) }
                entries[key] = nil
            }
        }
    }

    /// Opens copies of a data file, each with two damaged bytes in one page, one after the other.
    ///
    /// - Parameters:
    ///   - offset: the place of the damage in a page.
    ///   - step: the distance of the damaged pages.
    ///   - content: a text that a damaged page has; nil for any page.
    /// - Returns: the number of copies whose opening or reading fails with an `LMDBError`.
    static func damagedCopies(
        of file: String, in folder: String, at offset: Int, step: Int, having content: String? = nil,
        _ body: (Environment, Table) throws -> Void
    ) throws -> Int {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        var errors = 0
        for page in stride(from: 2, to: bytes.count / 4096, by: step) {
            if let content {
                let page = Data(bytes[page * 4096..<(page + 1) * 4096])
                guard page.range(of: Data(content.utf8)) != nil else { continue }
            }
            var damaged = bytes
            damaged[page * 4096 + offset] ^= 0xFF
            damaged[page * 4096 + offset + 1] ^= 0x5A
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Data(damaged).write(to: URL(filePath: folder + "/data.mdb"))
            do {
                let copy = try Environment.open(
                    at: folder, options: .init(durability: .volatile, maximumTables: 8, readsPagesDirectly: true))
                if let table = try copy.existingTables(["t"])[0] { try body(copy, table) }
            } catch is LMDBError {
                errors += 1
            }
        }
        return errors
    }

    func value(_ table: Table, _ key: String) throws -> String? {
        try read { transaction in try transaction.copy(table, bytes(key)).map { String(decoding: $0, as: UTF8.self) } }
    }

    func entryCount(_ table: Table) throws -> Int {
        try read { transaction in try transaction.statistics(table).entries }
    }
}

extension ReadTransaction {
    func copy(_ table: Table, _ key: [UInt8]) throws -> [UInt8]? {
        guard let value = try get(table, key.span.bytes) else { return nil }
        return copied(value)
    }
}

extension WriteTransaction {
    mutating func set(_ table: Table, _ key: [UInt8], _ value: [UInt8]) throws {
        try put(table, key.span.bytes, value.span.bytes)
    }

    func copy(_ table: Table, _ key: [UInt8]) throws -> [UInt8]? {
        guard let value = try get(table, key.span.bytes) else { return nil }
        return copied(value)
    }
}
