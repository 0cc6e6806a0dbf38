// The removal of responses that nothing uses, while other writers confirm them.

import Foundation
import TarnDescription
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: responses that nothing uses")
struct UnusedResponseTests {
    @Test(
        "syncs with a limit remove no responses to other credentials: they are not complete",
        arguments: [nil, ["items"]] as [Set<String>?])
    func limit(names: Set<String>?) async throws {
        let store = try MirrorStore(yaml: itemsYAML(api: "  auth: { bearer: { env: TOKEN } }"))
        // The first page, the second one, and the first one again.
        for (token, limit, count) in [("a", nil, 2), ("b", 1, 3), ("b", 1, 4), ("b", 1, 4)] as [(String, Int?, Int)] {
            let report = try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([[1], [2]])), names: names,
                environment: ["TOKEN": token], options: { $0.limit = limit })
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.read { try $0.responseCount } == count)
        }
    }

    @Test("a sync removes no responses to other credentials of endpoints that only another description has")
    func otherDescription() async throws {
        let yaml = itemsYAML(api: "  auth: { bearer: { env: TOKEN } }")
        let first = try MirrorStore(yaml: yaml)
        var second = first
        second.description = try Description.parse(
            yaml.replacing("  items:", with: "  things:").replacing("/items", with: "/things"), file: "things.yaml")
        second.description.storePath = first.path
        for (store, token, path, count) in [
            (second, "b", "/things", 1), (first, "a", "/items", 2), (first, "a", "/items", 2),
        ] {
            let report = try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([[1]], path: path)), environment: ["TOKEN": token])
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.read { try $0.responseCount } == count)
        }
    }

    @Test(
        "a response that another writer confirms, or notes for another scan, before its removal stays",
        arguments: [false, true])
    func confirmedMeanwhile(byScan: Bool) async throws {
        let fixture = try MirrorStore(yaml: itemsYAML())
        try await fixture.scan([[1], [2]])
        let store = try fixture.open()
        let found = try store.read { reader in
            var all: [UnusedResponse] = []
            try reader.access.responses.forEach { view in
                all.append(UnusedResponse(view))
                return true
            }
            return all
        }
        try #require(found.count == 2)
        try await store.write { writer in
            guard var entry = try writer.access.responses.view(id: found[0].id)?.entry else { return }
            let time = entry.validation.validatedAt
            if byScan {
                entry.listing.scan += 1
            } else {
                entry.validation.validatedAt = Timestamp(microseconds: time.microseconds + 1_000_000)
            }
            try writer.putResponse(entry)
        }
        try await store.removeResponses(found)
        let left = try store.read { reader in
            var ids: [UInt64] = []
            try reader.access.responses.forEach { view in
                ids.append(view.id)
                return true
            }
            return ids
        }
        #expect(left == [found[0].id])
    }
}
