// The removal of responses that nothing uses, while other writers confirm them.

import Foundation
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: responses that nothing uses")
struct UnusedResponseTests {
    @Test("a response that another writer confirms before its removal stays")
    func confirmedMeanwhile() async throws {
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
            entry.validation.validatedAt = Timestamp(microseconds: time.microseconds + 1_000_000)
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
