// Settings, positions and scans: salvaged, or reported.

import Foundation
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Salvage: settings and scans")
struct SalvageSettingsTests {
    private let token = ChangeToken("6E1B0B3C-0B3E-4B8A-9E0B-0B3C0B3E4B8A:5")

    private func withNew(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-salvaged-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    /// A store with a value for every setting that a new store keeps.
    private func store() throws -> RichStore {
        let rich = try RichStore(), store = try Store.open(at: rich.path)
        try store.setQuota(1 << 30)
        try store.setChangeValues(.all)
        try store.setChangeRetention(ChangeRetention(age: .seconds(60), share: 0.5))
        try store.write { writer in
            for name in ["north", String(repeating: "long ", count: 80)] { try writer.setChangePosition(name, token) }
        }
        return rich
    }

    @Test("of a sound store, the settings and the positions in other stores' changes are brought along")
    func soundStore() throws {
        let rich = try store(), token = try #require(token)
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostCount == 0 && report.lostSettings.isEmpty)
            let store = try Store.open(at: new)
            #expect(try store.quota == 1 << 30)
            for name in ["north", String(repeating: "long ", count: 80)] {
                #expect(try store.read { try $0.changePosition(name) } == token)
            }
        }
    }

    @Test(
        "a setting that is unreadable is named, and the rest is brought along",
        arguments: ["quota", "change retention", "change values", "incarnation", "position north"])
    func damagedSetting(_ name: String) throws {
        let rich = try store(), key = name == "position north" ? "position \u{2}north\0" : name
        try rich.damage(VerificationTests.Damage(name, []) { try $0.flip("meta", Array(key.utf8)) })
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostSettings.map(\.name) == [name] && report.lostCount == 0 && report.hasProgress)
            #expect(report.lostSettings.allSatisfy { $0.consequence.hasPrefix("unreadable: ") })
            #expect(try StoreInspector(at: new).verification().isSound)
        }
    }

    @Test("a store of an older format need not have a quota: no setting is lost", arguments: ["format-1", "format-2"])
    func olderFormats(_ format: String) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let golden = try GoldenFile("\(tests)/TarnStoreTests/Golden/\(format)/2026-11-plain")
        try withNew { new in
            let report = try StoreInspector(at: golden.path).salvage(to: new)
            #expect(report.lostCount == 0 && report.lostSettings.isEmpty, "\(report.lostSettings)")
        }
    }

    @Test("a damaged origin of the scopes of responses is lost: the incarnation is that of other scopes")
    func damagedOrigin() throws {
        let rich = try store(), key = Array("\(MetaKey.responseOrigin)".utf8)
        try rich.damage(
            VerificationTests.Damage("the origin", []) {
                try $0.put("meta", key, Array("6E1B0B3C-0B3E-4B8A-9E0B-0B3C0B3E4B8A".utf8))
                try $0.flip("meta", key)
            })
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostSettings.map(\.name) == ["incarnation"], "\(report.lostSettings)")
        }
    }

    @Test("a store that lacks records has no position: the next changes might be of them")
    func positionWithoutRecords() throws {
        let rich = try store()
        try rich.damage(
            VerificationTests.Damage("a row", []) {
                try $0.change($0.records("User"), $0.key(5)) { $0 = Array($0.prefix(10)) }
            })
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostCount == 1 && report.lostSettings.count == 2)
            #expect(report.lostSettings.contains { $0.name == "position north" })
            #expect(try Store.open(at: new).read { try $0.changePosition("north") } == nil)
        }
    }

    @Test("a store that lacks records keeps what scans have listed: what the server has deleted is found later")
    func scansWithoutRecords() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a row, and one of the scans", []) {
                try $0.change($0.records("User"), $0.key(5)) { $0 = Array($0.prefix(10)) }
                try $0.flip("scans", $0.first("scans").key)
            })
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostCount > 0 && !report.hasProgress)
            let store = try Store.open(at: new)
            #expect(try store.read { try $0.access.scans.count } == 59)
            #expect(try store.read { try $0.access.scans.lastScan(of: "issues") } == 1)
            #expect(try StoreInspector(at: new).verification().isSound)
        }
    }

    @Test("a store with an unreadable checkpoint has no progress, and keeps what scans have listed")
    func scansWithoutCheckpoint() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a checkpoint", []) {
                try $0.put("checkpoints", RecordKey("issues").storageKey, [UInt8](repeating: 1, count: 30))
            })
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostCount == 0 && !report.hasProgress)
            #expect(try Store.open(at: new).read { try $0.access.scans.count } == 60)
            #expect(try StoreInspector(at: new).verification().isSound)
        }
    }
}
