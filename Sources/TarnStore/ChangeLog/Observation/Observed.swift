/// A result of an observation, with the commit that it belongs to.
public struct Observed<Value: Sendable>: Sendable {
    /// The result of the evaluation.
    public var value: Value
    /// The commit sequence of the snapshot in which it was evaluated.
    public var sequence: UInt64

    /// Creates a result.
    init(value: Value, sequence: UInt64) {
        self.value = value
        self.sequence = sequence
    }
}

extension Observed: Equatable where Value: Equatable {}
