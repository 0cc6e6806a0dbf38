// How the records of a query are found: a table or an index, and the parts of it that are walked over.

internal import LMDB

/// One way to the records of a query.
struct AccessPath {
    enum Source {
        /// The rows of a root entity.
        case rows
        /// The index of the records of an entity with a parent.
        case members(UInt32)
        /// Values, then storage keys.
        case index(CompiledIndex)
        /// Targets of a reference, then storage keys.
        case references(CompiledIndex, Catalog.Reference, keyComponents: Int)
    }

    /// How entries come, and how those come whose values are the same.
    enum Direction {
        /// Everything ascends.
        case forward
        /// Everything descends.
        case backward
        /// Values descend, and keys ascend where they are the same.
        case backwardByValue
    }

    var source: Source
    /// Ascending and disjoint.
    var spans: [KeySpan] = [.everything]
    /// Whether the lower bounds are whole storage keys, and nothing else is wanted.
    var isPoints = false
    /// What the spans do not settle.
    var residual: QueryNode
    /// Whether the source has records of other entities as well.
    var needsEntityCheck = false
    /// Whether records come in the order of the query.
    var isOrdered = false
    var direction = Direction.forward
    /// How many of the source's components have one value only, and how many behind them the order consists of.
    var fixedCount = 0
    var orderedCount = 0
    /// Parts of the query's order that are settled because there is one value only.
    var skippedOrder: Set<Int> = []
    /// How many entries the spans have, as far as they were counted.
    var estimate = 0
    /// What walking costs, for choosing.
    var cost = 0.0

    var isEverything: Bool { spans.count == 1 && spans[0].lower.isEmpty && spans[0].upper == nil }

    /// How many values stand before the storage key.
    var componentCount: Int {
        if case .index(let index) = source { index.componentCount } else { 0 }
    }
}

extension CompiledIndex {
    var componentCount: Int {
        if case .declared(let components, _) = source { components.count } else { 1 }
    }
}

extension AccessPath.Source {
    func table(_ entity: Catalog.Entity, _ state: StoreState) throws(StoreError) -> Table {
        switch self {
        case .rows: try state.records(of: entity.root)
        case .members(let id): try state.index(id)
        case .index(let index): try state.index(index.id)
        case .references(let index, _, _): try state.index(index.id)
        }
    }

    /// The storage key of the record that an entry is of. Nil if the entry is damaged.
    @inline(__always)
    func owner(in entry: Bytes) -> Bytes? {
        switch self {
        case .rows, .members: return entry
        case .index(let index):
            let length = IndexEntry.values(of: entry, components: index.componentCount).length
            return length < entry.count ? entry.slice(length..<entry.count) : nil
        case .references(_, let reference, let keyComponents):
            guard let length = StorageKey.length(in: entry, components: keyComponents) else { return nil }
            return IndexEntry.owner(in: entry, afterValuesOf: length, positioned: reference.inverseIsOrdered)
        }
    }

    /// How many bytes at the beginning of an entry say its values as far as they stand there.
    func valuesLength(in entry: Bytes) -> Int {
        guard case .index(let index) = self else { return 0 }
        return IndexEntry.values(of: entry, components: index.componentCount).length
    }
}

extension AccessPath {
    /// Whether the path by itself answers a query: no row has to be looked at.
    func isExact(_ query: CompiledQuery) -> Bool {
        guard case .always = residual else { return false }
        return query.partials == .included && !needsEntityCheck && !isPoints
    }
}
