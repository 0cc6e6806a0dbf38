// The made-up forge, mirrored over a real socket: the expected store, and that a second sync costs
// next to nothing.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Mirror: the forge")
struct MirrorForgeTests {
    /// One sync for all tests that only look.
    private static let mirrored = Task { () -> (MirrorStore, SyncReport, [String]) in
        let store = try MirrorStore(try Repository.description("forge"))
        let server = try LocalServer(directory: Repository.forge)
        let report = try await store.sync(server.base)
        return (store, report, server.requests)
    }

    private func mirrored() async throws -> (store: MirrorStore, report: SyncReport, requests: [String]) {
        try await MirrorForgeTests.mirrored.value
    }

    @Test("every entity has the expected number of records, and the accounts that no list shows are partial")
    func countsAreAsExpected() async throws {
        let (store, report, requests) = try await mirrored()
        #expect(report.failures.isEmpty, "\(report.texts)")
        let expected = try Repository.expected()
        let entities = try #require(expected["entities"] as? [String: [String: Int]])
        for (entity, counts) in entities {
            var partial: [String] = []
            try store.read { reader in
                #expect(try reader.count(entity) == counts["records"], "\(entity)")
                try reader.forEach(entity) { record in
                    if record.isPartial { partial.append(record.key.description) }
                    return true
                }
            }
            #expect(partial.count == counts["partial"], "\(entity): \(partial)")
            if entity == "User" {
                let users = try #require(expected["partial_users"] as? [[String: Any]])
                #expect(partial == users.compactMap { ($0["id"] as? Int).map(String.init) })
            }
        }
        let endpoints = try #require(expected["endpoints"] as? [String: [String: Any]])
        for (name, counts) in endpoints {
            let endpoint = try #require(report.endpoint(name))
            #expect(endpoint.pages == counts["requests"] as? Int, "\(name)")
            #expect(endpoint.listed == counts["records"] as? Int, "\(name)")
            #expect(endpoint.notModified == 0 && !endpoint.isResumed)
        }
        #expect(requests.count == expected["requests"] as? Int)
    }

    @Test("every JSON key is mapped or ignored, and no value is refused")
    func everyKeyIsMappedOrIgnored() async throws {
        let (_, report, _) = try await mirrored()
        #expect(report.report.unmapped == [])
        #expect(report.report.diagnosticCount == 0, "\(report.report.diagnostics)")
        #expect(report.report.conflicts == 0)
    }

