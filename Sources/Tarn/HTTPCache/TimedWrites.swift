// Writes of a cache: a response does not wait for long until the store takes it.

import Locking
import TarnHTTP

/// The writes of a cache, whose callers wait for a limited time.
///
/// The store has one writer at a time, in all processes: an import may take many seconds, and one
/// that is stopped within its write holds up all others. A write that is late is carried out all
/// the same. While one is that was waited for, further callers do not wait.
final class TimedWrites: Sendable {
    /// The error of a caller whose write is late, or was left out because too many are.
    struct Late: Error, CustomStringConvertible {
        var description: String { "the store is busy: an earlier write has not ended" }
    }

    /// The maximum number of late writes, and of the bytes that they add. Further ones are left
    /// out: each keeps a response in memory.
    static let limit = (count: 64, bytes: 64 << 20)

    /// The writes for which no caller waits any more.
    private struct LateWrites {
        var count = 0
        var bytes = 0
        /// The number of those that have taken longer than callers wait. Only these prove that the
        /// store is busy: of many small writes, some are always under way.
        var overdueCount = 0
    }

    private let wait: Duration
    private let late = Guarded(LateWrites())

    /// - Parameter wait: the longest wait of a caller.
    init(wait: Duration) { self.wait = wait }

    private enum Phase {
        case inTime, late, ended
    }

    /// Runs a write, and waits for it.
    ///
    /// - Parameter size: the number of bytes that the write adds.
    /// - Throws: errors of the write; ``Late``.
    func run<Value: Sendable>(
        _ size: Int, _ write: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let (isBusy, isFull) = late.withLock { late in
            (
                late.overdueCount > 0,
                late.count >= TimedWrites.limit.count || late.bytes + size > TimedWrites.limit.bytes
            )
        }
        guard !isBusy || !isFull else { throw Late() }
        let outcome = SettledOnce<Result<Value, any Error>>(), phase = Guarded(Phase.inTime)
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await write()) } catch { result = .failure(error) }
            phase.withLock { phase in
                if phase == .late { self.count(-1, -size, isOverdue: !isBusy) }
                phase = .ended
            }
            outcome.settle(result)
        }
        let timer = Task { [wait] in
            if !isBusy { try await Task.sleep(for: wait) }
            let isLate = phase.withLock { phase in
                guard phase == .inTime else { return false }
                phase = .late
                self.count(1, size, isOverdue: !isBusy)
                return true
            }
            if isLate { outcome.settle(.failure(Late())) }
        }
        defer { timer.cancel() }
        return try await outcome.value().get()
    }

    /// Waits until no write is late, or the task is cancelled.
    func finish() async {
        while late.withLock({ $0.count > 0 }) {
            do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
        }
    }

    private func count(_ number: Int, _ bytes: Int, isOverdue: Bool) {
        late.withLock { late in
            late.count += number
            late.bytes += bytes
            if isOverdue { late.overdueCount += number }
        }
    }
}
