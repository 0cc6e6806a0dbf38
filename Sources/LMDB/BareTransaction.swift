import CLMDB

/// A transaction without what is known of its pages.
package struct BareTransaction {
    let pointer: OpaquePointer
    let growth: UnsafeMutablePointer<Growth>?

    package var raw: RawTransaction { RawTransaction(pointer, growth: growth) }
}
