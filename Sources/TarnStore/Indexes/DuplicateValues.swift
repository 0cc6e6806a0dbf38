/// Values of a unique index that several records had at some moment of a write: duplicates.
struct DuplicateValues: Hashable {
    var index: UInt32
    var values: [UInt8]
}
