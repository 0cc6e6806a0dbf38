// Conditions with thousands of alternatives, as programs build them in loops.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Many alternatives", .timeLimit(.minutes(1)))
struct ManyAlternativesTests {
    /// A store of 300 records with a number each.
    private func store(_ folder: TemporaryFolder, _ number: @Sendable (Int64) -> Value) throws -> Store {
        let store = try Store.open(
            at: folder("s.tarn"),
            schema: Schema([
                EntityDefinition(
                    "Doc", key: ["id"],
                    attributes: [.init("id", .int), .init("n", .int, optional: true, indexed: true)])
            ]))
        try store.write { writer in
            for id in Int64(0)..<300 { try writer.put("Doc", RecordKey(id), [.init("n", number(id))]) }
        }
        return store
    }

    @Test("thousands of values of one field that are joined by `or` are one list of values")
    func list() throws {
        let folder = try TemporaryFolder(), store = try store(folder) { $0 % 3 == 0 ? .null : .int($0) }
        let values = (Int64(0)..<4000).map { Value.int($0 * 2) }
        let either = Condition.or(values.map { .compare("n", .equal, $0) }), list = Condition.isIn("n", values)
        try store.read { reader throws -> Void in
            let plans = try [either, list].map { "\(try reader.explain(Query("Doc", where: $0)))" }
            #expect(plans[0] == plans[1])
            #expect(try reader.count(Query("Doc", where: either)) == 100)
            #expect(try reader.count(Query("Doc", where: !either)) == 200)
        }
    }

    @Test("of many disjunctions that all hold, only some are planned, and every one is checked")
    func disjunctions() throws {
        let folder = try TemporaryFolder(), store = try store(folder) { .int($0) }
        // Each excludes one number.
        let parts = (Int64(0)..<100).map {
            Condition.or([.compare("n", .less, .int($0)), .compare("n", .greater, .int($0))])
        }
        let query = Query("Doc", where: .and(parts))
        try store.read { reader throws -> Void in
            let planner = try QueryPlanner(reader.access, CompiledQuery(query, reader.access.state))
            let unions = try planner.alternatives().filter { if case .union = $0.form { true } else { false } }
            #expect((1...16).contains(unions.count))
            #expect(try reader.count(query) == 200)
        }
    }
}
