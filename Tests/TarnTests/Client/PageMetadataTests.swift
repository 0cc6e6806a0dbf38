// The facts that a stored response keeps for pagination: cursors that are objects or lists.

import TarnHTTP
import TarnImport
import Testing

@testable import Tarn

@Suite("Metadata of pages")
struct PageMetadataTests {
    /// The value of a cursor at `next`, of a page with these documents.
    private func cursor(
        _ documents: [String?], isContainer: Bool, _ names: [Endpoint.Metadata] = []
    ) -> String? {
        var facts = DocumentFacts(), wants = PageWants(values: ["next"])
        facts.values = [nil]
        facts.containers = isContainer ? [0] : []
        facts.documents = documents
        (wants.scalars, wants.composites) = (["next"], ["next"])
        return PageMetadata.read(PageMetadata(facts, wants, names)?.text).values["next"]
    }

    @Test("a cursor that is an object or a list is kept as JSON, beside the metadata of the endpoint")
    func composite() {
        #expect(cursor(["[7]"], isContainer: true) == PageFacts.json + "[7]")
        #expect(cursor(["[null]"], isContainer: false) == PageFacts.json + "[null]")
        #expect(
            cursor([#"{"m":1}"#, "[7]"], isContainer: true, [Endpoint.Metadata("info", "meta")])
                == PageFacts.json + "[7]")
    }

    @Test("an empty list is no cursor, and one that is longer than a link may be is none that can be sent")
    func unusable() {
        #expect(cursor(["[]"], isContainer: false) == nil)
        let long = "[\"" + String(repeating: "x", count: PageSequence.linkLimit) + "\"]"
        #expect(cursor([long], isContainer: true) == PageFacts.container)
    }
}
