internal import TarnStore

/// Bytes that are kept as long as the unit.
struct KeptBytes {
    var start = 0
    var count = 0

    var isEmpty: Bool { count == 0 }
}
