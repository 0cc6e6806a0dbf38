internal import LMDB

/// Which record of which table.
struct RememberedKey: Hashable {
    var root: UInt16
    var key: [UInt8]
}
