// Sending the outbox: once, or until cancelled.

import Foundation
import TarnHTTP
import TarnStore

extension Outbox {
    /// The process that is sending this outbox; nil if none is.
    public var sender: Int32? { SyncLock.holder(of: OutboxLock.name, directory: store.directory) }

    /// Sends everything that can be sent now.
    ///
    /// Operations that were being sent when a process ended are sent again, with the same
    /// idempotency key. Failures of operations are in the report. If the server of an API cannot be
    /// reached or demands other credentials, the operations of this API wait, and nothing is lost.
    ///
    /// If the task is cancelled, operations whose answers have not arrived are sent again later.
    ///
    /// - Throws: ``WriteError/busy(processID:)`` if another task or process is sending;
    ///   `CancellationError`; the errors of the store.
    @discardableResult
    public func drain() async throws -> OutboxReport {
        let report = try await drainUntilCancelled()
        if report.isInterrupted { throw CancellationError() }
        return report
    }

    /// Sends as ``drain()`` does, and returns a report also if the task is cancelled.
    package func drainUntilCancelled() async throws -> OutboxReport { try await drain(without: [], countsAll: true) }

    private func drain(without waiting: Set<String>, countsAll: Bool) async throws -> OutboxReport {
        let lock: SyncLock?
        do {
            lock = try SyncLock.claim([OutboxLock.name], directory: store.directory)
        } catch let error as SyncLock.Taken {
            throw WriteError.busy(processID: error.processID)
        }
        let concurrent = Dictionary(
            client.all.map { ($0.apiName ?? "", options.concurrent ?? $0.api.pace.concurrent ?? 8) }
        ) { first, _ in first }
        let report = try await OutboxDrain(self, concurrent: concurrent, without: waiting).run(countsAll: countsAll)
        withExtendedLifetime(lock) {}
        return report
    }

    /// Sends changes as they are queued, by any process, until the task is cancelled.
    ///
    /// - Parameter progress: called with the report of each drain.
    /// - Throws: `CancellationError`; the errors of the store.
    public func run(progress: @Sendable (OutboxReport) -> Void = { _ in }) async throws {
        try await run(isOutdated: { false }, progress: progress)
    }

    /// Sends as ``run(progress:)`` does, until a closure ends it.
    ///
    /// - Parameter isOutdated: returns whether to end. It is called before each drain, and at least
    ///   once a minute.
    package func run(
        isOutdated: () throws -> Bool, progress: @Sendable (OutboxReport) -> Void
    ) async throws {
        var pauses = OutboxPauses()
        while true {
            if try isOutdated() { return }
            let now = client.options.time.now()
            let waiting = pauses.names(at: now)
            var wait = Duration.seconds(60), isWoken = true
            do {
                // Each wake drains: a queue that waits is not read to its end each time.
                let report = try await drain(without: waiting, countsAll: false)
                progress(report)
                if report.isInterrupted { throw CancellationError() }
                pauses.note(report.stops, without: waiting, at: now, client.options.time.random())
                // New operations would fail as well.
                isWoken = pauses.names(at: now).count < client.all.count
                let next = isWoken ? [report.nextAttempt?.date, pauses.next] : [pauses.next]
                for next in next.compactMap(\.self) {
                    wait = min(wait, .seconds(clamping: next.timeIntervalSince(client.options.time.now())))
                }
            } catch WriteError.busy {
                wait = .seconds(1)
                isWoken = false
            }
            try await pause(wait, isWoken: isWoken, without: pauses.names(at: now))
        }
    }

    /// Waits for a duration, or until the outbox changes.
    private func pause(_ wait: Duration, isWoken: Bool, without waiting: Set<String>) async throws {
        let time = client.options.time, store = store
        let (seen, hasReady) = try store.read { reader -> (UInt64, Bool) in
            (try reader.outbox.revision, try self.hasReady(reader.access, without: waiting))
        }
        // Queued after the drain has looked for the last time.
        if isWoken, hasReady { return try Task.checkCancellation() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await time.sleep(max(wait, .milliseconds(10))) }
            if isWoken {
                group.addTask {
                    let observed = StoreObservation<UInt64>(ofLists: store) {
                        { reader, _ in try reader.outbox.revision }
                    }
                    for try await value in observed where value.value != seen { return }
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Whether an operation of this outbox can be sent now.
    private func hasReady(_ access: StoreAccess, without waiting: Set<String>) throws -> Bool {
        let builder = builder(access)
        var last: UInt64 = 0
        while true {
            let window = try access.outbox.window(limit: 256, after: last, now: client.now)
            for entry in window where entry.isReady {
                if waiting.contains(api(ofEntity: entry.operation.entity)) { continue }
                guard builder.requests(of: entry.operation.entity) != nil else { continue }
                // A drain does not send it either while it waits because of a URL or a body.
                if try builder.waits(of: entry.operation.id).isEmpty { return true }
            }
            guard window.count == 256, let next = window.last?.operation.id else { return false }
            last = next
        }
    }
}

extension RetryPolicy {
    /// The delay after an attempt: at least half of the attempt's limit, so that waits grow.
    func delay(afterAttempt attempt: Int, _ random: Double) -> Duration {
        let limit = min(firstDelay.inSeconds * exp2(Double(min(max(attempt, 1), 60) - 1)), longestDelay.inSeconds)
        return .seconds(clamping: limit * (0.5 + random / 2))
    }
}
