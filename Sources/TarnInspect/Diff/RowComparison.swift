// The comparison of rows under one key, from two files.

import TarnStore

/// The comparison of the current rows of two tables.
final class RowComparison {
    /// The result of a step.
    enum Result {
        case same
        /// The row is not compared: it is of another entity, or its page was reported.
        case left
        case different(RecordDifference)
        case damaged(entity: String, store: Int, StoreInspector.Damage)
    }

    private let a: RowSide?
    private let b: RowSide?
    /// The entity whose records are compared; nil for all.
    private let name: String?
    /// Whether equal bytes of uncompressed bodies are equal fields.
    private let hasSameCoding: Bool
    /// The ids of the dictionaries that both files have, with the same content.
    private let sharedDictionaries: Set<UInt16>
    /// The numbers of equal records by the id of their entity in the first file.
    private(set) var sameCounts: [UInt16: Int] = [:]

    init(_ a: RowSide?, _ b: RowSide?, _ name: String?) {
        (self.a, self.b, self.name) = (a, b, name)
        hasSameCoding = if let a, let b { a.coding == b.coding } else { false }
        let prefix = MetaKey.dictionaryPrefix
        sharedDictionaries = Set(
            (a?.file.settings ?? [:]).compactMap { key, value in
                key.hasPrefix(prefix) && b?.file.settings[key] == value ? UInt16(key.dropFirst(prefix.count)) : nil
            })
    }

    /// Compares the current rows.
    ///
    /// - Returns: The result, and the order of the keys: negative if only the first table has the
    ///   key, positive if only the second one has it.
    func compare() throws -> (result: Result, order: Int) {
        guard let a, a.hasEntry else { return (try b.map { try single($0, .added) } ?? .left, 1) }
        guard let b, b.hasEntry else { return (try single(a, .removed), -1) }
        let both = try a.cursor.withEntry { key, row in
            try b.cursor.withEntry { otherKey, otherRow -> (Result, Int) in
                let order = Bytes.compare(key, otherKey)
                if order < 0 { return (try single(a, .removed, key, row), order) }
                if order > 0 { return (try single(b, .added, otherKey, otherRow), order) }
                return (try compare(a, b, key, row, otherRow), 0)
            }
        }
        if let both = both ?? nil { return both }
        // One of the values is unreadable, and reported; the other row may still be alone.
        let order = a.cursor.withKey { key in b.cursor.withKey { Bytes.compare(key, $0) } ?? 0 } ?? 0
        if order < 0 { return (try single(a, .removed), order) }
        if order > 0 { return (try single(b, .added), order) }
        return (.left, 0)
    }

    // MARK: - One row

    private func single(_ side: RowSide, _ kind: RecordDifference.Kind) throws -> Result {
        try side.cursor.withEntry { try single(side, kind, $0, $1) } ?? .left
    }

    private func single(_ side: RowSide, _ kind: RecordDifference.Kind, _ key: Bytes, _ row: Bytes) throws -> Result {
        if let damage = fault(of: row, key, side) { return damage }
        return side.file.decoder.lending {
            guard let decoded = view(row, side), isWanted(decoded.entity, side) else {
                return isWanted(row.load(6), side) ? damaged(side, key, "not a row") : .left
            }
            guard let record = try? side.file.record(side.root, key, decoded) else {
                return damaged(side, key, "undecodable value")
            }
            let fields = record.fields.map {
                kind == .added
                    ? RecordDifference.Field(name: $0.name, to: $0.value)
                    : RecordDifference.Field(name: $0.name, from: $0.value)
            }
            return .different(
                RecordDifference(
                    kind: kind, entity: record.entity, key: record.key,
                    wasPartial: kind == .removed ? record.isPartial : nil,
                    isPartial: kind == .added ? record.isPartial : nil, fields: fields))
        }
    }

    /// Returns the fault that the stored bytes of a row show; nil if there is none.
    private func fault(of row: Bytes, _ key: Bytes, _ side: RowSide) -> Result? {
        guard row.count >= RowFormat.headerSize else { return damaged(side, key, "not a row") }
        guard EncodedRow.hasValidChecksum(row, table: UInt32(side.root.id), key: key) else {
            return damaged(side, key, "the checksum is wrong")
        }
        return nil
    }

