import Locking

/// The faults of a transport, with the number of requests that each matched.
final class FixtureFaults: Sendable {
    private let faults: [FixtureFault]
    private let matches: Guarded<[Int]>

    init(_ faults: [FixtureFault]) {
        self.faults = faults
        matches = Guarded(Array(repeating: 0, count: faults.count))
    }

    /// Returns all faults of the next request for a target.
    ///
    /// Delays add up; the first other one counts.
    func next(for target: String) -> [FixtureFault.Kind] {
        guard !faults.isEmpty else { return [] }
        return matches.withLock { matches in
            var hits: [FixtureFault.Kind] = []
            for (index, fault) in faults.enumerated() where fault.pattern.isEmpty || target.contains(fault.pattern) {
                matches[index] += 1
                let isPast = fault.times.map { matches[index] >= fault.first + $0 } ?? false
                if matches[index] >= fault.first, !isPast { hits.append(fault.kind) }
            }
            return hits
        }
    }
}
