// What `observe` returns: a result, and again a result whenever it has changed.

import Dispatch
import Foundation

/// A result of the store as it is now, and then again after every commit, of this or another process, that changes it.
///
/// ```swift
/// for try await issues in store.observe(entities: ["Issue"], { try $0.count("Issue") }) {
///     print(issues.value)
/// }
/// ```
///
/// - The first result comes at once. After that, a result comes only if it differs from the one before.
/// - What is evaluated is the newest state: commits that come faster than results are asked for are not queued up, they are
///   skipped. The last state always comes.
/// - Observers of an equal query, count or record share its evaluation: it is done once for each
///   state of the store, however many they are. A closure is evaluated for each observer.
/// - Each iteration is an observer of its own. It ends when its task is cancelled, and is forgotten when it is no longer
///   iterated. It keeps the store open meanwhile.
/// - An error of the evaluation ends the iteration: `StoreError.schemaChanged`, `.unknownEntity` and the like if another process
///   has changed the schema so that it no longer fits.
public struct StoreObservation<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Observed<Value>

    /// Evaluates once; nil if the result is the same as the last time. One for each iteration, called by one thread at a time.
    typealias Evaluation = (StoreReader) throws -> Value?

    let store: Store
    let interest: @Sendable (StoreState) throws -> ObserverHub.Interest
    let makeEvaluation: @Sendable () -> Evaluation

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(observer: Observer(self)) }

    /// One iteration: an observer of its own.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let observer: Observer<Value>

        /// The next result; nil when the task has been cancelled.
        ///
        /// - Throws: what the evaluation throws. After that there is nothing more.
        public mutating func next() async throws -> Element? { try await observer.next() }
    }
}

/// One iteration. Used by one task at a time.
private final class Observer<Value: Sendable>: @unchecked Sendable {
    // Of the task that iterates; while it waits for an evaluation, of the queue.
    private var observation: StoreObservation<Value>?
    private let evaluation: StoreObservation<Value>.Evaluation
    private var signal: ObserverSignal?

    init(_ observation: StoreObservation<Value>) {
        self.observation = observation
        evaluation = observation.makeEvaluation()
    }

    deinit { finish() }

    private func finish() {
        if let signal { observation?.store.observers.remove(signal) }
        signal = nil
        observation = nil
    }

    func next() async throws -> Observed<Value>? {
        do {
            guard let signal = try begin() else { return nil }
            while await signal.wait() {
                if let result = try await evaluate(), !Task.isCancelled { return result }
            }
        } catch {
            finish()
            throw error
        }
        finish()
        return nil
    }

    /// Enters the hub, the first time.
    private func begin() throws -> ObserverSignal? {
        guard let observation, signal == nil else { return signal }
        let store = observation.store
        let signal = ObserverSignal(try store.read { try observation.interest($0.access.state) })
        try store.observers.add(signal, to: store)
        self.signal = signal
        return signal
    }

    private func evaluate() async throws -> Observed<Value>? {
        guard let store = observation?.store else { return nil }
        return try await withCheckedThrowingContinuation { continuation in
            store.observers.queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try store.read { reader in
                            try evaluation(reader).map { Observed(value: $0, sequence: try reader.sequence) }
                        }
                    })
            }
        }
    }
}
