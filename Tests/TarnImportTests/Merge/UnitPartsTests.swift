// Units: the caller chooses their extent, and each is committed as a whole, or not at all.

import Foundation
import Synchronization
import TarnImport
import TarnStore
import Testing

@Suite("Import: units of several responses")
struct UnitPartsTests {
    private func request(_ page: Int) -> RequestKey {
        RequestKey(url: "https://a.example/issues?page=\(page)", endpoint: "issues 1")
    }

    private func entry(_ page: Int, _ added: Importer.Added) -> ResponseEntry {
        ResponseEntry(
            request: request(page),
            validation: .init(
                status: 200, fetchedAt: Timestamp(microseconds: 1), validatedAt: Timestamp(microseconds: 1)),
            listing: .init(added.listed, count: added.count, skipped: added.skipped, scan: 1))
    }

    private func entry(_ page: Int, listing keys: [Int64], _ bed: TestStore) throws -> ResponseEntry {
        let entity = try #require(bed.store.catalog.entity("Issue")?.root)
        return entry(
            page,
            Importer.Added(
                listed: keys.map { ListedRecord(entity: entity, storageKey: RecordKey($0).storageKey) },
                count: keys.count))
    }

    private func response(_ page: Int, _ bed: TestStore) throws -> ResponseEntry? {
        let request = request(page)
        return try bed.store.read { try $0.response(to: request) }
    }

    private func checkpoint(_ pages: Int) -> Checkpoint {
        Checkpoint(state: .underWay, plan: "p", nextURL: "n", scan: 1, startedAt: Timestamp(microseconds: 1)).counting(
            pages: pages, records: 0)
    }

    private static let page = #"[{"id":1,"title":"t","author":{"id":7,"login":"l"}}]"#

