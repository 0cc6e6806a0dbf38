internal import LMDB

/// What says whether an index may have to do with a query.
struct IndexOutline: Sendable {
    let id: UInt32
    let firstField: UInt16?
    let isPartial: Bool
}
