import TarnStore

/// The numbers of operations by state.
struct OutboxNumbers: Encodable {
    var pending: Int, sending: Int, failed: Int, dead: Int, total: Int

    init(_ counts: OutboxCounts) {
        (pending, sending, failed, dead) = (counts.pending, counts.sending, counts.failed, counts.dead)
        total = counts.total
    }
}
