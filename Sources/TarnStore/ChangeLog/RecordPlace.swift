/// The identity of a record: the root entity of its table, and its storage key.
struct RecordPlace: Hashable, Sendable {
    var root: UInt16
    var key: [UInt8]
}
