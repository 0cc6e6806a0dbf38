import Foundation

/// A write with its closure and the way back to its caller.
final class Write<Value>: PendingWrite, @unchecked Sendable {
    // Used by one thread at a time: the caller's until it is added to the queue, then the writer's.
    /// Kept alive by the caller, who waits. Not by this: after the delivery the caller's reference may be the last one.
    unowned(unsafe) let store: Store
    let isAlone: Bool
    private var body: ((inout StoreWriter) throws -> Value)?
    private var value: Value?
    private let deliver: (Result<Value, any Error>) -> Void

    init(
        _ store: Store, isAlone: Bool, _ body: @escaping (inout StoreWriter) throws -> Value,
        deliver: @escaping (Result<Value, any Error>) -> Void
    ) {
        self.store = store
        self.isAlone = isAlone
        self.body = body
        self.deliver = deliver
    }

    func run(_ writer: inout StoreWriter) throws {
        guard let body else { return }
        value = try body(&writer)
    }

    func finish(_ failure: (any Error)?) {
        // A closure that a caller lent is let go before the caller goes on.
        body = nil
        if let failure {
            deliver(.failure(failure))
        } else if let value {
            deliver(.success(value))
        }
    }
}
