// Answers of real services, where they lie beside the checkout.

import Foundation
import TarnImport
import TarnStore
import Testing

/// `../shared/data`, found from this file's place in the package.
private enum RealData {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/data").path

    static func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(directory)/\(name)") }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(directory)/\(name)")))
    }
}

@Suite("Import: real answers")
struct RealDataTests {
    private static func string(_ name: String) -> AttributeDefinition {
        AttributeDefinition(name, .string, optional: true)
    }

    @Test(
        "an answer of an events API: actors, repositories and payloads become records",
        .enabled(if: RealData.has("github-events.json")))
    func events() throws {
        let schema = Schema([
            EntityDefinition(
                "Event", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("type", .string),
                    AttributeDefinition("createdAt", .date, indexed: true),
                    AttributeDefinition("public", .bool), AttributeDefinition("payload", .json),
                    Self.string("firstCommit"),
                ],
                relationships: [
                    RelationshipDefinition("actor", to: "Actor", inverse: "events"),
                    RelationshipDefinition("repo", to: "Repo", inverse: "events"),
                    RelationshipDefinition("org", to: "Actor"),
                ]),
            EntityDefinition(
                "Actor", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("login", .string, indexed: true),
                    AttributeDefinition("avatarURL", .url, optional: true),
                    AttributeDefinition("url", .url, optional: true),
                ]),
            EntityDefinition(
                "Repo", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("name", .string),
                    AttributeDefinition("url", .url, optional: true),
                ]),
        ])
        let bed = try TestStore(
            schema,
            Mapping(entities: [
                "Event": EntityMapping(paths: ["firstCommit": ["payload.head"]]),
                "Actor": EntityMapping(ignored: ["gravatar_id"]),
            ]))
        let body = try RealData.bytes("github-events.json")
        let added = try bed.importer.add(body, entity: "Event")
        let report = try bed.commit()
        #expect(added.count == 30 && added.listed.count == 30)
        #expect(report.entities["Event"] == ImportReport.Counts(created: 30))
        #expect(report.diagnosticCount == 0, "\(report.diagnostics)")
        #expect(report.unmapped.isEmpty, "\(report.unmapped)")
        let objects = try #require(JSONSerialization.jsonObject(with: Data(body)) as? [[String: Any]])
        var actors: Set<Int> = []
        for object in objects {
            for field in ["actor", "org"] {
                if let id = (object[field] as? [String: Any])?["id"] as? Int { actors.insert(id) }
            }
        }
        #expect(try bed.count("Actor") == actors.count)
        #expect(
            try bed.count("Repo") == Set(objects.compactMap { ($0["repo"] as? [String: Any])?["id"] as? Int }).count)
        for object in objects {
            let id = try #require((object["id"] as? String).flatMap(Int64.init))
            let record = try #require(try bed.record("Event", id))
            #expect(record["createdAt"]?.plainText == object["created_at"] as? String)
            let payload = try #require(record["payload"]?.plainText)
            let parsed = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? NSDictionary
            #expect(parsed == object["payload"] as? NSDictionary)
        }
        let sequence = try bed.sequence
        _ = try bed.importer.add(body, entity: "Event")
        #expect(try bed.commit().updated == 0)
        #expect(try bed.sequence == sequence)
    }

    @Test(
        "an answer of a search API: ids beyond 2^53 are exact, retweets are references to the same entity",
        .enabled(if: RealData.has("twitter-search.json")))
    func statuses() throws {
        let schema = Schema([
            EntityDefinition(
                "Status", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("idStr", .string),
                    AttributeDefinition("text", .string),
                    AttributeDefinition("retweetCount", .int),
                    AttributeDefinition("inReplyToStatusId", .int, optional: true),
                    AttributeDefinition("hashtags", .json, optional: true),
                ],
                relationships: [
                    RelationshipDefinition("user", to: "User", inverse: "statuses"),
                    RelationshipDefinition("retweetedStatus", to: "Status", inverse: "retweets"),
                ]),
            EntityDefinition(
                "User", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("idStr", .string),
                    AttributeDefinition("screenName", .string),
                    AttributeDefinition("followersCount", .int), AttributeDefinition("url", .url, optional: true),
                ]),
        ])
        let bed = try TestStore(
            schema,
            Mapping(entities: [
                "Status": EntityMapping(paths: ["hashtags": ["entities.hashtags"]], ignored: ["*"]),
                "User": EntityMapping(ignored: ["*"]),
            ]))
        let body = try RealData.bytes("twitter-search.json")
        let added = try bed.importer.add(body, records: "statuses", entity: "Status")
        let report = try bed.commit()
        #expect(added.count == 100 && report.diagnosticCount == 0 && report.unmapped.isEmpty)

        let root = try #require(JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        let statuses = try #require(root["statuses"] as? [[String: Any]])
        var expected: [Int64: [String: Any]] = [:]
        var users: Set<String> = []
        for status in statuses {
            for one in [status, status["retweeted_status"] as? [String: Any]].compactMap(\.self) {
                expected[try #require((one["id_str"] as? String).flatMap(Int64.init))] = one
                users.insert(try #require((one["user"] as? [String: Any])?["id_str"] as? String))
            }
        }
        #expect(try bed.count("Status") == expected.count)
        #expect(try bed.count("User") == users.count)
        #expect(expected.keys.contains { $0 > 1 << 53 })
        for (id, status) in expected {
            let record = try #require(try bed.record("Status", id))
            #expect(record["idStr"] == .string(String(id)))
            #expect(record["text"]?.plainText == status["text"] as? String)
            let retweeted = (status["retweeted_status"] as? [String: Any])?["id_str"] as? String
            #expect(try bed.related("Status", id, "retweetedStatus") == (retweeted.map { [$0] } ?? []))
            if let retweeted, let original = Int64(retweeted) {
                #expect(try bed.related("Status", original, "retweets").contains(String(id)))
            }
            #expect(try bed.related("Status", id, "user") == [(status["user"] as? [String: Any])?["id_str"] as? String])
        }
    }
}
