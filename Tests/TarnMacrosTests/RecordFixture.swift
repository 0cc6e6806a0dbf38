import Foundation
import TarnMacros
import TestSupport

/// A store of the forge's records.
struct RecordFixture {
    static let records: [any MappedRecord.Type] = [
        Issue.self, User.self, Label.self, Milestone.self, Comment.self, Post.self, Ticket.self, Bug.self,
    ]

    static let page = """
        [{"id": 1, "number": 10, "title": "Ä tree", "state": "open", "reactions": {"+1": 3, "heart": 2, "url": "https://e.example/1"},
          "updated_at": "2026-01-02T03:04:05.678901Z", "link": "https://e.example/i/1",
          "user": {"id": 5, "login": "Ada", "name": "Ada L."}, "labels": [{"id": 8, "name": "bug"}, {"id": 7, "name": "ui"}],
          "milestone": {"id": 70, "title": "1.0", "creator": {"id": 6, "login": "bob"}}},
         {"id": 2, "number": 11, "title": "B", "state": "closed", "user": {"id": 5}, "labels": [], "updated_at": null},
         {"id": 3, "number": 12, "title": "C", "state": "open", "user": {"id": 6}, "labels": [{"id": 7}],
          "updated_at": "2026-02-02T00:00:00Z", "milestone": {"id": 99}}]
        """

    let folder: TemporaryFolder
    let store: Store

    init(importing page: String? = page) throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder.path + "/forge.tarn", schema: Schema(records: Self.records))
        guard let page else { return }
        let importer = try Importer(Mapping(records: Self.records), store.catalog)
        _ = try importer.add(Array(page.utf8), entity: "Issue")
        _ = try store.write { try importer.commit(into: &$0) }
    }

    func fetch<Record>(_ query: TypedQuery<Record>) throws -> [Record] { try store.read { try $0.fetch(query) } }
}
