/// An entry of the free list: the pages that one transaction has freed.
///
/// The key is the transaction id. The value is a list of page numbers, `MDB_IDL` of midl.h: u64
/// count, then a u64 for each page (`mdb_freelist_save`).
package struct FreePages {
    private let numbers: UnsafeRawPointer
    /// The number of pages.
    package let count: Int

    /// Creates a view of a value; nil if it is shorter than its count declares.
    package init?(_ value: UnsafeRawBufferPointer) {
        guard let start = value.baseAddress, let count = FreePages.declaredCount(value),
            count <= UInt64(value.count / 8 - 1)
        else { return nil }
        numbers = start + 8
        self.count = Int(count)
    }

    /// Returns the count that a value declares; nil if it is too short for one.
    package static func declaredCount(_ value: UnsafeRawBufferPointer) -> UInt64? {
        value.count >= 8 ? value.baseAddress?.u64(at: 0) : nil
    }

    /// Returns the transaction of a key; nil if the key has another size.
    package static func transaction(_ key: UnsafeRawBufferPointer) -> UInt64? {
        key.count == 8 ? key.baseAddress?.u64(at: 0) : nil
    }

    /// Returns the number of a page.
    package subscript(index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        return numbers.u64(at: 8 * index)
    }
}
