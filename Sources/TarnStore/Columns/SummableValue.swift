/// A number that can be added up: `Int`, `Int64`, `UInt64`, `Double`, and optional ones.
public protocol SummableValue: StoredValue {
    /// The type of a sum.
    associatedtype Sum: Sendable

    /// Returns a total as a sum; nil if it does not fit.
    static func sum(_ total: NumberTotal) -> Sum?
}

/// The total of numbers: integers exactly, others as doubles.
public struct NumberTotal: Sendable {
    private var integers: Int128 = 0
    private var doubles: Double = 0
    private var count = 0

    init() {}

    /// Adds a number.
    mutating func add(_ value: Value) {
        switch value {
        // 2^63 values of 64 bits do not reach 128 bits.
        case .int(let number): integers += Int128(number)
        case .uint(let number): integers += Int128(number)
        case .double(let number): doubles += number
        case .decimal(let number): doubles += Double(number.description) ?? .nan
        default: return
        }
        count += 1
    }

    /// The mean of the numbers; nil if there are none.
    var mean: Double? { count == 0 ? nil : double / Double(count) }

    var double: Double { doubles + Double(integers) }

    func integer<Number: FixedWidthInteger>() -> Number? { Number(exactly: integers) }
}

extension Int: SummableValue {
    public static func sum(_ total: NumberTotal) -> Int? { total.integer() }
}

extension Int64: SummableValue {
    public static func sum(_ total: NumberTotal) -> Int64? { total.integer() }
}

extension UInt64: SummableValue {
    public static func sum(_ total: NumberTotal) -> UInt64? { total.integer() }
}

extension Double: SummableValue {
    public static func sum(_ total: NumberTotal) -> Double? { total.double }
}

extension Optional: SummableValue where Wrapped: SummableValue {
    public static func sum(_ total: NumberTotal) -> Wrapped.Sum? { Wrapped.sum(total) }
}
