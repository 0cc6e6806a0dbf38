import Testing

@testable import TarnInspect
@testable import TarnStore

/// Verifies one state of a store on one thread and on two, and expects the same report.
func verifyBothWays(_ path: String) throws -> StoreVerification {
    do {
        return try StoreInspector(at: path).holdingState { inspector in
            let one = try inspector.verification(onTwoThreadsFrom: .max)
            let two = try inspector.verification(onTwoThreadsFrom: 0)
            #expect(one.findings == two.findings && one.counts == two.counts && one.notCompared == two.notCompared)
            #expect(one.records.map(\.entity) == two.records.map(\.entity))
            #expect(one.records.map(\.count) == two.records.map(\.count))
            #expect(
                one.indexEntries == two.indexEntries && one.responses == two.responses && one.changes == two.changes)
            #expect(one.pages == two.pages && one.freePages == two.freePages && one.sequence == two.sequence)
            #expect(one.isHeld == two.isHeld)
            return two
        }
    } catch StoreOpenError.notAStore {
        return try StoreInspector(at: path).verification()
    }
}
