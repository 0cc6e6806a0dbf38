// `tarn inspect dump` of a part of a store, in every format.

import Foundation
import TestSupport
import Testing

@Suite("Command line: inspect dump of a selection")
struct DumpSelectionTests {
    @Test("--where selects what `tarn list --where` selects, without the description")
    func condition() async throws {
        let store = try await Forge.store, condition = "state = open and author.login like \"%a%\""
        let dumped = try await tarn("inspect", "dump", store, "--entity", "Issue", "--where", condition)
        let listed = try await tarn(
            "list", "Issue", "--store", store, "--where", condition, "--format", "ndjson", "--fields", "id")
        expectSuccess(dumped)
        let keys = try dumped.lines.map { try #require(json($0)["key"] as? Int) }
        #expect(try keys == listed.lines.map { try #require(json($0)["id"] as? Int) })
        #expect(keys.count > 5 && keys.count < 330)
    }

    @Test("the formats have the same records: json an array, csv a header and a row each, yaml a list")
    func formats() async throws {
        let store = try await Forge.store, arguments = ["inspect", "dump", store, "--entity", "Label"]
        let lines = try await tarn(arguments)
        let array = try await tarn(arguments + ["--format", "json"])
        let objects = try #require(
            try JSONSerialization.jsonObject(with: Data(array.output.utf8)) as? [[String: Any]])
        #expect(try objects as NSArray == lines.lines.map { try json($0) } as NSArray)
        let csv = try await tarn(arguments + ["--format", "csv", "--no-versions", "--fields", "name,color"])
        #expect(csv.lines.first == "entity,key,partial,name,color" && csv.lines.count == lines.lines.count + 1)
        let yaml = try await tarn(arguments + ["--format", "yaml", "--limit", "2"])
        #expect(yaml.lines.count { $0.hasPrefix("- entity: Label") } == 2)
        let none = try await tarn(arguments + ["--format", "json", "--limit", "0"])
        #expect(none.output == "[]\n")
    }

    @Test("keys, limit and reverse select from both ends; a pipe that closes early is no failure")
    func keys() async throws {
        let store = try await Forge.store
        let all = try await tarn("inspect", "dump", store, "--entity", "Comment").lines
        let keys = try all.map { try #require(json($0)["key"] as? Int) }
        let part = try await tarn(
            "inspect", "dump", store, "--entity", "Comment", "--from", "\(keys[3])", "--to", "\(keys[6])")
        #expect(part.lines == Array(all[3...6]))
        let last = try await tarn("inspect", "dump", store, "--entity", "Comment", "--reverse", "--limit", "2")
        #expect(last.lines == all.suffix(2).reversed())
        let piped = try await shell(
            "set -o pipefail; \"$TARN\" inspect dump '\(store)' --entity Comment --reverse | head -1")
        #expect(piped.lines == [all[all.count - 1]] && piped.error == "")
    }

    @Test("--redact hides a value in every record, and refuses names without a field and parts of keys")
    func redaction() async throws {
        let store = try await Forge.store
        let plain = try await tarn("inspect", "dump", store), login = "\"login\":\""
        let redacted = try await tarn("inspect", "dump", store, "--redact", "User.login", "--redact", "body")
        #expect(plain.output.contains(login) && redacted.lines.count == plain.lines.count)
        #expect(!redacted.output.replacingOccurrences(of: login + "[redacted]\"", with: "").contains(login))
        #expect(redacted.output.contains("\"body\":\"[redacted]\""))
        let unknown = try await tarn("inspect", "dump", store, "--redact", "User.logon")
        #expect(unknown.status == 2 && unknown.error.contains("login") && unknown.output == "", "\(unknown.error)")
        let key = try await tarn("inspect", "dump", store, "--redact", "Issue.id")
        #expect(key.status == 2 && key.error.contains("part of the key") && key.output == "", "\(key.error)")
    }

    @Test("wrong options are usage errors; a damaged row is reported, with the exit code 6")
    func failures() async throws {
        let store = try await Forge.store
        for arguments in [
            ["--where", "a = 1"], ["--entity", "Issue", "--where", "stat = open"], ["--format", "csv"],
            ["--entity", "Issue", "--from", "9", "--to", "3"], ["--entity", "Label", "--prefix", "b"],
            ["--tables", "--reverse"], ["--limit", "-1"], ["--entity", "Issue", "--fields", "nothing"],
        ] {
            let result = try await tarn(["inspect", "dump", store] + arguments)
            #expect(result.status == 2 && result.output == "" && !result.error.isEmpty, "\(arguments) \(result)")
        }
        let folder = try TemporaryFolder(), copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        try Damage.flip("Crash when a rule named \"all\" depends on itself", in: copy)
        let result = try await tarn("inspect", "dump", copy, "--entity", "Issue", "--reverse")
        #expect(result.status == 6 && result.lines.count == 329 && result.error.contains("the checksum is wrong"))
    }
}
