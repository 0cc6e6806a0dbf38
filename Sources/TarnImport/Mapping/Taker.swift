/// The consumer of a key's value: a slot, or a place beyond the slots where extra sources start.
struct Taker {
    var place: Int
    /// The rank among the slot's alternates; smaller wins.
    var rank: Int
    /// Whether the value is part of the record's key.
    var isKey: Bool
    /// The next taker of the same key, or -1.
    var next: Int32
}
