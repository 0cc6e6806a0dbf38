// The sequence that `observe` returns.

import Dispatch
import Foundation

/// A sequence of results: the current one, then one after every commit that changes it.
///
/// Commits of other processes count, too.
///
/// ```swift
/// for try await issues in store.observe(entities: ["Issue"], { try $0.count("Issue") }) {
///     print(issues.value)
/// }
/// ```
///
/// - The first result is delivered at once. Later ones are delivered only if they differ from the
///   previous one.
/// - Each result is of the newest state. Commits that are faster than the consumer are skipped, not
///   queued. The last state is always delivered.
/// - Observers of an equal query, count or record share its evaluation: it runs once for each state
///   of the store. A closure is evaluated for each observer.
/// - Each iteration is an observer of its own. It ends when its task is cancelled, and is removed
///   when it is no longer iterated. It keeps the store open meanwhile.
/// - An error of the evaluation ends the iteration: `StoreError.unknownEntity` and the like if
///   another process has changed the schema incompatibly; `StoreError.lmdb` of the kind
///   `fileReplaced`, within some seconds, if the store's files were removed or replaced.
public struct StoreObservation<Value: Sendable>: AsyncSequence, Sendable {
    /// A result with its commit.
    public typealias Element = Observed<Value>

    /// Evaluates once per call, for one iteration and on one thread at a time.
    ///
    /// It returns nil if the result is unchanged, unless its second argument is true.
    package typealias Evaluation = (StoreReader, _ isAlwaysWanted: Bool) throws -> Value?

    let store: Store
    let interest: @Sendable (StoreState) throws -> ObserverHub.Interest
    let makeEvaluation: @Sendable () -> Evaluation

    init(
        store: Store, interest: @escaping @Sendable (StoreState) throws -> ObserverHub.Interest,
        makeEvaluation: @escaping @Sendable () -> Evaluation
    ) {
        self.store = store
        self.interest = interest
        self.makeEvaluation = makeEvaluation
    }

    /// Creates an observation that is evaluated after every commit, also of a response only.
    ///
    /// - Parameter makeEvaluation: returns a closure for one iteration, which is called on one
    ///   thread at a time.
    package init(ofLists store: Store, _ makeEvaluation: @escaping @Sendable () -> Evaluation) {
        self.init(store: store, interest: { _ in .lists }, makeEvaluation: makeEvaluation)
    }

    /// Creates an iteration: a new observer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(observer: Observer(self)) }

    /// One iteration: an observer of its own.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let observer: Observer<Value>

        /// The next result; nil after the task was cancelled.
        ///
        /// - Throws: errors of the evaluation. The iteration is over then.
        public mutating func next() async throws -> Element? { try await observer.next() }

        /// Returns the current result, also if it is the last one; nil after cancellation.
        ///
        /// - Throws: as ``next()``.
        package mutating func current() async throws -> Element? { try await observer.current() }
    }
}

/// One iteration, used by one task at a time.
private final class Observer<Value: Sendable>: @unchecked Sendable {
    // Used by the iterating task; while it waits for an evaluation, by the queue.
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

    func current() async throws -> Observed<Value>? {
        do {
            guard try begin() != nil, !Task.isCancelled else { return nil }
            return try await evaluate(isAlwaysWanted: true)
        } catch {
            finish()
            throw error
        }
    }

    /// Adds the observer to the hub, the first time.
    private func begin() throws -> ObserverSignal? {
        guard let observation, signal == nil else { return signal }
        let store = observation.store
        let signal = try store.read { try ObserverSignal(in: $0.access.state, observation.interest) }
        try store.observers.add(signal, to: store)
        self.signal = signal
        return signal
    }

    private func evaluate(isAlwaysWanted: Bool = false) async throws -> Observed<Value>? {
        guard let store = observation?.store else { return nil }
        return try await withCheckedThrowingContinuation { continuation in
            store.observers.queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try store.observers.requireFiles()
                        return try store.read { reader in
                            try evaluation(reader, isAlwaysWanted).map {
                                Observed(value: $0, sequence: try reader.sequence)
                            }
                        }
                    })
            }
        }
    }
}
