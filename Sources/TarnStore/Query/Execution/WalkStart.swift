/// The start of a walk: encoded values of the order's components, and a storage key.
struct WalkStart {
    var values: [UInt8]
    /// The number of values.
    var count = 0
    var storageKey: [UInt8]
}
