// The operations of a pass that are claimed or under way: each API has room for its own ones.

/// The claimed operations of a pass, and the numbers of those that are being sent, by API.
///
/// A slow API with many operations therefore keeps none of another API waiting.
struct OutboxFlow {
    /// The most operations of each API that are sent at a time.
    private let concurrent: [String: Int]
    /// Slices: the first one is taken without moving the others.
    private var ready: [String: ArraySlice<ClaimedOperation>] = [:]
    private var sending: [String: Int] = [:]

    init(concurrent: [String: Int]) { self.concurrent = concurrent.mapValues { max(1, $0) } }

    /// Adds a claimed operation of an API.
    mutating func add(_ claimed: ClaimedOperation, of api: String) { ready[api, default: []].append(claimed) }

    /// Notes that the attempt of an operation of an API is over.
    mutating func ended(_ api: String) { sending[api, default: 0] -= 1 }

    /// Removes the next operation that is to be sent, or that is to be given back.
    ///
    /// - Parameter mustReturn: whether a claimed operation is not to be sent after all.
    mutating func next(
        unless mustReturn: (ClaimedOperation) -> Bool
    ) -> (claimed: ClaimedOperation, isReturned: Bool)? {
        for api in ready.keys {
            guard let first = ready[api]?.first else { continue }
            let isReturned = mustReturn(first)
            guard isReturned || sending[api, default: 0] < concurrent[api] ?? 1 else { continue }
            _ = ready[api]?.popFirst()
            if !isReturned { sending[api, default: 0] += 1 }
            return (first, isReturned)
        }
        return nil
    }

    /// The operations that a write that applies answers is to claim further.
    ///
    /// - Parameter answered: the number of answers by API.
    func demand(after answered: [String: Int]) -> OutboxDemand {
        var demand = OutboxDemand()
        for (api, most) in concurrent {
            let arrived = answered[api] ?? 0, taken = sending[api, default: 0] + (ready[api]?.count ?? 0)
            // Several times as many as arrived during the last write, so that there are requests to
            // send until the next one has ended: none of a slow server.
            let ahead = min(4 * max(0, arrived - 1), 12 * most), wanted = most + ahead - taken
            if wanted > 0 { demand.wanted[api] = wanted }
        }
        return demand
    }
}

/// The operations that a write is to claim.
struct OutboxDemand: Sendable {
    /// The numbers of operations by API; none of the others.
    var wanted: [String: Int] = [:]

    static let nothing = OutboxDemand()
}
