// The verification of lists whose records were deleted.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

extension VerificationTests {
    @Test("a list of several responses keeps the place of a record that was deleted, is sound, and is salvaged")
    func listWithoutRecord() throws {
        let folder = try TemporaryFolder(), path = folder("list.tarn"), new = folder("new.tarn")
        let schema = Schema([EntityDefinition("Issue", key: ["id"], attributes: [.init("id", .int)])])
        let store = try Store.open(at: path, schema: schema), time = Timestamp(microseconds: 1)
        try store.write { writer in
            try writer.put("Issue", RecordKey(1), [])
            let issue = try #require(writer.catalog.entity("Issue")?.id)
            let listed = [ListedRecord(entity: issue, storageKey: RecordKey(1).storageKey)]
            try writer.putResponse(
                ResponseEntry(
                    request: RequestKey(url: "https://api.example.org/issues", endpoint: "issues"),
                    validation: .init(status: 200, fetchedAt: time, validatedAt: time),
                    listing: .init(listed, count: 1, identity: ResponseEntry.Listing.listIdentity + "issues")))
        }
        try store.write { _ = try $0.delete("Issue", RecordKey(1)) }
        #expect(try verifyBothWays(path).findings == [])
        #expect(try store.repair().isEmpty)
        #expect(try StoreInspector(at: path).salvage(to: new).responses == 1)
        #expect(try verifyBothWays(new).responses == 1)
    }
}
