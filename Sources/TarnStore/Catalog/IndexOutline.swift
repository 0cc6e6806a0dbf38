/// The part of an index that decides whether a query may use it.
struct IndexOutline: Sendable {
    let id: UInt32
    let firstField: UInt16?
    let isPartial: Bool
}
