import Foundation

/// A queued write: its closure, and the function that delivers its result.
final class Write<Value>: PendingWrite, @unchecked Sendable {
    // Used by one thread at a time: by the caller until the write is queued, then by the writer.
    /// Retained by the waiting caller, not by the write.
    /// After the delivery the caller's reference may be the last one.
    unowned(unsafe) let store: Store
    let isAlone: Bool
    let isRepeatable: Bool
    private var body: ((inout StoreWriter) throws -> Value)?
    private var value: Value?
    private let deliver: (Result<Value, any Error>) -> Void

    init(
        _ store: Store, isAlone: Bool, isRepeatable: Bool = false,
        _ body: @escaping (inout StoreWriter) throws -> Value,
        deliver: @escaping (Result<Value, any Error>) -> Void
    ) {
        self.store = store
        self.isAlone = isAlone
        self.isRepeatable = isRepeatable
        self.body = body
        self.deliver = deliver
    }

    func run(_ writer: inout StoreWriter) throws {
        guard let body else { return }
        value = try body(&writer)
    }

    func finish(_ failure: (any Error)?) {
        // The caller's closure is released before the caller resumes.
        body = nil
        if let failure {
            deliver(.failure(failure))
        } else if let value {
            deliver(.success(value))
        }
    }
}
