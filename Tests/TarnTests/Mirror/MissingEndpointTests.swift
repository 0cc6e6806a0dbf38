// The endpoints that request the targets of references that are not stored.

import Tarn
import TarnDescription
import Testing

@Suite("Mirror: endpoints for missing records")
struct MissingEndpointTests {
    @Test(
        "a request for single records by their keys is one; the list of a record's children is none",
        arguments: [
            ("path: '/blocks/{block.id}', for_each: Block, paginate: single_page", true),
            ("path: /block, with: { id: '{block.id}' }, for_each: Block, paginate: single_page", true),
            ("path: '/blocks/{block.id}/children', for_each: { entity: Block, parent: parent }", false),
            ("path: /blocks, with: { parent: '{block.id}' }, for_each: { entity: Block, parent: parent }", false),
        ])
    func details(endpoint: String, isDetail: Bool) throws {
        let description = try Description.parse(
            """
            api: { base: 'https://a.example' }
            entities:
              Block: { key: id, attributes: { id: string }, relationships: { parent: Block } }
            endpoints:
              blocks: { path: /roots, entity: Block }
              inner: { \(endpoint), entity: Block }
            """, file: "a.yaml")
        #expect(description.endpointsForMissing(nil) == (isDetail ? ["inner"] : []))
    }
}
