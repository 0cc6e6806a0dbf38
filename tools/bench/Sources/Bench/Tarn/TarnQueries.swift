// Tarn in the query cases.

import Tarn

enum TarnQueries {
    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> QueryMeasurement {
        let store = try await TarnCases.fill(options, compression, indexed: ["createdAt", "state"])
        // The records before the first dictionary are not compressed yet.
        if compression == .zstd { try store.rewrite() }
        return try store.read { reader in
            var dates: [Int64] = []
            try reader.forEach(TarnIssue.self) { row in dates.append(try row.get(.createdAt, as: Timestamp.self).microseconds) }
            let starts = Queries.starts(dates)
            let issues = try reader.count("Issue"), open = try reader.count(isOpen)
            try check(reader, since(starts[0]).query, "createdAt")
            try check(reader, isOpen.query, "state")
            var total: Int64 = 0
            let index = try Queries.rate { number in
                let found = try reader.fetch(since(starts[number & 1023]))
                total &+= found.last?.comments ?? 0
                return found.count
            }
            let scan = try Queries.rate { _ in
                total &+= try numbers(reader)
                return issues
            }
            let include = try Queries.rate { number in
                let (found, included) = try reader.fetch(since(starts[number & 1023]), including: authors, labels)
                total &+= Int64(included.0[0].count + included.1[0].count)
                return found.count
            }
            let count = try Queries.rate { _ in
                total &+= Int64(try reader.count(isOpen))
                return open
            }
            let group = try Queries.rate { _ in
                total &+= Int64(try reader.counts(by: "state", TarnIssue.all.query).count)
                return issues
            }
            guard total != 0 else { throw BenchmarkError("Tarn found nothing") }
            return QueryMeasurement(
                index: index, scan: scan, include: include, count: count, group: group, checksum: try checksum(reader, starts),
                compression: compression.rawValue)
        }
    }

    private static let isOpen = TarnIssue.where { $0[.state] == Queries.state }
    private static let hasComments = TarnIssue.where { $0[.comments] > Queries.comments }
    private static let authors = TarnIssue.related(.user, to: TarnAuthor.self)
    private static let labels = TarnIssue.related("labels", to: TarnLabel.self)

    /// The query is built each time, because its value changes.
    private static func since(_ start: Int64) -> TypedQuery<TarnIssue> {
        TarnIssue.where { $0[.createdAt] >= Timestamp(microseconds: start) }.sorted(by: .createdAt).prefix(Queries.limit)
    }

    private static func numbers(_ reader: StoreReader) throws -> Int64 {
        var sum: Int64 = 0
        try reader.forEach(hasComments) { row in sum &+= try row.get(.number) }
        return sum
    }

    /// The measured query must use its index.
    private static func check(_ reader: StoreReader, _ query: Query, _ index: String) throws {
        let plan = try reader.explain(query).description
        guard plan.contains(index), !plan.contains("in memory") else {
            throw BenchmarkError("a query does not use the index of \(index): \(plan)")
        }
    }

    private static func checksum(_ reader: StoreReader, _ starts: [Int64]) throws -> Int64 {
        var sum = try numbers(reader)
        for start in starts.prefix(Queries.checked) {
            let (found, included) = try reader.fetch(since(start), including: authors, labels)
            for (number, issue) in found.enumerated() {
                sum &+= issue.checksum &* Int64(number + 1)
                for author in included.0[number] { sum &+= author.checksum }
                for label in included.1[number] { sum &+= label.checksum }
            }
        }
        sum &+= Int64(try reader.count(isOpen))
        for (value, count) in try reader.counts(by: "state", TarnIssue.all.query) {
            guard case .string(let state) = value else { throw BenchmarkError("a state is \(value)") }
            sum &+= Int64(count * state.utf8.count)
        }
        return sum
    }
}
