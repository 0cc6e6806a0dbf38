/// A set of kinds of JSON values. Null is not among them: merging handles it.
struct JSONKinds: OptionSet {
    var rawValue: UInt8

    static let bool = JSONKinds(rawValue: 1)
    /// A number without fraction and exponent that fits 64 bits.
    static let integer = JSONKinds(rawValue: 2)
    /// Any other number.
    static let real = JSONKinds(rawValue: 4)
    static let string = JSONKinds(rawValue: 8)
    static let array = JSONKinds(rawValue: 16)
    static let object = JSONKinds(rawValue: 32)

    static let number: JSONKinds = [.integer, .real]
    static let all: JSONKinds = [.bool, .integer, .real, .string, .array, .object]

    @inline(__always)
    init(rawValue: UInt8) { self.rawValue = rawValue }

    @inline(__always)
    init(_ kind: Tape.Kind?) {
        switch kind {
        case .true, .false: self = .bool
        case .int, .uint: self = .integer
        case .double: self = .real
        case .string: self = .string
        case .array: self = .array
        case .object: self = .object
        case .null, nil: self = []
        }
    }
}
