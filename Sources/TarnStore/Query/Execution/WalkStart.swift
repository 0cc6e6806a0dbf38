internal import LMDB

/// Where a walk goes on: the values of the order's components as the path's table has them, and the storage key.
struct WalkStart {
    var values: [UInt8]
    /// How many values these are.
    var count = 0
    var storageKey: [UInt8]
}