    @Test("pages, their entries and the progress are one change", arguments: [1, 2, 5])
    func oneChange(pages: Int) async throws {
        let bed = try Forge.store()
        let before = try bed.sequence
        var entries: [ResponseEntry] = []
        for page in 1...pages { entries.append(entry(page, try bed.add(#"[{"id":\#(page),"title":"t"}]"#, "Issue"))) }
        bed.importer.unit = ImportUnit(responses: entries, checkpoints: ["issues": checkpoint(pages)])
        let report = try await bed.importer.commit(to: bed.store)
        #expect(report.created == pages && report.listed == pages)
        #expect(try bed.sequence == before + 1)
        for page in 1...pages { #expect(try response(page, bed)?.listing.listed.count == 1) }
        #expect(try bed.store.read { try $0.checkpoint("issues") }?.pages == pages)
    }

    @Test("requests for records of several entities may be one change")
    func severalRequests() async throws {
        let bed = try Forge.store()
        try bed.add(#"[{"id":1,"title":"t","author":7}]"#, "Issue")
        try bed.add(#"[{"id":7,"login":"l"}]"#, "User")
        try bed.add(#"[{"id":3,"text":"c","issue":1}]"#, "Comment")
        let before = try bed.sequence
        let report = try await bed.importer.commit(to: bed.store)
        #expect(report.created == 3)
        #expect(try bed.sequence == before + 1)
        #expect(try bed.related("User", 7, "issues") == ["1"] && bed.related("Issue", 1, "comments") == ["3"])
    }

    @Test(
        "whatever fails in the transaction leaves neither records, nor entries, nor progress; the next unit is a new one"
    )
    func failureLeavesNothing() async throws {
        let bed = try Forge.store()
        let entry = entry(1, try bed.add(Self.page, "Issue"))
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            bed.importer.unit = ImportUnit(
                responses: [entry], checkpoints: ["issues": checkpoint(1)], additions: { _, _ in throw Stop() })
            _ = try await bed.importer.commit(to: bed.store)
        }
        #expect(try bed.lines() == [] && response(1, bed) == nil)
        #expect(try bed.store.read { try $0.checkpoint("issues") } == nil)
        #expect(try await bed.importer.commit(to: bed.store) == ImportReport())
    }

    @Test(
        "a unit that fails after its merge is dropped as a whole: the next unit has none of its entries and checkpoints"
    )
    func failureAfterTheMerge() throws {
        let bed = try Forge.store()
        struct Stop: Error {}
        bed.importer.unit = ImportUnit(
            responses: [entry(1, try bed.add(Self.page, "Issue"))], checkpoints: ["issues": checkpoint(1)],
            additions: { _, _ in throw Stop() })
        #expect(throws: Stop.self) { _ = try bed.store.write { try bed.importer.commit(into: &$0) } }
        try bed.add(#"[{"id":9,"title":"t"}]"#, "Issue")
        let report = try bed.store.write { try bed.importer.commit(into: &$0) }
        #expect(report.created == 1)
        #expect(try response(1, bed) == nil && bed.store.read { try $0.checkpoint("issues") } == nil)
    }

    /// Where the task is cancelled.
    enum Moment: CaseIterable {
        case before, whileMerging, atTheEnd
    }

    /// Used by one task at a time.
    private struct Held: @unchecked Sendable {
        let importer: Importer
    }

    @Test(
        "a task that is cancelled before the commit leaves nothing, also in the middle of merging",
        arguments: Moment.allCases)
    func cancellation(moment: Moment) async throws {
        let bed = try Forge.store()
        // More than are merged between two looks at the task.
        let count = 5000
        let entry = entry(
            1,
            try bed.add("[" + (1...count).map { #"{"id":\#($0),"title":"t"}"# }.joined(separator: ",") + "]", "Issue"))
        let merged = Mutex(0), task = Mutex<Task<ImportReport, any Error>?>(nil)
        let gate = AsyncStream<Void>.makeStream()
        if moment == .whileMerging {
            bed.importer.hooks.afterDraft = { _ in
                let isThird = merged.withLock { merged in
                    merged += 1
                    return merged == 3
                }
                if isThird { task.withLock { $0?.cancel() } }
                return true
            }
        }
        let held = Held(importer: bed.importer), store = bed.store
        let work = Task { @Sendable in
            for await _ in gate.stream { break }
            held.importer.unit = ImportUnit(
                responses: [entry],
                additions: { _, _ in
                    if moment == .atTheEnd { task.withLock { $0?.cancel() } }
                })
            return try await held.importer.commit(to: store)
        }
        task.withLock { $0 = work }
        if moment == .before { work.cancel() }
        gate.continuation.yield()
        await #expect(throws: CancellationError.self) { _ = try await work.value }
        if moment == .whileMerging { #expect(merged.withLock { $0 } < count) }
        #expect(try bed.count("Issue") == 0 && response(1, bed) == nil)
    }

    @Test("what a unit deletes is in none of its entries, and a confirmed entry that lists it is gone")
    func deletedInTheUnit() async throws {
        var mapping = Forge.mapping
        mapping.entities["Issue"]?.tombstone = TombstoneRule(path: "gone")
        let bed = try TestStore(Forge.schema, mapping)
        let first = entry(1, try bed.add(#"[{"id":1,"title":"t"},{"id":2,"title":"t"}]"#, "Issue"))
        bed.importer.unit = ImportUnit(responses: [first])
        _ = try await bed.importer.commit(to: bed.store)
        // The first page is as it was, the second one lists a record and takes it back, and another that stands in the first.
        let second = entry(2, try bed.add(#"[{"id":3,"title":"t"},{"id":4,"title":"t"}]"#, "Issue"))
        let third = entry(3, try bed.add(#"[{"id":3,"gone":true},{"id":1,"gone":true}]"#, "Issue"))
        bed.importer.unit.responses = [second, third]
        bed.importer.unit.revalidated = [RevalidatedResponse(asked: first, entry: first)]
        let report = try await bed.importer.commit(to: bed.store)
        #expect(report.deleted == 1)
        #expect(try response(1, bed) == nil && response(3, bed)?.listing.listed == [])
        #expect(try response(2, bed)?.listing.listed.map(\.storageKey) == [RecordKey(4).storageKey])
        #expect(try bed.lines().map { $0.prefix(8) } == ["Issue 2 ", "Issue 4 "])
    }

    enum Meanwhile: CaseIterable, Sendable {
        case nothing, confirmed, used, replacedBySameRecords, otherValidator, otherRecords, invalidated, removed

        var isConflict: Bool {
            switch self {
            case .nothing, .confirmed, .used: false
            case .replacedBySameRecords, .otherValidator, .otherRecords, .invalidated, .removed: true
            }
        }
    }

    @Test(
        "a 304 counts only if the stored entry still is the one that the request was sent with; else nothing of the unit is stored",
        arguments: Meanwhile.allCases)
    func revalidation(meanwhile: Meanwhile) async throws {
        let bed = try Forge.store()
        var asked = entry(1, try bed.add(Self.page, "Issue"))
        asked.validation.headers = ["ETag", "\"1\""]
        asked.caching = ResponseCaching(requestedAt: Timestamp(microseconds: 1), usedAt: Timestamp(microseconds: 1))
        bed.importer.unit = ImportUnit(responses: [asked])
        _ = try await bed.importer.commit(to: bed.store)
        var other = asked
        switch meanwhile {
        case .nothing: break
        case .confirmed:
            other.validation.validatedAt = Timestamp(microseconds: 5)
            other.validation.headers += ["Date", "now"]
            other.listing.scan = 4
        case .used: other.caching?.usedAt = Timestamp(microseconds: 9)
        case .replacedBySameRecords: other.validation.fetchedAt = Timestamp(microseconds: 5)
        case .otherValidator: other.validation.headers = ["etag", "\"2\""]
        case .otherRecords: other.listing.listed = []
        case .invalidated: other.validation.isInvalidated = true
        case .removed: break
        }
        let changed = other, key = asked.request
        try await bed.store.write { writer in
            try writer.putResponse(changed)
            if meanwhile == .removed, let view = try writer.access.responses.view(key.digest) {
                try writer.removeResponse(id: view.id)
            }
        }
        let before = try response(1, bed)
        var confirmed = asked
        confirmed.validation.validatedAt = Timestamp(microseconds: 7)
        let second = entry(2, try bed.add(#"[{"id":2,"title":"t"}]"#, "Issue"))
        let revalidated = [RevalidatedResponse(asked: asked, entry: confirmed)]
        guard meanwhile.isConflict else {
            bed.importer.unit.responses = [second]
            bed.importer.unit.revalidated = revalidated
            _ = try await bed.importer.commit(to: bed.store)
            #expect(try response(1, bed)?.validation.validatedAt == Timestamp(microseconds: 7))
            return
        }
        let conflict = await #expect(throws: RevalidationConflict.self) {
            bed.importer.unit.responses = [second]
            bed.importer.unit.revalidated = revalidated
            _ = try await bed.importer.commit(to: bed.store)
        }
        #expect(conflict?.requests == [key])
        #expect(try response(1, bed) == before && response(2, bed) == nil && bed.count("Issue") == 1)
    }

    @Test("a record that is left out for another's unique value is in no entry")
    func droppedRecords() async throws {
        let schema = Schema([
            EntityDefinition(
                "Thing", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("slug", .string, indexed: true, unique: true),
                ])
        ])
        let bed = try TestStore(schema)
        let entry = entry(1, try bed.add(#"[{"id":1,"slug":"a"},{"id":2,"slug":"a"}]"#, "Thing"))
        #expect(entry.listing.listed.count == 2)
        bed.importer.unit = ImportUnit(responses: [entry])
        _ = try await bed.importer.commit(to: bed.store)
        #expect(try response(1, bed)?.listing.listed.map(\.storageKey) == [RecordKey(1).storageKey])
    }

    @Test(
        "what arrives on a later page connects to what came before, and the other way round, within a unit and over units",
        arguments: [false, true])
    func laterPages(isOneUnit: Bool) throws {
        let bed = try Forge.store()
        for page in [
            (#"[{"id":1,"title":"t","author":7,"comments":[{"id":3}],"labels":[9]}]"#, "Issue"),
            (#"[{"id":7,"login":"l","friend":8}]"#, "User"),
            (#"[{"id":4,"text":"c","issue":2,"author":7}]"#, "Comment"),
            (#"[{"id":2,"title":"u","author":8,"labels":[9]}]"#, "Issue"), (#"[{"id":9,"name":"bug"}]"#, "Label"),
            (#"[{"id":8,"login":"m","friend":7}]"#, "User"),
        ] {
            try bed.add(page.0, page.1)
            if !isOneUnit { _ = try bed.commit() }
        }
        if isOneUnit { _ = try bed.commit() }
        // Forward: the reference came first.
        #expect(try bed.related("Issue", 1, "author") == ["7"] && bed.related("Issue", 1, "labels") == ["9"])
        #expect(try bed.related("User", 7, "friend") == ["8"])
        // Backward: the target came first, or the reference stands in what came later.
        #expect(try bed.related("User", 8, "friend") == ["7"] && bed.related("User", 8, "issues") == ["2"])
        #expect(try bed.related("Issue", 2, "comments") == ["4"] && bed.related("Issue", 1, "comments") == ["3"])
        #expect(try bed.related("Label", 9, "labelled") == ["1", "2"])
    }

    @Test("elements without a usable key are counted, tombstones and those that a hook leaves out are not")
    func skippedElements() throws {
        var mapping = Forge.mapping
        mapping.entities["Issue"]?.tombstone = TombstoneRule(path: "gone")
        let bed = try TestStore(Forge.schema, mapping)
        bed.importer.hooks.beforeDraft = { _, json in
            if case .object(let members) = json { return !members.contains { $0.key == "hidden" } }
            return true
        }
        let added = try bed.add(
            #"[{"id":1,"title":"t","author":{"login":"no key"}},{"title":"no key"},7,{"id":2,"gone":true},{"id":3,"hidden":1}]"#,
            "Issue")
        #expect(added.count == 5 && added.listed.count == 1 && added.skipped == 2)
    }
}
