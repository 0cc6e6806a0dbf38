// Stored pages of a version that looked for fewer signs of further pages.

import TarnDescription
import TarnHTTP
import TarnImport
import TarnStore
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: signs of further pages in stored pages", .timeLimit(.minutes(2)))
struct MirrorSignTests {
    @Test("a page whose signs an earlier version has looked for is requested anew once, and its sign ends the scan")
    func olderPages() async throws {
        let body = #"{"items":[{"id":1,"name":"a"}],"has_more":true}"#
        let server = try LocalServer([recording("/items", body, "ETag: \"a\"")])
        let yaml = itemsYAML("records: items\n    paginate: single_page")
        // As if the version had not known the flag.
        let store = try MirrorStore(yaml: yaml.replacing("records: items", with: "records: items\n    more: ignore"))
        #expect(try await store.sync(server.base).failures.isEmpty)
        #expect(try await store.sync(server.base).notModified == 1)
        try await change(store, signs: "00000000", metadata: nil)
        let again = try await store.sync(server.base)
        #expect(again.failures.isEmpty && again.notModified == 0, "\(again.texts)")
        #expect(try await store.sync(server.base).notModified == 1)

        try await change(store, signs: nil, metadata: nil)
        let strict = try store.edited(yaml)
        let report = try await strict.sync(server.base)
        #expect(report.failures.contains { "\($0)".contains("has_more") }, "\(report.texts)")
    }

    @Test("details, which are single records, are confirmed after an upgrade, too: only their list is requested anew")
    func details() async throws {
        let server = try LocalServer([
            recording("/v1/items", #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, "ETag: \"a\""),
            recording("/v1/items/1", #"{"id":1,"name":"a"}"#, "ETag: \"b\""),
            recording("/v1/items/2", #"{"id":2,"name":"b"}"#, "ETag: \"c\""),
        ])
        let base = server.base + "/v1"
        let store = try MirrorStore(
            yaml: itemsYAML(
                """
                paginate: single_page
                  details:
                    path: '/items/{item.id}'
                    for_each: Item
                    entity: Item
                    paginate: single_page
                """))
        #expect(try await store.sync(base).failures.isEmpty)
        #expect(try await store.sync(base).notModified == 3)
        try await change(store, signs: nil, metadata: nil)
        for count in [2, 3] {
            let report = try await store.sync(base)
            #expect(report.failures.isEmpty && report.notModified == count, "\(report.texts) \(report.notModified)")
        }
    }

    private func change(_ store: MirrorStore, signs: String?, metadata: String?) async throws {
        try await store.open().write { writer in
            var entries: [ResponseEntry] = []
            try writer.access.responses.forEach { view in
                entries += [view.entry].compactMap(\.self)
                return true
            }
            #expect(!entries.isEmpty)
            for var entry in entries {
                #expect(entry.signs == PageMetadata.signs)
                entry.signs = signs
                entry.listing.metadata = metadata
                try writer.putResponse(entry)
            }
        }
    }

    @Test("the digest of the signs is the same in every process, and the metadata has the lists that are cut off")
    func digest() throws {
        #expect(PageMetadata.signs.count == 8)
        var facts = DocumentFacts()
        facts.cutLists = ["labels.has_more": 2]
        let text = try #require(PageMetadata(facts, PageWants())?.text)
        #expect(text == #"{"cut":{"labels.has_more":"2"}}"#)
        #expect(PageMetadata.cutLists(text) == ["labels.has_more": 2])
        #expect(PageMetadata.cutLists(#"{"values":{"cut":"1"}}"#).isEmpty)
        #expect(PageMetadata.cutLists(#"{"cut":{"a":"9999999999999999999","b":"-1"}}"#).isEmpty)
    }
}