    @Test("an issue has its author, its labels and newest comments in order, and its dates to the microsecond")
    func issueIsAsExpected() async throws {
        let (store, _, _) = try await mirrored()
        let spots = try #require(try Repository.expected()["spots"] as? [String: Any])
        for name in ["issue_17", "most_discussed_issue"] {
            let spot = try #require(spots[name] as? [String: Any])
            let id = try #require(spot["id"] as? Int64 ?? (spot["id"] as? Int).map(Int64.init))
            let issue = try store.record("Issue", id)
            #expect(issue["title"] == .string(try #require(spot["title"] as? String)))
            #expect(issue["number"] == .int(Int64(try #require(spot["number"] as? Int))))
            #expect(issue["state"] == .string(try #require(spot["state"] as? String)))
            for (field, key) in [("createdAt", "created_at"), ("updatedAt", "updated_at"), ("closedAt", "closed_at")] {
                let microseconds = spot[key + "_microseconds"] as? Int
                #expect(
                    issue[field] == microseconds.map { .date(Timestamp(microseconds: Int64($0))) } ?? .null, "\(field)")
            }
            let author = try store.related("Issue", id, "author")
            let login = try #require((spot["author"] as? [String: Any])?["login"] as? String)
            #expect(author.map { $0.record?["login"] } == [.string(login)])
            let labels = try #require(spot["labels_in_order"] as? [[String: Any]])
            let labelNames = labels.map { ($0["name"] as? String).map(Value.string) }
            #expect(try store.related("Issue", id, "labels").map { $0.record?["name"] } == labelNames)
            #expect(try store.keys("Issue", id, "assignees") == (spot["assignees_in_order"] as? [Int])?.map(Int64.init))
            #expect(
                try store.keys("Issue", id, "recentComments")
                    == (spot["recent_comments_in_order"] as? [Int])?.map(Int64.init))
            #expect(try store.keys("Issue", id, "comments") == (spot["comments_by_key"] as? [Int])?.map(Int64.init))
            #expect(try store.keys("Issue", id, "milestone") == [Int64(try #require(spot["milestone"] as? Int))])
            if case .string(let body)? = issue["body"] {
                #expect(body.utf8.count == spot["body_utf8_bytes"] as? Int)
            } else {
                Issue.record("\(name) has no body")
            }
        }
    }

    @Test("fractions, offsets and epoch milliseconds become the same microseconds as the generator's own")
    func datesAreExact() async throws {
        let (store, _, _) = try await mirrored()
        let spots = try #require(try Repository.expected()["spots"] as? [String: Any])
        for date in try #require(spots["fractional_or_offset_dates"] as? [[String: Any]]) {
            let issue = try store.record("Issue", Int64(try #require(date["id"] as? Int)))
            #expect(
                issue["createdAt"] == .date(Timestamp(microseconds: Int64(try #require(date["microseconds"] as? Int)))))
        }
        let seen = try #require(spots["seen_at"] as? [String: Int])
        let user = try store.record("User", Int64(try #require(seen["id"])))
        #expect(user["seenAt"] == .date(Timestamp(microseconds: Int64(try #require(seen["microseconds"])))))
        for title in try #require(spots["composed_and_decomposed_titles_differ"] as? [[String: Any]]) {
            let found = try store.read { reader in
                var found: String?
                try reader.forEach("Issue") { issue in
                    guard issue["number"] == (title["number"] as? Int).map({ .int(Int64($0)) }) else { return true }
                    if case .string(let text)? = issue["title"] { found = text }
                    return false
                }
                return found
            }
            let hex = found?.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(hex == title["title_utf8_hex"] as? String)
        }
    }

    @Test("relationships lead both ways: the number of references, an author's issues and comments, a label's issues")
    func relationshipsLeadBothWays() async throws {
        let (store, _, _) = try await mirrored()
        let expected = try Repository.expected()
        for (name, count) in try #require(expected["stored_references"] as? [String: Int]) {
            let parts = name.split(separator: ".").map(String.init)
            let found = try store.read { reader in
                var found = 0
                try reader.forEach(parts[0]) { record in
                    switch record[parts[1]] {
                    case .reference: found += 1
                    case .references(let keys): found += keys.count
                    default: break
                    }
                    return true
                }
                return found
            }
            #expect(found == count, "\(name)")
        }
        let spots = try #require(expected["spots"] as? [String: Any])
        let author = try #require(spots["busiest_author"] as? [String: Any])
        let id = Int64(try #require(author["id"] as? Int))
        #expect(try store.keys("User", id, "issues") == (author["issues"] as? [Int])?.map(Int64.init))
        #expect(try store.keys("User", id, "comments") == (author["comments"] as? [Int])?.map(Int64.init))
        for (name, label) in try #require(spots["labels"] as? [String: [String: Int]]) {
            let issues = try store.keys("Label", Int64(try #require(label["id"])), "issues")
            #expect(issues.count == label["issues"], "\(name)")
            #expect(issues == issues.sorted())
        }
        for (_, milestone) in try #require(spots["milestones"] as? [String: [String: Any]]) {
            let id = Int64(try #require(milestone["id"] as? Int))
            #expect(try store.keys("Milestone", id, "issues").count == milestone["issues"] as? Int)
            #expect(try store.keys("Milestone", id, "creator") == [Int64(try #require(milestone["creator"] as? Int))])
            let items = try store.related("Milestone", id, "checklist").map { $0.key?.description }
            #expect(items == (milestone["checklist"] as? [String])?.map(Optional.some), "\(id)")
        }
    }

    @Test("what is referred to and never listed is missing, with as many references as the API makes")
    func missingTargetsAreKnown() async throws {
        let (store, _, _) = try await mirrored()
        let expected = try #require(try Repository.expected()["missing"] as? [String: [[String: Int]]])
        var found: [String: [Int64: Int]] = [:]
        try store.read { reader in
            for entity in reader.catalog.entities {
                for relationship in reader.catalog.relationships(of: entity) where relationship.isStored {
                    try reader.forEach(entity.name) { record in
                        try reader.forEachRelated(entity.name, record.key, relationship.name) { target in
                            guard target.record == nil, case .int(let key)? = target.key?.components.first else {
                                return true
                            }
                            found[target.entity, default: [:]][key, default: 0] += 1
                            return true
                        }
                        return true
                    }
                }
            }
        }
        for (entity, targets) in expected {
            let counts = Dictionary(
                uniqueKeysWithValues: targets.map { (Int64($0["key"] ?? 0), $0["references"] ?? 0) })
            #expect(found[entity] == counts, "\(entity)")
        }
        #expect(Set(found.keys) == Set(expected.keys))
    }

    @Test("open and closed issues, those without and those with an empty body are told apart")
    func nullAndEmptyAreDifferent() async throws {
        let (store, _, _) = try await mirrored()
        let expected = try #require(try Repository.expected()["issues"] as? [String: Any])
        var counts = ["open": 0, "closed": 0, "without_body": 0, "with_empty_body": 0]
        try store.read { reader in
            try reader.forEach("Issue") { issue in
                if case .string(let state)? = issue["state"] { counts[state, default: 0] += 1 }
                if issue["body"] == .null { counts["without_body", default: 0] += 1 }
                if issue["body"] == .string("") { counts["with_empty_body", default: 0] += 1 }
                return true
            }
        }
        for (name, count) in counts { #expect(expected[name] as? Int == count, "\(name)") }
    }

    @Test("a second sync asks every page conditionally, gets 304 for each, and writes no record")
    func secondSyncIsConditional() async throws {
        let store = try MirrorStore(try Repository.description("forge"))
        let server = try LocalServer(directory: Repository.forge)
        _ = try await store.sync(server.base)
        let first = server.requests
        let before = try store.dump(versions: true)
        let sequence = try store.read { try $0.sequence }
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.pages == 28 && report.notModified == 28)
        #expect(report.listed == 961)
        let second = server.requests.dropFirst(first.count)
        #expect(second.count == 28)
        #expect(second.allSatisfy { $0.contains(" 304 conditional") }, "\(second)")
        #expect(
            second.map { $0.split(separator: " ")[1] }.sorted() == first.map { $0.split(separator: " ")[1] }.sorted())
        #expect(report.report.created + report.report.updated + report.report.unchanged == 0)
        #expect(try store.dump(versions: true) == before)
        #expect(try store.read { try $0.sequence } == sequence)
    }

    @Test("fetching everything again sends no condition and finds every record unchanged")
    func refetchChangesNothing() async throws {
        let store = try MirrorStore(try Repository.description("forge"))
        let server = try LocalServer(directory: Repository.forge)
        _ = try await store.sync(server.base)
        let first = server.requests.count
        let before = try store.dump(versions: true)
        let report = try await store.sync(server.base) { $0.refetches = true }
        #expect(report.failures.isEmpty && report.notModified == 0 && report.pages == 28)
        #expect(report.report.created == 0 && report.report.updated == 0)
        #expect(report.report.unchanged > 961)
        #expect(!server.requests.dropFirst(first).contains { $0.contains("conditional") })
        #expect(try store.dump(versions: true) == before)
    }

    @Test("recordings read from files and the same recordings over a socket make the same store")
    func transportsAgree() async throws {
        let (store, _, _) = try await mirrored()
        let other = try MirrorStore(try Repository.description("forge"))
        let report = try await other.sync(nil, transport: try FixtureTransport(directory: Repository.forge))
        #expect(report.failures.isEmpty, "\(report.texts)")
        let dump = try other.dump()
        #expect(dump == (try store.dump()))
        #expect(dump.count == 965)
    }

    @Test("a page is committed before the next one is asked for, where pages are not fetched ahead")
    func everyPageIsACommit() async throws {
        let store = try MirrorStore(try Repository.description("forge"))
        let server = try LocalServer(directory: Repository.forge)
        // Held open, so that the closure looks at the same store while the sync is under way.
        let open = try store.open()
        let seen = Counts()
        let report = try await store.sync(
            server.base, names: ["issues"], options: { $0.prefetches = false },
            progress: { progress in
                if progress.requesting != nil { seen.append((try? open.read { try $0.count("Issue") }) ?? -1) }
            })
        #expect(report.failures.isEmpty)
        #expect(seen.values == [0, 50, 100, 150, 200, 250, 300])
    }
}
