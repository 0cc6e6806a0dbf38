import CCrypto
import CCurl
import Synchronization

/// Says whether a task still wants its answer.
final class CurlTicket: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .acquiring) }
    func cancel() { flag.store(true, ordering: .releasing) }
}
