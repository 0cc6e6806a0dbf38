// A temporary folder for each test, and shared helpers of this target.

import Foundation
import LMDB
import Testing

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
