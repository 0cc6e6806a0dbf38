// Every record of a store as one JSON object a line, with nothing but the store.

import TarnStore

/// Writes the records of a store out.
public struct StoreDump {
    private let store: Store

    /// - Throws: `StoreError`.
    public init(storeAt path: String) throws {
        store = try Store.open(at: path, options: Store.Options(isReadOnly: true))
    }

    /// A row that cannot be read.
    public struct DamagedRow: Sendable {
        public var entity: String
        public var key: String
        public var reason: String
    }

    /// Calls `line` with every record, entity by entity, in key order: one snapshot from the first line to the last.
    ///
    ///     {"entity":"Issue","key":7,"version":3,"fields":{"id":7,"title":"…"}}
    ///
    /// A partial record has `"partial":true` after its version. Rows that cannot be read, or whose checksum is wrong, go to
    /// `damaged`, and the dump goes on.
    public func records(
        of entity: String? = nil, line: (String) throws -> Void, damaged: (DamagedRow) -> Void
    ) throws {
        try store.read { reader in
            let access = reader.access
            let entities = try entity.map { [try access.state.entity($0)] } ?? access.catalog.entities.filter { $0.root == $0.id }
            for entity in entities {
                let cursor = try access.raw.cursor(access.state.records(of: entity.root))
                defer { cursor.close() }
                var entry = try cursor.first()
                while let (key, value) = entry {
                    entry = try cursor.next()
                    func report(_ reason: String) {
                        damaged(DamagedRow(entity: entity.name, key: access.describe(key), reason: reason))
                    }
                    // The table of an entity with a parent holds records of others as well.
                    if entity.root != entity.id, value.count >= RowFormat.headerSize,
                        !access.catalog.isKind(value.load(6), of: entity.id)
                    {
                        continue
                    }
                    guard RowView.hasValidChecksum(value, table: UInt32(entity.root), key: key) else {
                        report(value.count < RowFormat.headerSize ? "not a row" : "the checksum is wrong")
                        continue
                    }
                    try access.lending {
                        let row: RowView
                        do throws(StoreError) {
                            row = try access.view(value, entity, key)
                        } catch {
                            if case .damagedDictionary(_, _, let id) = error {
                                return report("it needs the dictionary \(id), which is missing or damaged")
                            }
                            return report("not a row")
                        }
                        guard let record = try? access.record(entity, key, row) else {
                            return report("a value cannot be decoded")
                        }
                        try line(StoreDump.json(record))
                    }
                }
            }
        }
    }

    private static func json(_ record: Record) -> String {
        var text = "{\"entity\":"
        text.appendJSONString(record.entity)
        text += ",\"key\":"
        record.key.appendJSON(to: &text)
        text += ",\"version\":\(record.version)"
        if record.isPartial { text += ",\"partial\":true" }
        text += ",\"fields\":"
        record.appendFieldsJSON(to: &text)
        return text + "}"
    }
}
