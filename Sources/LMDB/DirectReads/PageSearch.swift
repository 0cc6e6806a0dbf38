import CLMDB
import LMDBPages

/// A binary search for a key in a page, with its remaining range of nodes.
struct PageSearch {
    let key: SoughtKey
    var page: PageView
    var low = 0, high = 0
    /// The branch that was searched last, and the index of the child that was found in it.
    var branch: (PageView, Int)?

    init(_ key: SoughtKey, _ page: PageView) {
        self.key = key
        self.page = page
    }

    /// Halves the remaining range, which must not be empty.
    ///
    /// - Parameter isAt: Whether an entry with the key itself matches, too, or only a greater one.
    @inline(__always)
    mutating func step(orAt isAt: Bool) throws(LMDBError) {
        let middle = (low + high) / 2
        guard let (found, beginning) = page.beginning(ofKey: middle) else { throw PageTree.damaged }
        // Tables without flags use the order of `mdb_cmp_memn`. A key shorter than eight bytes is
        // padded with zeros: if the padded numbers differ, the keys differ in the same direction.
        var isBefore = beginning < key.beginning
        if beginning == key.beginning { isBefore = isLess(found, key.bytes, orSame: !isAt) }
        // Branchless: the processor would mispredict half of these comparisons.
        let mask = 0 &- (isBefore ? 1 : 0)
        low = (middle + 1) & mask | low & ~mask
        high = high & mask | middle & ~mask
    }

    @inline(__always)
    private func isLess(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, orSame: Bool) -> Bool {
        // The first eight bytes are equal.
        if a.count <= 8, b.count <= 8 { return orSame ? a.count <= b.count : a.count < b.count }
        let order = tarn_memcmp(a.baseAddress, b.baseAddress, min(a.count, b.count))
        if order != 0 { return order < 0 }
        return orSame ? a.count <= b.count : a.count < b.count
    }
}

extension PageView {
    /// Returns a key and its first eight bytes as a number; nil if the key exceeds the page.
    @inline(__always)
    func beginning(ofKey index: Int) -> (UnsafeRawBufferPointer, UInt64)? {
        guard let key = key(index), let start = key.baseAddress else { return nil }
        // The node's header of eight bytes precedes the key: the eight bytes up to its end are in
        // the page.
        let length = min(key.count, 8)
        let number = UInt64(bigEndian: (start + length - 8).loadUnaligned(as: UInt64.self))
        return (key, number << UInt64(64 - 8 * length))
    }
}
