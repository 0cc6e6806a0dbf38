// Writes of a cache: a response does not wait for long until the store takes it.

import Locking
import TarnHTTP

/// The writes of a cache, whose callers wait for a limited time.
///
/// The store has one writer at a time, in all processes: an import may take many seconds, and one
/// that is stopped within its write holds up all others. A write that is late is carried out all
/// the same. While one is, further callers do not wait.
final class TimedWrites: Sendable {
    /// The error of a caller whose write is late, or was left out because too many are.
    struct Late: Error, CustomStringConvertible {
        var description: String { "the store is busy: an earlier write has not ended" }
    }

    /// The maximum number of late writes, and of the bytes that they add. Further ones are left
    /// out: each keeps a response in memory.
    static let limit = (count: 64, bytes: 64 << 20)

    private let wait: Duration
    private let late = Guarded((count: 0, bytes: 0))

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
        let (known, limit) = (late.withLock { $0 }, TimedWrites.limit)
        guard known.count == 0 || known.count < limit.count && known.bytes + size <= limit.bytes else { throw Late() }
        let outcome = SettledOnce<Result<Value, any Error>>(), phase = Guarded(Phase.inTime)
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await write()) } catch { result = .failure(error) }
            phase.withLock { phase in
                if phase == .late { self.count(-1, -size) }
                phase = .ended
            }
            outcome.settle(result)
        }
        let timer = Task { [wait] in
            if known.count == 0 { try await Task.sleep(for: wait) }
            phase.withLock { phase in
                guard phase == .inTime else { return }
                phase = .late
                self.count(1, size)
            }
            outcome.settle(.failure(Late()))
        }
        defer { timer.cancel() }
        return try await outcome.value().get()
    }

    private func count(_ number: Int, _ bytes: Int) {
        late.withLock { late in
            late.count += number
            late.bytes += bytes
        }
    }
}
