import Foundation

/// A queued write, with the type of its result erased.
protocol PendingWrite: AnyObject, Sendable {
    var store: Store { get }
    /// Indicates that the write requires its own transaction.
    var isAlone: Bool { get }
    /// Whether the closure may run again after all its changes were undone.
    var isRepeatable: Bool { get }
    /// Runs the closure. Called once, or more often if the write is repeatable.
    func run(_ writer: inout StoreWriter) throws
    /// Delivers the closure's result, or the error. Called once.
    func finish(_ failure: (any Error)?)
}
