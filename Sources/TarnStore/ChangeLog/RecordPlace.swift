internal import LMDB

/// Which record of which table.
struct RecordPlace: Hashable, Sendable {
    var root: UInt16
    var key: [UInt8]
}
