// A store equals the dictionary, for any graph and any division into pages and units.

import TarnImport
import TarnStore
import TestSupport
import Testing

@Suite("Import: random graphs")
struct RandomGraphTests {
    /// The division of a graph: records per page, pages per unit.
    private static let splits = [
        (page: 1_000, unit: 1_000), (page: 1, unit: 1), (page: 3, unit: 4), (page: 7, unit: 1),
    ]

    @Test(
        "any graph, in any pages and units, gives the records, references and inverses of a plain dictionary",
        arguments: Array(UInt64(1)...60) + (0..<4).map { _ in UInt64.random(in: 100...UInt64.max) })
    func sameAsDictionary(_ seed: UInt64) throws {
        var generator = GraphGenerator(seed: seed, ids: Int(seed % 5) * 4 + 3)
        var segments: [(entity: String, sayings: [Saying])] = []
        var model = GraphModel()
        // In a large graph most values are given again later; a small one shows every single value.
        let size = [1, 2, 12][Int(seed % 3)]
        for _ in 0..<(size == 12 ? 5 : 2) {
            let entity =
                ["Issue", "User", "Issue", "Comment", "Label"].randomElement(using: &generator.random) ?? "Issue"
            segments.append(
                (
                    entity,
                    (0..<size).map { _ in generator.saying(entity, Int.random(in: 0...5, using: &generator.random)) }
                ))
        }
        for segment in segments { for saying in segment.sayings { model.take(saying, isListed: true) } }
        for split in Self.splits {
            let bed = try Forge.store()
            let pages = try importing(segments, split, into: bed, &generator.random)
            let expected = model.lines(bed.store.catalog)
            let found = try bed.lines()
            #expect(found == expected, "seed \(seed), split \(split), pages:\n\(pages.joined(separator: "\n"))")
            try compareInverses(bed, model, generator.ids, "seed \(seed), split \(split)")
        }
    }

    private func importing(
        _ segments: [(entity: String, sayings: [Saying])], _ split: (page: Int, unit: Int), into bed: TestStore,
        _ random: inout SeededRandom
    ) throws -> [String] {
        var pages: [String] = []
        for segment in segments {
            var rest = segment.sayings[...]
            while !rest.isEmpty {
                let page = rest.prefix(Int.random(in: 1...split.page, using: &random))
                rest = rest.dropFirst(page.count)
                var json = "["
                for (index, saying) in page.enumerated() {
                    if index > 0 { json += "," }
                    saying.appendJSON(to: &json, &random)
                }
                json += "]"
                try bed.add(json, segment.entity)
                pages.append("\(segment.entity) \(json)")
                if pages.count % split.unit == 0 { _ = try bed.commit() }
            }
        }
        _ = try bed.commit()
        return pages
    }

    private func compareInverses(_ bed: TestStore, _ model: GraphModel, _ ids: Int, _ label: String) throws {
        for id in 1...ids {
            let key = Int64(id)
            #expect(
                try bed.related("User", key, "issues") == model.referrers("Issue", "author", to: id),
                "\(label): issues of \(id)")
            #expect(
                try bed.related("User", key, "assigned") == model.referrers("Issue", "assignees", to: id),
                "\(label): assigned to \(id)")
            #expect(
                try bed.related("Label", key, "labelled") == model.referrers("Issue", "labels", to: id),
                "\(label): labelled \(id)")
            #expect(
                try bed.related("Issue", key, "comments") == model.referrers("Comment", "issue", to: id),
                "\(label): comments of \(id)")
        }
    }

    @Test(
        "a random graph without contradictions, imported again in the same units, writes nothing",
        arguments: UInt64(1)...8)
    func idempotent(_ seed: UInt64) throws {
        var generator = GraphGenerator(seed: seed, ids: 200)
        let sayings = (0..<40).map { _ in generator.saying("Issue", 3) }
        var json = "["
        for (index, saying) in sayings.enumerated() {
            if index > 0 { json += "," }
            saying.appendJSON(to: &json, &generator.random)
        }
        json += "]"
        let bed = try Forge.store()
        try bed.take(json, "Issue")
        let (lines, sequence) = (try bed.lines(), try bed.sequence)
        let report = try bed.take(json, "Issue")
        #expect(report.created == 0 && report.updated == 0 && report.unchanged > 0, "seed \(seed)")
        #expect(try bed.lines() == lines, "seed \(seed)")
        #expect(try bed.sequence == sequence, "seed \(seed)")
    }
}
