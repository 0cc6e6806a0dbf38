import CLMDB

/// A transaction without the cached page trees of its snapshot.
package struct BareTransaction {
    let pointer: OpaquePointer
    let growth: UnsafeMutablePointer<Growth>?

    package var raw: RawTransaction { RawTransaction(pointer, growth: growth) }
}
