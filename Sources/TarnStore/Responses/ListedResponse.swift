// The records that a response lists, lent: a hit of a cache copies nothing that is not asked for.

internal import LMDB

/// An entry of a response in a snapshot, lent to a closure: it cannot leave it.
public struct ListedResponse: ~Escapable {
    private let access: StoreAccess
    private let view: ResponseView

    @_lifetime(borrow reader)
    package init(_ view: ResponseView, _ reader: borrowing StoreReader) {
        access = reader.access
        self.view = view
    }

    /// How many elements the response's list had.
    public var count: Int { view.count }

    /// What was kept beside the records, as JSON text.
    public var metadata: String? { view.metadata }

    /// The keys of the listed records, in their order, until the closure returns false. No record is looked at, and for keys of one number
    /// nothing is allocated.
    ///
    /// What is no key of that form, or too long to stand in a list, is passed over.
    public func forEachKey<Key: StoredKey>(as type: Key.Type = Key.self, _ body: (Key) throws -> Bool) rethrows {
        try view.forEachListed { _, bytes in
            guard let key = Key(encodedKey: bytes) else { return true }
            return try body(key)
        }
    }

    /// The rows of the listed records of an entity, lent, in their order, until the closure returns false.
    ///
    /// - Throws: what the closure throws; `StoreError` if the type does not fit the catalog, or a row is damaged.
    public func forEach<Record: StoredRecord>(_ type: Record.Type, _ body: (Row<Record>) throws -> Bool) throws {
        let plan = try access.plan(type), (table, entity) = plan._withUnsafeGuaranteedRef { ($0.table, $0.entity) }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        try view.forEachListed { root, bytes in
            guard root == entity.root, let value = try cursor.find(bytes)?.value else { return true }
            return try access.lending {
                // What is listed is known by its storage key alone.
                guard let lent = try access.lend(value, plan, sought: bytes, borrowed: false, { _ in true }) else { return true }
                return try body(Row<Record>(lent))
            }
        }
    }

    /// Copies of the listed records, in their order.
    ///
    /// - Throws: `StoreError` if a row is damaged.
    public func records() throws -> [TarnStore.Record] {
        var records: [TarnStore.Record] = []
        records.reserveCapacity(view.count)
        try view.forEachListed { root, bytes in
            guard let entity = access.catalog.entity(id: root) else { return true }
            try access.lending {
                if let row = try access.row(entity, bytes) { records.append(try access.record(entity, bytes, row)) }
            }
            return true
        }
        return records
    }

    /// The listed records' keys, as they are stored.
    public func listed() -> [ListedRecord] {
        var listed: [ListedRecord] = []
        listed.reserveCapacity(view.count)
        view.forEachListed {
            listed.append(ListedRecord(entity: $0, storageKey: Array($1)))
            return true
        }
        return listed
    }
}
