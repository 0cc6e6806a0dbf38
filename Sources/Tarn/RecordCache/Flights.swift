// Shared transfers of this process: concurrent requests for the same resource use one transfer.

import Locking

/// Transfers by request key. A transfer lives as long as a caller waits for it.
final class Flights<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct Flight {
        var id: UInt64
        var task: Task<Void, Never>?
        var waiters: [UInt64: Waiter] = [:]
    }

    private struct State {
        var flights: [[UInt8]: Flight] = [:]
        /// The last id of a flight or a waiter.
        var lastID: UInt64 = 0

        mutating func newID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    private let state = Guarded(State())

    /// Waits for the result of a transfer that is under way, or of a new one.
    ///
    /// A cancelled caller returns at once. The transfer is cancelled with its last caller; the next
    /// caller begins a new one.
    ///
    /// - Parameters:
    ///   - key: the request key.
    ///   - body: the transfer, if none is under way.
    /// - Returns: the result, and whether another caller had begun the transfer.
    /// - Throws: what the closure throws; `CancellationError` if the caller is cancelled.
    func value(
        _ key: [UInt8], _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, isShared: Bool) {
        let id = state.withLock { $0.newID() }
        // Written before the continuation is resumed, and read after that.
        let isShared = Guarded(false)
        let value = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Waiter) in
                let joined = state.withLock { state -> Bool? in
                    // Either the handler below ran before there was a waiter, or it will find this
                    // one.
                    guard !Task.isCancelled else { return nil }
                    if state.flights[key] != nil {
                        state.flights[key]?.waiters[id] = continuation
                        return true
                    }
                    var flight = Flight(id: state.newID())
                    flight.waiters[id] = continuation
                    flight.task = Task { [id = flight.id] in
                        let result: Result<Value, any Error>
                        do { result = .success(try await body()) } catch { result = .failure(error) }
                        self.end(key, id, result)
                    }
                    state.flights[key] = flight
                    return false
                }
                guard let joined else { return continuation.resume(throwing: CancellationError()) }
                if joined { isShared.withLock { $0 = true } }
            }
        } onCancel: {
            leave(key, id)
        }
        return (value, isShared.withLock(\.self))
    }

    private func end(_ key: [UInt8], _ id: UInt64, _ result: Result<Value, any Error>) {
        let waiters = state.withLock { state -> [UInt64: Waiter] in
            // Another flight may have begun after the last caller had left this one.
            guard let flight = state.flights[key], flight.id == id else { return [:] }
            state.flights[key] = nil
            return flight.waiters
        }
        for waiter in waiters.values { waiter.resume(with: result) }
    }

    private func leave(_ key: [UInt8], _ id: UInt64) {
        let (waiter, abandoned) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: id) else { return (nil, nil) }
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
            state.flights[key] = nil
            return (waiter, flight.task)
        }
        abandoned?.cancel()
        waiter?.resume(throwing: CancellationError())
    }
}
