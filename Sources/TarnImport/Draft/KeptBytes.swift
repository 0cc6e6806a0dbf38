/// A range of the arena of `DerivedLists`, valid until the end of the unit.
struct KeptBytes {
    var start = 0
    var count = 0

    var isEmpty: Bool { count == 0 }
}
