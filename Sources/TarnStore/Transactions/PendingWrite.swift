import Foundation

/// A write that waits, with its result's type forgotten.
protocol PendingWrite: AnyObject, Sendable {
    var store: Store { get }
    /// Whether it must have a transaction of its own.
    var isAlone: Bool { get }
    /// Runs the closure. Called once at most.
    func run(_ writer: inout StoreWriter) throws
    /// Delivers the closure's result, or the error. Called once.
    func finish(_ failure: (any Error)?)
}
