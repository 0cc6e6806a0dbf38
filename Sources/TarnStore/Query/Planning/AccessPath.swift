// Access paths: a table or an index, and the parts of it that a query walks over.

internal import LMDB

/// One way to find the records of a query.
struct AccessPath {
    enum Source {
        /// The rows of a root entity.
        case rows
        /// The index of the records of an entity with a parent.
        case members(UInt32)
        /// A declared or attribute index: values, then storage keys.
        case index(CompiledIndex)
        /// An index of references: targets, then storage keys.
        case references(CompiledIndex, Catalog.Reference, keyComponents: Int)
    }

    /// The order of entries, and of entries with equal values.
    enum Direction {
        /// Everything ascends.
        case forward
        /// Everything descends.
        case backward
        /// Values descend; keys ascend among equal values.
        case backwardByValue
    }

    var source: Source
    /// The spans to walk over, ascending and disjoint.
    var spans: [KeySpan] = [.everything]
    /// Whether the lower bounds are whole storage keys and the path is only these records.
    var isPoints = false
    /// The part of the condition that the spans do not decide.
    var residual: QueryNode
    /// Whether the source also has records of other entities.
    var needsEntityCheck = false
    /// Whether the records are in the order of the query.
    var isOrdered = false
    var direction = Direction.forward
    /// The number of leading components with one value, and of the query's order behind them.
    var fixedCount = 0
    var orderedCount = 0
    /// The parts of the query's order that have no effect, since there is only one value.
    var skippedOrder: Set<Int> = []
    /// The number of entries in the spans, as far as they were counted.
    var estimate = 0
    /// The cost of the walk, for the choice between paths.
    var cost = 0.0

    var isEverything: Bool { spans.count == 1 && spans[0].lower.isEmpty && spans[0].upper == nil }

    /// The number of values before the storage key.
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

    /// Returns the storage key in an entry; nil if the entry is damaged.
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

    /// Returns the length of an entry's values, in bytes, as far as the entry has them.
    func valuesLength(in entry: Bytes) -> Int {
        guard case .index(let index) = self else { return 0 }
        return IndexEntry.values(of: entry, components: index.componentCount).length
    }
}

extension AccessPath {
    /// Returns whether the path alone answers a query, without reading rows.
    func isExact(_ query: CompiledQuery) -> Bool {
        guard case .always = residual else { return false }
        return query.partials == .included && !needsEntityCheck && !isPoints
    }
}
