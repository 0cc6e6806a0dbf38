/// A decoded element of a tuple.
enum TupleElement: Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    /// An integer above `Int64.max`.
    case uint(UInt64)
    case double(Double)
    case string(String)
    case bytes([UInt8])
    case uuid([UInt8])
    case decimal(ExactDecimal)
}
