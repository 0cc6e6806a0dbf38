// The evaluation that all observers of one query share: once for each state of the store.

internal import LMDB

/// The newest result of a query, and the state of the store that it is of.
///
/// Observers hold it; the hub only knows it, so it ends with the last of them.
final class SharedEvaluation<Result: Sendable>: Sendable {
    private struct State: Sendable {
        var position: ObserverHub.Position?
        var result: Result?
        /// Counts the results that differ from the one before.
        var revision: UInt64 = 0
    }

    private let hub: ObserverHub
    private let key: ObserverHub.EvaluationKey?
    private let state = Guarded(State())

    init(_ hub: ObserverHub, _ key: ObserverHub.EvaluationKey?) {
        self.hub = hub
        self.key = key
    }

    deinit {
        if let key { hub.forgetEvaluation(key) }
    }

    /// The result in a snapshot. Called on the hub's queue, so that no two callers evaluate at the
    /// same time.
    ///
    /// - Returns: the result, and its revision: equal for equal results; a difference of 1 means
    ///   that the results differ, and a greater one says nothing.
    func result(
        _ reader: StoreReader, isSame: (Result, Result) -> Bool, _ body: (StoreReader) throws -> Result
    ) throws -> (result: Result, revision: UInt64) {
        let position = try ObserverHub.Position(reader)
        let known: (Result, UInt64)? = state.withLock { state in
            state.position == position ? state.result.map { ($0, state.revision) } : nil
        }
        if let known { return known }
        hub.counters.withLock { $0.evaluations += 1 }
        let result = try body(reader)
        let old = state.withLock(\.result)
        let differs = old.map { !isSame($0, result) } ?? true
        return state.withLock { state in
            state.position = position
            // An equal result is kept as it was: observers hold it already.
            if differs { (state.result, state.revision) = (result, state.revision + 1) }
            return (state.result ?? result, state.revision)
        }
    }
}

extension ObserverHub {
    /// A result that observers may share: equal keys have equal results in the same state of the
    /// store.
    enum EvaluationKey: Hashable, Sendable {
        case records(Query)
        case structs(ObjectIdentifier, Query)
        case count(Query)
        case record(String, RecordKey)
        case oneStruct(ObjectIdentifier, RecordKey)
    }

    struct WeakEvaluation: Sendable {
        // Only ever a `SharedEvaluation`, which is `Sendable`.
        nonisolated(unsafe) weak var evaluation: AnyObject?
    }

    /// The evaluation of a key that others have begun, or a new one. Without a key, one for a
    /// single observer.
    func evaluation<Result>(_ key: EvaluationKey?, of type: Result.Type) -> SharedEvaluation<Result> {
        guard let key else { return SharedEvaluation(self, nil) }
        let made = SharedEvaluation<Result>(self, key)
        return evaluations.withLock { evaluations in
            if let known = evaluations[key]?.evaluation as? SharedEvaluation<Result> { return known }
            evaluations[key] = WeakEvaluation(evaluation: made)
            return made
        }
    }

    /// Removes an evaluation that has ended, unless another one has taken its place.
    func forgetEvaluation(_ key: EvaluationKey) {
        evaluations.withLock { evaluations in
            if let known = evaluations[key], known.evaluation == nil { evaluations[key] = nil }
        }
    }
}
