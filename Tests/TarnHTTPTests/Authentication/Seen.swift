import Synchronization

/// A value that a closure of another task has seen.
final class Seen<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? { state.withLock(\.self) }
    func set(_ value: Value) { state.withLock { $0 = value } }
}
