// Shared helpers of this target: a folder per test, random values from a named seed, and a schema
// with every kind of relationship.

import Foundation
import LMDB
import Testing

@testable import TarnStore

/// Bytes from hexadecimal text.
func hex(_ text: String) -> [UInt8] {
    text.split(separator: " ").flatMap { word -> [UInt8] in
        stride(from: 0, to: word.count, by: 2).compactMap { offset in
            let start = word.index(word.startIndex, offsetBy: offset)
            return UInt8(word[start..<word.index(start, offsetBy: 2)], radix: 16)
        }
    }
}

/// The writes of a closure.
func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return Array(writer.bytes)
}

/// The error of a store that a closure throws; nil if it throws nothing, or something else.
///
/// Opening passes on errors of reads and writes: they are returned as such.
func storeError(_ body: () throws -> Void) -> (any StoreFailure)? {
    do {
        try body()
        return nil
    } catch StoreOpenError.store(let error) {
        return error
    } catch StoreOpenError.write(let error) {
        return error
    } catch let error as any StoreFailure {
        return error
    } catch {
        Issue.record("not an error of a store: \(error)")
        return nil
    }
}

func == <Failure: StoreFailure & Equatable>(found: (any StoreFailure)?, expected: Failure) -> Bool {
    guard let found = found as? Failure else { return false }
    return found == expected
}

enum Forge {
    /// A to-one pair declared on one side, an ordered many-to-many, a to-one whose other side is
    /// ordered, one to itself.
    static let schema = Schema([
        EntityDefinition(
            "User", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("login", .string, indexed: true)]),
        EntityDefinition("Label", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string),
                AttributeDefinition("number", .int, optional: true, indexed: true),
                AttributeDefinition("closedAt", .date, optional: true),
            ],
            relationships: [
                RelationshipDefinition("author", to: "User", inverse: "issues"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                RelationshipDefinition("duplicateOf", to: "Issue", inverse: "duplicates"),
                RelationshipDefinition("board", to: "Board", inverse: "cards"),
            ]),
        EntityDefinition(
            "Board", key: ["owner", "name"],
            attributes: [AttributeDefinition("owner", .string), AttributeDefinition("name", .string)],
            relationships: [RelationshipDefinition("cards", to: "Issue", many: true, ordered: true, inverse: "board")]),
    ])

    static let quick = Store.Options(durability: .volatile)

    static func open(_ path: String, _ schema: Schema? = schema) throws(StoreOpenError) -> Store {
        try Store.open(at: path, schema: schema, options: quick)
    }
}

extension RecordKey: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: Int64) { self.init(value) }
    public init(stringLiteral value: String) { self.init(value) }
}

extension Store {
    func put(_ entity: String, _ key: RecordKey, _ values: [String: Value] = [:]) throws {
        try write { writer in
            try writer.put(entity, key, values.map { Record.Field($0.key, $0.value) })
        }
    }

    func record(_ entity: String, _ key: RecordKey) throws -> Record? {
        try read { reader in try reader.record(entity, key) }
    }

    func count(_ entity: String) throws -> Int { try read { reader in try reader.count(entity) } }

    var sequence: UInt64 { get throws { try read { reader in try reader.sequence } } }

    /// The keys that a relationship leads to, in its order; `nil` for one that cannot be named.
    func related(_ entity: String, _ key: RecordKey, _ relationship: String) throws -> [RecordKey?] {
        try read { reader in
            var keys: [RecordKey?] = []
            try reader.forEachRelated(entity, key, relationship) { target in
                keys.append(target.key)
                return true
            }
            return keys
        }
    }

    /// The missing targets of a relationship.
    func missing(_ entity: String, _ key: RecordKey, _ relationship: String) throws -> [RecordKey?] {
        try read { reader in
            var keys: [RecordKey?] = []
            try reader.forEachRelated(entity, key, relationship) { target in
                if target.record == nil { keys.append(target.key) }
                return true
            }
            return keys
        }
    }

    /// Every entry of the index of a field.
    func indexEntries(_ entity: String, _ field: String) throws -> [[UInt8]] {
        try read { reader in
            let access = reader.access
            let id = try #require(try access.state.entity(entity).field(field)?.index)
            return try access.keys(of: access.state.index(id))
        }
    }

    /// The change log: commit sequence, operation (1 created, 2 updated, 3 deleted), entity,
    /// storage key.
    func changes() throws -> [Change] {
        try read { reader in
            var result: [Change] = []
            let cursor = try reader.access.raw.cursor(reader.access.state.changes)
            defer { cursor.close() }
            var entry = try cursor.first()
            while let (key, value) = entry {
                result += try #require(ChangeGroup(key, value)).map { change in
                    Change(
                        sequence: change.sequence, operation: change.operation.rawValue, entity: change.entity,
                        key: Array(change.storageKey))
                }
                entry = try cursor.next()
            }
            return result
        }
    }

    struct Change: Equatable {
        var sequence: UInt64
        var operation: UInt8
        var entity: UInt16
        var key: [UInt8]
    }

    /// Stores a record as the import does: as a body of fields.
    @discardableResult
    func merge(_ entity: String, _ key: RecordKey, complete: Bool, _ values: [(UInt16, Value)]) throws
        -> StoreWriter.Outcome
    {
        try write { writer in
            let entity = try writer.access.state.entity(entity)
            var builder = BodyBuilder()
            var body = ByteWriter()
            for (id, value) in values { builder.field(id) { $0.appendValue(value) } }
            builder.finish(into: &body)
            let view = try #require(RowBody(body.bytes, isWide: builder.isWide))
            return try key.storageKey.withUnsafeBytes { try writer.merge(entity, $0, view, isComplete: complete) }
        }
    }
}

extension StoreAccess {
    func keys(of table: Table) throws -> [[UInt8]] {
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var result: [[UInt8]] = []
        var entry = try cursor.first()
        while let (key, _) = entry {
            result.append(Array(key))
            entry = try cursor.next()
        }
        return result
    }
}

extension RecordKey {
    /// The key as a reference to a record that is not there has it: a long key is its digest.
    var asReference: RecordKey { storageKey.withUnsafeBytes { RecordKey(reference: $0) } ?? self }
}
