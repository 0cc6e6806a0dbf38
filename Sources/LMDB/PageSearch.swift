import CLMDB

/// A search in a page: what is looked for lies between two entries.
struct PageSearch {
    let key: SoughtKey
    var page: Page
    var low = 0, high = 0

    init(_ key: SoughtKey, _ page: Page) {
        self.key = key
        self.page = page
    }

    /// Halves what is between, which is not nothing.
    ///
    /// - Parameter orAt: whether an entry with the key itself is looked for too, or only what is behind it.
    @inline(__always)
    mutating func step(orAt isAt: Bool) throws(LMDBError) {
        let middle = (low + high) / 2
        guard let (found, beginning) = beginning(ofKey: middle) else { throw PageTree.damaged }
        // The order of keys in tables without flags (`mdb_cmp_memn`). One that ends early is filled up with zeros here: if that says that
        // they differ, they do so in this way.
        var isBefore = beginning < key.beginning
        if beginning == key.beginning { isBefore = isLess(found, key.bytes, orSame: !isAt) }
        // Half of these decisions come as a surprise, so they are no branch.
        let mask = 0 &- (isBefore ? 1 : 0)
        low = (middle + 1) & mask | low & ~mask
        high = high & mask | middle & ~mask
    }

    /// A key and its first eight bytes as a number. Nil if it is not in the page.
    @inline(__always)
    func beginning(ofKey index: Int) -> (UnsafeRawBufferPointer, UInt64)? {
        guard let key = page.key(index), let start = key.baseAddress else { return nil }
        // In front of a key stands the header of its node, eight bytes: so eight bytes up to its end are in the page.
        let length = min(key.count, 8)
        let number = UInt64(bigEndian: (start + length - 8).loadUnaligned(as: UInt64.self))
        return (key, number << UInt64(64 - 8 * length))
    }

    @inline(__always)
    private func isLess(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, orSame: Bool) -> Bool {
        let order = tarn_memcmp(a.baseAddress, b.baseAddress, min(a.count, b.count))
        if order != 0 { return order < 0 }
        return orSame ? a.count <= b.count : a.count < b.count
    }
}
