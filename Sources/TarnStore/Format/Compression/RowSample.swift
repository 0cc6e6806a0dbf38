// Bodies of rows from everywhere in a table, to train a dictionary from.

internal import LMDB

/// A sample of limited size whose rows have equal distances in the table, however many it has.
struct RowSample: ~Copyable {
    private var bodies = ByteWriter(capacity: 1 << 20)
    private var sizes: [Int] = []
    /// Every n-th row is taken.
    private var distance = 1
    private var position = 0

    /// Whether the next row is to be added. Called once for each row.
    mutating func wantsNext() -> Bool {
        defer { position += 1 }
        return position % distance == 0
    }

    mutating func add(_ body: RowBody) {
        guard body.bytes.count >= RowCompression.smallestBody else { return }
        let start = bodies.count
        body.appendCompressible(to: &bodies)
        sizes.append(bodies.count - start)
        while bodies.count > RowCompression.sampleBytes, sizes.count > 1 { thin() }
    }

    /// Drops every second one.
    private mutating func thin() {
        var kept = ByteWriter(capacity: bodies.count), keptSizes: [Int] = [], offset = 0
        for (index, size) in sizes.enumerated() {
            if index % 2 == 0 {
                kept.append(bodies.bytes(offset..<offset + size))
                keptSizes.append(size)
            }
            offset += size
        }
        swap(&bodies, &kept)
        sizes = keptSizes
        distance *= 2
    }

    /// Nil if there are too few rows, or if they have too little in common.
    func dictionary(_ effort: RowDictionary.Effort) -> [UInt8]? {
        // With fewer, zstd finds nothing that they have in common.
        guard sizes.count >= 50 else { return nil }
        let capacity = min(RowCompression.largestDictionary, max(4096, bodies.count / 32))
        return RowDictionary.train(bodies, sizes: sizes, capacity: capacity, effort)
    }
}

extension StoreAccess {
    func sample(of entity: Catalog.Entity) throws -> RowSample {
        var sample = RowSample()
        let cursor = try raw.cursor(state.records(of: entity.id))
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            // A damaged row teaches nothing, and is named when it is rewritten.
            if isSound(value, root: entity.root, key), sample.wantsNext() { try lending { sample.add(try view(value, entity, key).body) } }
            entry = try cursor.next()
        }
        return sample
    }
}
