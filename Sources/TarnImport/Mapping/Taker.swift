/// What takes the value of a key: a slot, or, past the slots, a place from which other sources lead on.
struct Taker {
    var place: Int
    /// Among the slot's alternates: less is better.
    var rank: Int
    /// Whether it identifies the record.
    var isKey: Bool
    /// The next one of the same key, or -1.
    var next: Int32
}
