/// The identity of a remembered record: its root entity and its storage key.
struct RememberedKey: Hashable {
    var root: UInt16
    var key: [UInt8]
}
