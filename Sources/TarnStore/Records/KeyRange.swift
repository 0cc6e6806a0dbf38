// Ranges of primary keys: all keys, keys with a prefix, keys between two bounds.

/// A range of primary keys, in the order of the store.
///
/// Numbers sort by value, texts by their UTF-8 bytes, UUIDs by their bytes, and composite keys
/// component by component.
///
/// A bound may have fewer components than the entity's keys. It is then located before all keys
/// that begin with it; an inclusive upper bound is located after them. Keys with an encoding longer
/// than 207 bytes sort by its first 207 bytes. The range nevertheless contains exactly the keys
/// between its bounds.
///
/// ```swift
/// try r.forEach(Issue.self, in: .prefix(["acme", "anvil"])) { … }
/// try r.forEach(Issue.self, in: KeyRange([100]..<[200]), reversed: true) { … }
/// ```
public struct KeyRange: Sendable, Hashable {
    enum Upper: Sendable, Hashable {
        case none, excluded(RecordKey), included(RecordKey)
    }

    let lower: RecordKey?
    let upper: Upper

    private init(lower: RecordKey?, upper: Upper) {
        self.lower = lower
        self.upper = upper
    }

    /// All keys of an entity.
    public static let all = KeyRange(lower: nil, upper: .none)

    /// Returns the range of keys that begin with these components.
    public static func prefix(_ components: RecordKey) -> KeyRange {
        components.components.isEmpty ? all : KeyRange(lower: components, upper: .included(components))
    }

    /// Creates a range with an inclusive lower and an exclusive upper bound.
    public init(_ range: Range<RecordKey>) { self.init(lower: range.lowerBound, upper: .excluded(range.upperBound)) }
    /// Creates a range with inclusive bounds.
    public init(_ range: ClosedRange<RecordKey>) {
        self.init(lower: range.lowerBound, upper: .included(range.upperBound))
    }
    /// Creates a range with an inclusive lower bound only.
    public init(_ range: PartialRangeFrom<RecordKey>) { self.init(lower: range.lowerBound, upper: .none) }
    /// Creates a range with an exclusive upper bound only.
    public init(_ range: PartialRangeUpTo<RecordKey>) { self.init(lower: nil, upper: .excluded(range.upperBound)) }
    /// Creates a range with an inclusive upper bound only.
    public init(_ range: PartialRangeThrough<RecordKey>) { self.init(lower: nil, upper: .included(range.upperBound)) }
}

/// The order of the store: texts, then numbers, then UUIDs.
extension KeyComponent: Comparable {
    public static func < (a: KeyComponent, b: KeyComponent) -> Bool {
        switch (a, b) {
        case (.int(let x), .int(let y)): x < y
        case (.string(let x), .string(let y)): x.utf8.lexicographicallyPrecedes(y.utf8)
        case (.uuid(let x), .uuid(let y)):
            withUnsafeBytes(of: x.uuid) { x in withUnsafeBytes(of: y.uuid) { y in x.lexicographicallyPrecedes(y) } }
        case (.digest(let x), .digest(let y)): x.lexicographicallyPrecedes(y)
        default: a.rank < b.rank
        }
    }

    private var rank: Int {
        switch self {
        case .string: 0
        case .int: 1
        case .uuid: 2
        case .digest: 3
        }
    }
}

extension RecordKey: Comparable {
    public static func < (a: RecordKey, b: RecordKey) -> Bool { a.components.lexicographicallyPrecedes(b.components) }
}

extension KeyComponent: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(stringLiteral value: String) { self = .string(value) }
}

extension RecordKey: ExpressibleByArrayLiteral {
    /// Creates a key from its components: `["acme", "anvil", 17]`, or `[17]`.
    public init(arrayLiteral components: KeyComponent...) { self.init(components) }
}
