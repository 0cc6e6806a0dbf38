import CCrypto
import CCurl
import Synchronization

/// The cancellation flag of a transfer.
final class CurlTicket: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .acquiring) }
    func cancel() { flag.store(true, ordering: .releasing) }
}
