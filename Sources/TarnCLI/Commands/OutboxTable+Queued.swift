// The numbers of queued changes in ranges.

import Tarn

extension OutboxTable {
    /// The numbers of queued operations in ranges, each once, ascending.
    func queued(
        _ ranges: [ClosedRange<UInt64>], in state: OutboxOperation.State? = nil,
        where isWanted: (OutboxOperation) -> Bool
    ) throws -> [UInt64] {
        var found: Set<UInt64> = []
        for range in ranges {
            try forEach(after: max(1, range.lowerBound) - 1) { operation in
                guard operation.id <= range.upperBound else { return false }
                if state == nil || operation.state == state, isWanted(operation) { found.insert(operation.id) }
                return true
            }
        }
        return found.sorted()
    }
}
