// Tarn in the cases of typed records: structs with `@Record`, and JSON from rows.

#if TYPED
import Foundation
import TarnMacros

/// The values of the peer's `Issue`, and of `TarnIssue`.
@Record("Issue") struct MacroIssue {
    @Key var id: Int64
    var nodeId: String
    var number: Int64
    var url: String
    var repositoryUrl: String
    var labelsUrl: String
    var commentsUrl: String
    var eventsUrl: String
    var htmlUrl: String
    var timelineUrl: String
    var title: String
    var body: String?
    var state: String
    var stateReason: String?
    var locked: Bool
    var activeLockReason: String?
    var comments: Int64
    var authorAssociation: String
    var createdAt: Timestamp
    var updatedAt: Timestamp
    var closedAt: Timestamp?
    var user: Reference<MacroUser>
    var milestone: Reference<MacroMilestone>?
}

/// The values of the peer's `User`.
@Record("User") struct MacroUser {
    @Key var id: Int64
    var login: String
    var nodeId: String
    var avatarUrl: String
    var gravatarId: String
    var url: String
    var htmlUrl: String
    var followersUrl: String
    var followingUrl: String
    var gistsUrl: String
    var starredUrl: String
    var subscriptionsUrl: String
    var organizationsUrl: String
    var reposUrl: String
    var eventsUrl: String
    var receivedEventsUrl: String
    var type: String
    var siteAdmin: Bool
}

@Record("Milestone") struct MacroMilestone {
    @Key var id: Int64
}

enum TarnTyped {
    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> TypedMeasurement {
        let store = try await TarnCases.fill(options, compression, indexed: ["createdAt"])
        // The records before the first dictionary are not compressed yet.
        if compression == .zstd { try store.rewrite() }
        return try store.read { reader in
            let issues = try reader.fetch(MacroIssue.order(by: \.id))
            let keys = issues.map(\.id), dates = issues.map(\.createdAt.microseconds)
            let picks = Reads.picks(keys), starts = Queries.starts(dates)
            let plan = try reader.explain(since(starts[0]).query).description
            guard plan.contains("createdAt"), !plan.contains("in memory") else {
                throw BenchmarkError("a query does not use the index of createdAt: \(plan)")
            }
            var total: Int64 = 0
            // In turns: a disturbance hits both.
            var rates: (macro: [Double], hand: [Double]) = ([], [])
            for _ in 0..<4 {
                rates.hand.append(
                    try Reads.rate(picks, seconds: 0.3) { picks in
                        for key in picks { total &+= try reader.get(TarnIssue.self, key)?.comments ?? 0 }
                    })
                rates.macro.append(
                    try Reads.rate(picks, seconds: 0.3) { picks in
                        for key in picks { total &+= try reader.get(MacroIssue.self, key)?.comments ?? 0 }
                    })
            }
            let query = try Queries.rate { number in
                let found = try reader.fetch(since(starts[number & 1023]).include(\.user))
                total &+= found.last?.1?.id ?? 0
                return found.count
            }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(1 << 16)
            let json = try Reads.rate(picks) { picks in
                for key in picks {
                    bytes.removeAll(keepingCapacity: true)
                    _ = try reader.writeJSON(MacroIssue.self, key, into: &bytes)
                    total &+= Int64(bytes.count)
                }
            }
            guard total != 0 else { throw BenchmarkError("Tarn read nothing") }
            return TypedMeasurement(
                fetch: rates.macro.reduce(0, +) / 4, fetchByHand: rates.hand.reduce(0, +) / 4, query: query, json: json,
                checksum: try checksum(reader, picks, starts), compression: compression.rawValue)
        }
    }

    /// The query is built each time, because its value changes.
    private static func since(_ start: Int64) -> TypedQuery<MacroIssue> {
        MacroIssue.where { $0.createdAt >= Timestamp(microseconds: start) }.order(by: \.createdAt).limit(Queries.limit)
    }

    private static func checksum(_ reader: StoreReader, _ picks: [Int64], _ starts: [Int64]) throws -> Int64 {
        var sum: Int64 = 0
        for key in picks.prefix(Queries.checked) {
            var bytes: [UInt8] = []
            guard try reader.writeJSON(MacroIssue.self, key, into: &bytes), let issue = try reader.get(MacroIssue.self, key),
                let byHand = try reader.get(TarnIssue.self, key), issue.asByHand.checksum == byHand.checksum
            else { throw BenchmarkError("issue \(key) differs") }
            sum &+= byHand.checksum &+ (try Typed.checksum(ofJSON: Data(bytes)))
        }
        for start in starts.prefix(Queries.checked) {
            for (place, (issue, author)) in try reader.fetch(since(start).include(\.user)).enumerated() {
                sum &+= issue.id &* Int64(place + 1) &+ (author?.id ?? 0) &+ Int64(author?.login.utf8.count ?? 0)
            }
        }
        return sum
    }
}

extension MacroIssue {
    /// The values of an issue in `TarnIssue`, whose conformance is not a macro's.
    fileprivate var asByHand: TarnIssue {
        TarnIssue(
            id: id, nodeId: nodeId, number: number, url: url, repositoryUrl: repositoryUrl, labelsUrl: labelsUrl,
            commentsUrl: commentsUrl, eventsUrl: eventsUrl, htmlUrl: htmlUrl, timelineUrl: timelineUrl, title: title, body: body,
            state: state, stateReason: stateReason, locked: locked, activeLockReason: activeLockReason, comments: comments,
            authorAssociation: authorAssociation, createdAt: createdAt, updatedAt: updatedAt, closedAt: closedAt,
            user: Reference(user.key), milestone: milestone.map { Reference($0.key) })
    }
}
#endif
