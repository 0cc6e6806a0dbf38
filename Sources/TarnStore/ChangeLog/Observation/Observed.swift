import Dispatch

/// A result of an observation.
public struct Observed<Value: Sendable>: Sendable {
    /// What was evaluated.
    public var value: Value
    /// The commit sequence of the snapshot that it was evaluated on.
    public var sequence: UInt64

    public init(value: Value, sequence: UInt64) {
        self.value = value
        self.sequence = sequence
    }
}

extension Observed: Equatable where Value: Equatable {}
