// The shared evaluation of a query's observers: once for each state of the store.

import Locking

/// The newest result of a query, and the state of the store that it belongs to.
///
/// Observers own it. The hub has a weak reference, so it is released with the last observer.
final class SharedEvaluation<Result: Sendable>: Sendable {
    private struct State: Sendable {
        var position: ObserverHub.Position?
        var result: Result?
        /// The number of results that differed from the previous one.
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

    /// Returns the result in a snapshot. Called on the hub's queue, by one caller at a time.
    ///
    /// - Returns: the result, and its revision. Equal revisions have equal results. Consecutive
    ///   ones have different results. Others have to be compared.
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
            // If the results are equal, the old one is kept: observers own it already.
            if differs { (state.result, state.revision) = (result, state.revision + 1) }
            return (state.result ?? result, state.revision)
        }
    }
}

extension ObserverHub {
    /// The key of a result that observers share.
    ///
    /// Equal keys have equal results in the same state of the store.
    enum EvaluationKey: Hashable, Sendable {
        case records(ComparedQuery)
        case structs(ObjectIdentifier, ComparedQuery)
        case including(ObjectIdentifier, ComparedQuery, paths: [[String]])
        case count(ComparedQuery)
        case existence(ComparedQuery)
        case record(String, RecordKey)
        case oneStruct(ObjectIdentifier, RecordKey)
    }

    /// A query whose texts are compared by their bytes, as its condition compares them.
    ///
    /// Swift's texts are equal if they are canonically equivalent, and so are those of a `Query`.
    struct ComparedQuery: Hashable, Sendable {
        private let query: Query
        private let fingerprint: UInt64

        init(_ query: Query) {
            self.query = query
            fingerprint = query.fingerprint
        }
    }

    struct WeakEvaluation: Sendable {
        // Always a `SharedEvaluation`, which is `Sendable`.
        nonisolated(unsafe) weak var evaluation: AnyObject?
    }

    /// The evaluation of a key, shared if there is one; without a key, that of a single observer.
    func evaluation<Result>(_ key: EvaluationKey?, of type: Result.Type) -> SharedEvaluation<Result> {
        guard let key else { return SharedEvaluation(self, nil) }
        let made = SharedEvaluation<Result>(self, key)
        return evaluations.withLock { evaluations in
            if let known = evaluations[key]?.evaluation as? SharedEvaluation<Result> { return known }
            evaluations[key] = WeakEvaluation(evaluation: made)
            return made
        }
    }

    /// Removes a released evaluation, unless a new one has replaced it.
    func forgetEvaluation(_ key: EvaluationKey) {
        evaluations.withLock { evaluations in
            if let known = evaluations[key], known.evaluation == nil { evaluations[key] = nil }
        }
    }
}