    private func damaged(_ side: RowSide, _ key: Bytes, _ reason: String) -> Result {
        let damage = StoreInspector.Damage(place: "\(side.root.name) \(side.file.describe(key))", reason: reason)
        return .damaged(entity: side.root.name, store: side.number, damage)
    }

    private func view(_ row: Bytes, _ side: RowSide) -> EncodedRow? {
        guard let view = try? side.file.decoder.view(row), side.file.entity(of: view, root: side.root.id) != nil else {
            return nil
        }
        return view
    }

    private func isWanted(_ entity: UInt16, _ side: RowSide) -> Bool {
        guard let name else { return true }
        guard let ancestor = side.file.catalog.entity(name) else { return false }
        return side.file.catalog.isKind(entity, of: ancestor.id)
    }

    /// Returns whether a list of the row is in the edge table, and so not in its bytes.
    private func hasEdges(_ body: RowBody) -> Bool {
        (0..<body.count).contains { body.value(at: $0)?.tag == ValueTag.edges }
    }

    // MARK: - Two rows

    private func compare(_ a: RowSide, _ b: RowSide, _ key: Bytes, _ row: Bytes, _ other: Bytes) throws -> Result {
        let isEqual = Bytes.equal(row, other)
        if let damage = fault(of: row, key, a) { return damage }
        // Equal bytes have equal checksums, if the tables have equal ids.
        if !isEqual || a.root.id != b.root.id, let damage = fault(of: other, key, b) { return damage }
        guard isWanted(row.load(6), a) || isWanted(other.load(6), b) else { return .left }
        if hasSameCoding, !a.hasLists, isEqual,
            EncodedRow.dictionary(of: row).map({ sharedDictionaries.contains($0) }) ?? true
        {
            sameCounts[row.load(6), default: 0] += 1
            return .same
        }
        return try a.file.decoder.lending {
            try b.file.decoder.lending {
                guard let first = view(row, a) else { return damaged(a, key, "not a row") }
                guard let second = view(other, b) else { return damaged(b, key, "not a row") }
                return try compare(a, b, key, first, second)
            }
        }
    }

    private func compare(_ a: RowSide, _ b: RowSide, _ key: Bytes, _ row: EncodedRow, _ other: EncodedRow) throws
        -> Result
    {
        let isSameHead = hasSameCoding && row.isPartial == other.isPartial && row.entity == other.entity
        if isSameHead, row.isWide == other.isWide, Bytes.equal(row.body.bytes, other.body.bytes),
            !(a.hasLists && hasEdges(row.body))
        {
            sameCounts[row.entity, default: 0] += 1
            return .same
        }
        guard let entity = a.file.entity(of: row, root: a.root.id) else { return damaged(a, key, "not a row") }
        guard let otherEntity = b.file.entity(of: other, root: b.root.id) else { return damaged(b, key, "not a row") }
        guard let values = RowValues(a.file, entity, row.body) else { return damaged(a, key, "not a row") }
        guard let others = RowValues(b.file, otherEntity, other.body) else { return damaged(b, key, "not a row") }
        let fields: [RecordDifference.Field]
        do throws(RowValues.Unreadable) {
            fields = try values.differences(to: others)
        } catch {
            return damaged(error.isOfOther ? b : a, key, "undecodable value of \(error.field)")
        }
        guard !fields.isEmpty || entity.name != otherEntity.name || row.isPartial != other.isPartial else {
            sameCounts[row.entity, default: 0] += 1
            return .same
        }
        guard let name = b.file.key(otherEntity, key, other) ?? a.file.key(entity, key, row) else {
            return damaged(b, key, "undecodable key")
        }
        return .different(
            RecordDifference(
                kind: .changed, entity: otherEntity.name,
                formerEntity: entity.name == otherEntity.name ? nil : entity.name,
                key: name, wasPartial: row.isPartial, isPartial: other.isPartial, fields: fields))
    }
}
