internal import LMDB

/// The start of a walk: values of the order's components in the table's encoding, and a storage
/// key.
struct WalkStart {
    var values: [UInt8]
    /// The number of values.
    var count = 0
    var storageKey: [UInt8]
}
