// Tarn in the read cases.

import Tarn

extension TarnIssue: Checked {
    var checksum: Int64 {
        var sum: Int64 = 0
        for text in [
            nodeId, url, repositoryUrl, labelsUrl, commentsUrl, eventsUrl, htmlUrl, timelineUrl, title, body ?? "", state,
            stateReason ?? "", activeLockReason ?? "", authorAssociation,
        ] { sum &+= Int64(text.utf8.count) }
        for date in [createdAt, updatedAt, closedAt] { sum &+= date?.microseconds ?? 0 }
        for number in [id, number, comments, user.key, milestone?.key ?? 0, locked ? 1 : 0] { sum &+= number }
        return sum
    }
}

enum TarnReads {
    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> ReadMeasurement {
        let store = try await TarnCases.fill(options, compression)
        // The records before the first dictionary are not compressed yet.
        if compression == .zstd { try store.rewrite() }
        let (issues, users) = try store.read { reader -> ([Int64], [Int64]) in
            (try reader.fetch(TarnIssue.self).map(\.id), try reader.fetch(TarnUser.self).map(\.id))
        }
        let picks = Reads.picks(issues), owners = Reads.picks(users)
        var total: Int64 = 0
        let field = try store.read { reader in
            try Reads.rate(picks) { picks in
                for key in picks {
                    total &+= try reader.withRow(TarnIssue.self, key) { row in try row.get(.comments) } ?? 0
                }
            }
        }
        let record = try store.read { reader in
            try Reads.rate(picks) { picks in
                for key in picks { total &+= try reader.get(TarnIssue.self, key)?.comments ?? 0 }
            }
        }
        let each = try Reads.rate(picks) { picks in
            for key in picks {
                total &+= try store.read { reader in try reader.get(TarnIssue.self, key)?.comments ?? 0 }
            }
        }
        var visited = 0, visitedUsers = 0
        let related = try store.read { reader in
            try Reads.rate(owners) { owners in
                for key in owners {
                    visitedUsers += 1
                    try reader.forEachRelated(TarnUser.self, key, "issues", to: TarnIssue.self) { row in
                        total &+= try row.get(.comments)
                        visited += 1
                    }
                }
            }
        }
        let checksum = try store.read { reader in
            var sum: Int64 = 0
            try reader.forEach(TarnIssue.self) { row in sum &+= try row.copy().checksum }
            return sum
        }
        guard total != 0 else { throw BenchmarkError("Tarn read nothing") }
        return ReadMeasurement(
            field: field, record: record, each: each, related: related * Double(visited) / Double(visitedUsers),
            checksum: checksum, compression: compression.rawValue)
    }
}
