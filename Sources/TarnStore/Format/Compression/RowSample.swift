// Bodies of rows from all over a table, for training a dictionary.

internal import LMDB

/// A sample of limited size, whose rows are evenly spaced in a table of any size.
struct RowSample: ~Copyable {
    private var bodies = ByteWriter(capacity: 1 << 20)
    private var sizes: [Int] = []
    /// The spacing: every n-th row is sampled.
    private var distance = 1
    private var position = 0

    /// Returns whether the next row is to be added. To be called once for each row.
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

    /// Removes every second body and doubles the spacing.
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

    /// Trains a dictionary. Nil if the rows are too few or have too little in common.
    func dictionary(_ effort: RowDictionary.Effort) -> [UInt8]? {
        // With fewer samples zstd finds no common content.
        guard sizes.count >= 50 else { return nil }
        let capacity = min(RowCompression.largestDictionary, max(4096, bodies.count / 32))
        return RowDictionary.train(bodies, sizes: sizes, capacity: capacity, effort)
    }
}

extension RecordTable {
    func sample(of entity: Catalog.Entity) throws -> RowSample {
        var sample = RowSample()
        let cursor = try raw.cursor(state.records(of: entity.id))
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            // A damaged row is useless for training. `rewrite` reports it.
            if isSound(value, root: entity.root, key), sample.wantsNext() {
                try lending { sample.add(try view(value, entity, key).body) }
            }
            entry = try cursor.next()
        }
        return sample
    }
}
