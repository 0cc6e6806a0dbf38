/// The records of a query, and the targets of its relationships by the records' positions.
@usableFromInline
struct IncludingResults<Record: TypedRecord, each Column: RelationshipColumn>: Sendable {
    @usableFromInline var records: [Record]
    @usableFromInline let targets: (repeat IncludedTargets<(each Column).Target>)

    @usableFromInline
    init(records: [Record], targets: (repeat IncludedTargets<(each Column).Target>)) {
        self.records = records
        self.targets = (repeat each targets)
    }

    /// A tuple for each record: the record, then what each column includes.
    @inlinable var tuples: [(Record, repeat (each Column).Included)] {
        var results = self
        return results.takeTuples()
    }

    /// Moves the records into tuples: each with what each column includes.
    @inlinable
    mutating func takeTuples() -> [(Record, repeat (each Column).Included)] {
        var tuples: [(Record, repeat (each Column).Included)] = []
        tuples.reserveCapacity(records.count)
        // The last element is moved out of an array, any other is copied.
        records.reverse()
        while let record = records.popLast() {
            let position = tuples.count
            tuples.append((record, repeat (each targets).included((each Column).self, of: position)))
        }
        return tuples
    }

    // The elements of a pack after another element of a tuple cannot be compared (Swift 6.3).
    /// Whether two results have equal tuples.
    static func areEqual(_ a: IncludingResults, _ b: IncludingResults) -> Bool
    where Record: Equatable, repeat (each Column).Included: Equatable {
        guard a.records == b.records else { return false }
        for isEqual in repeat areEqual((each Column).self, each a.targets, each b.targets, a.records.count) {
            guard isEqual else { return false }
        }
        return true
    }

    private static func areEqual<One: RelationshipColumn>(
        _ column: One.Type, _ a: IncludedTargets<One.Target>, _ b: IncludedTargets<One.Target>, _ count: Int
    ) -> Bool where One.Included: Equatable {
        (0..<count).allSatisfy { a.included(column, of: $0) == b.included(column, of: $0) }
    }
}
