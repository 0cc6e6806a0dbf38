// A borrowed view of the records that a response lists: a cache hit copies only what it is asked
// for.

internal import LMDB

/// A response's entry in a snapshot, borrowed by a closure that it cannot leave.
public struct ListedResponse: ~Escapable {
    private let access: StoreAccess
    private let view: ResponseView

    @_lifetime(borrow reader)
    package init(_ view: ResponseView, _ reader: borrowing StoreReader) {
        access = reader.access
        self.view = view
    }

    /// The number of elements of the response's list.
    public var count: Int { view.count }

    /// The metadata of the entry, as the layer above encoded it.
    package var encodedMetadata: String? { view.metadata }

    /// Calls the closure with the keys of the listed records, in order, until it returns false.
    ///
    /// No record is read, and keys of one number need no allocation. Keys of another form, and keys
    /// that are stored only as a digest, are skipped.
    public func forEachKey<Key: StoredKey>(as type: Key.Type = Key.self, _ body: (Key) throws -> Bool) rethrows {
        guard Key.self == Int64.self || Key.self == Int.self, MemoryLayout<Key>.size == 8 else {
            return try view.forEachListed { _, bytes in
                guard let key = Key(encodedKey: bytes) else { return true }
                return try body(key)
            }
        }
        // An optional `Key` has a type of its own, which code that is not specialized looks up for
        // each value: that takes longer than everything else here.
        try view.forEachListed { _, bytes in
            guard let number = Int64(storageKey: bytes) else { return true }
            return try withUnsafeBytes(of: number) { try body($0.load(as: Key.self)) }
        }
    }

    /// Calls the closure with borrowed rows of the listed records, until it returns false.
    ///
    /// The rows are in the order of the response.
    ///
    /// - Throws: errors of the closure; `StoreError` if the type does not fit the catalog, or a row
    ///   is damaged.
    @inlinable
    public func forEach<Record: StoredRecord>(_ type: Record.Type, _ body: (Row<Record>) throws -> Bool) throws {
        try forEachLent(plan(type)) { rows in
            for row in rows {
                guard try body(Row(row)) else { return false }
            }
            return true
        }
    }

    @usableFromInline
    func plan<Record: StoredRecord>(_ type: Record.Type) throws(StoreError) -> Unmanaged<RowPlan> {
        try access.plan(type)
    }

    /// The entry point of inlined code, which knows the type.
    @usableFromInline
    func forEachLent(_ plan: Unmanaged<RowPlan>, _ body: (UnsafeBufferPointer<RowView>) throws -> Bool) throws {
        let (table, root) = plan._withUnsafeGuaranteedRef { ($0.table, $0.root) }
        let records = access.records
        try withUnsafeTemporaryAllocation(of: RowView.self, capacity: RowsByKey.most) { views in
            try records.byKey(table, root: root, readsWholeRows: true) { rows in
                var goesOn = true
                try view.forEachListed { listed, key in
                    guard listed == root else { return true }
                    goesOn = try rows.appendTogether(key) { try records.lend($0, plan, views, body) }
                    return goesOn
                }
                if goesOn { try rows.flushTogether { try records.lend($0, plan, views, body) } }
            }
        }
    }

    /// Copies of the listed records, in the order of the response.
    ///
    /// - Throws: `StoreError` if a row is damaged.
    public func records() throws -> [TarnStore.Record] {
        var records: [TarnStore.Record] = []
        records.reserveCapacity(view.count)
        try view.forEachListed { root, bytes in
            guard let entity = access.catalog.entity(id: root) else { return true }
            try access.lending {
                if let row = try access.records.row(entity, bytes) {
                    records.append(try access.record(entity, bytes, row))
                }
            }
            return true
        }
        return records
    }

    /// The references to the listed records, as they are stored.
    package func listed() -> [ListedRecord] {
        var listed: [ListedRecord] = []
        listed.reserveCapacity(view.count)
        view.forEachListed {
            listed.append(ListedRecord(entity: $0, storageKey: Array($1)))
            return true
        }
        return listed
    }
}
