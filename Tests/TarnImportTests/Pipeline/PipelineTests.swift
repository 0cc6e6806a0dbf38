// Units that are drafted while the one before is committed.

import Dispatch
import Glibc
import Synchronization
import Testing

@testable import TarnImport
@testable import TarnStore

@Suite("Import: a pipeline of units", .timeLimit(.minutes(5)))
struct PipelineTests {
    private struct Stop: Error {}

    private func issues(_ ids: ClosedRange<Int>, title: String = "t") -> [UInt8] {
        Array(
            ("["
                + ids.map { #"{"id":\#($0),"title":"\#(title)","author":{"id":1,"login":"ada"}}"# }.joined(
                    separator: ",") + "]").utf8)
    }

    @Test("units are committed one after the other, and each report comes with finish")
    func reports() async throws {
        let bed = try Forge.store(), pipeline = try ImportPipeline(Mapping(), bed.store.catalog)
        #expect(try await pipeline.finish() == nil)
        var reports: [ImportReport] = []
        for unit in 0..<5 {
            #expect(try pipeline.importer.add(issues(unit * 10...unit * 10 + 9), entity: "Issue").count == 10)
            if let report = try await pipeline.finish() { reports.append(report) }
            let checkpoint = Checkpoint(state: .underWay, plan: "p", scan: 1, startedAt: Timestamp(microseconds: 0))
                .counting(pages: unit, records: 0)
            pipeline.importer.unit.checkpoints["issues"] = checkpoint
            await pipeline.start(to: bed.store)
            #expect(pipeline.isUnderWay)
        }
        reports.append(try #require(try await pipeline.finish()))
        #expect(!pipeline.isUnderWay)
        #expect(reports.map { $0.entities["Issue"]?.created } == Array(repeating: 10, count: 5))
        // A record of an earlier unit is known to a later one, which another importer drafted.
        #expect(
            reports.map { $0.entities["User"] } == [.init(created: 1)] + Array(repeating: .init(unchanged: 1), count: 4)
        )
        #expect(try bed.count("Issue") == 50)
        #expect(try bed.store.read { try $0.checkpoint("issues")?.pages } == 4)
    }

    @Test("documents are drafted while the unit before waits for the writer")
    func overlap() async throws {
        let bed = try Forge.store(), store = bed.store, pipeline = try ImportPipeline(Mapping(), store.catalog)
        let holder = await hold(store)
        _ = try pipeline.importer.add(issues(1...3), entity: "Issue")
        await pipeline.start(to: store)
        // The writer is held: nothing can have been stored yet, and still the next unit is drafted.
        #expect(try pipeline.importer.add(issues(4...9), entity: "Issue").listed.count == 6)
        #expect(try bed.count("Issue") == 0)
        try await holder.release()
        #expect(try await pipeline.finish()?.entities["Issue"]?.created == 3)
        #expect(try bed.count("Issue") == 3)
        await pipeline.start(to: store)
        #expect(try await pipeline.finish()?.entities["Issue"]?.created == 6)
    }

    @Test("a unit that fails is told by finish; nothing of it is stored, nor of what was added since")
    func failure() async throws {
        let bed = try Forge.store(), pipeline = try ImportPipeline(Mapping(), bed.store.catalog)
        _ = try pipeline.importer.add(issues(1...3), entity: "Issue")
        pipeline.importer.unit.additions = { _, _ in throw Stop() }
        await pipeline.start(to: bed.store)
        _ = try pipeline.importer.add(issues(4...6), entity: "Issue")
        await #expect(throws: Stop.self) { _ = try await pipeline.finish() }
        #expect(try bed.count("Issue") == 0 && bed.count("User") == 0)
        // Both importers are as new.
        for _ in 0..<2 {
            await pipeline.start(to: bed.store)
            #expect(try await pipeline.finish() == ImportReport())
        }
        _ = try pipeline.importer.add(issues(7...7), entity: "Issue")
        await pipeline.start(to: bed.store)
        #expect(try await pipeline.finish()?.entities["Issue"]?.created == 1)
        #expect(try bed.count("Issue") == 1)
    }

    @Test("a task that is cancelled while it waits takes its unit back if it is not committed yet")
    func cancelled() async throws {
        let bed = try Forge.store(), store = bed.store, body = issues(1...3)
        let task = Task.detached {
            let pipeline = try ImportPipeline(Mapping(), store.catalog)
            _ = try pipeline.importer.add(body, entity: "Issue")
            nonisolated(unsafe) let importer = pipeline.importer
            importer.unit.additions = { _, _ in
                // Everything is merged, and not committed before the unit has heard of the end of the task.
                while let cancellation = importer.cancellation, (try? cancellation.check()) != nil { usleep(1000) }
            }
            await pipeline.start(to: store)
            return try await pipeline.finish()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(try bed.count("Issue") == 0)
    }

    @Test("small units that wait together share a transaction, each a change of its own, reported in their order")
    func shared() async throws {
        let bed = try Forge.store(), store = bed.store,
            pipeline = try ImportPipeline(Mapping(), store.catalog, depth: 3)
        let before = try store.environment.information().lastTransaction
        let sequence = try store.read { try $0.changeToken.sequence }
        let holder = await hold(store)
        for unit in 0..<3 {
            #expect(!pipeline.isFull)
            _ = try pipeline.importer.add(issues(unit * 10...unit * 10 + 9), entity: "Issue")
            await pipeline.start(to: store)
        }
        #expect(pipeline.isFull)
        // Later drafts go into an importer of their own.
        _ = try pipeline.importer.add(issues(90...94), entity: "Issue")
        try await holder.release()
        for unit in 0..<3 {
            let report = try #require(try await pipeline.finish())
            #expect(report.entities["Issue"]?.created == 10)
            #expect(report.entities["User"] == (unit == 0 ? .init(created: 1) : .init(unchanged: 1)))
        }
        // The one that held the writer changed nothing; it may be in the same transaction.
        #expect(try store.environment.information().lastTransaction - before <= 2)
        #expect(try store.read { try $0.changeToken.sequence } == sequence + 3)
        await pipeline.start(to: store)
        #expect(try await pipeline.finish()?.entities["Issue"]?.created == 5)
        #expect(try bed.count("Issue") == 35)
    }

    @Test("of units that wait together one that fails takes those behind it along, and none before it")
    func sharedFailure() async throws {
        let bed = try Forge.store(), store = bed.store,
            pipeline = try ImportPipeline(Mapping(), store.catalog, depth: 4)
        let holder = await hold(store)
        for unit in 0..<4 {
            _ = try pipeline.importer.add(issues(unit * 10...unit * 10 + 9), entity: "Issue")
            pipeline.importer.unit.additions = { _, _ in if unit == 2 { throw Stop() } }
            await pipeline.start(to: store)
        }
        _ = try pipeline.importer.add(issues(90...94), entity: "Issue")
        try await holder.release()
        for _ in 0..<2 { #expect(try await pipeline.finish()?.entities["Issue"]?.created == 10) }
        await #expect(throws: Stop.self) { _ = try await pipeline.finish() }
        #expect(!pipeline.isUnderWay)
        #expect(try bed.count("Issue") == 20)
        // It is as new.
        for unit in 5..<12 {
            while pipeline.isFull { #expect(try await pipeline.finish()?.entities["Issue"]?.created == 10) }
            _ = try pipeline.importer.add(issues(unit * 10...unit * 10 + 9), entity: "Issue")
            await pipeline.start(to: store)
        }
        while let report = try await pipeline.finish() { #expect(report.entities["Issue"]?.created == 10) }
        #expect(try bed.count("Issue") == 90)
    }

    @Test("large units do not wait for each other: with one the pipeline is full")
    func large() async throws {
        let bed = try Forge.store(), pipeline = try ImportPipeline(Mapping(), bed.store.catalog, depth: 3)
        let title = String(repeating: "a long title ", count: 400)
        for unit in 0..<3 {
            while pipeline.isFull { #expect(try await pipeline.finish()?.entities["Issue"]?.created == 1000) }
            _ = try pipeline.importer.add(issues(unit * 1000...unit * 1000 + 999, title: title), entity: "Issue")
            await pipeline.start(to: bed.store, trains: false)
            #expect(pipeline.isFull)
        }
        #expect(try await pipeline.finish()?.entities["Issue"]?.created == 1000)
        #expect(try await pipeline.finish() == nil)
        #expect(try bed.count("Issue") == 3000)
    }

    @Test("hooks are called by one thread at a time: with them a start ends with the commit")
    func hooks() async throws {
        let bed = try Forge.store(), pipeline = try ImportPipeline(Mapping(), bed.store.catalog)
        let merged = Mutex(0)
        pipeline.configure { $0.hooks.afterMerge = { _, _ in merged.withLock { $0 += 1 } } }
        for unit in 1...4 {
            _ = try pipeline.importer.add(issues(unit...unit), entity: "Issue")
            await pipeline.start(to: bed.store)
            #expect(merged.withLock { $0 } == unit)
            #expect(try bed.count("Issue") == unit)
            #expect(try await pipeline.finish()?.created == (unit == 1 ? 2 : 1))
        }
    }

    @Test("what is configured holds for every unit, whichever importer it has")
    func configuration() async throws {
        let bed = try Forge.store(), pipeline = try ImportPipeline(Mapping(), bed.store.catalog)
        pipeline.configure { $0.diagnosticLimit = 1 }
        for _ in 0..<3 {
            _ = try pipeline.importer.add(Array(#"[{},{},{}]"#.utf8), entity: "Issue")
            await pipeline.start(to: bed.store)
            let report = try #require(try await pipeline.finish())
            #expect(report.diagnostics.count == 1 && report.diagnosticCount == 3)
        }
    }

    @Test(
        "when there are enough rows, a dictionary is trained after the commit, unless it is not wanted",
        arguments: [true, false])
    func training(trains: Bool) async throws {
        let bed = try Forge.store(), pipeline = try ImportPipeline(Mapping(), bed.store.catalog)
        let title = String(repeating: "what many titles have in common, as long as a row that is worth it; ", count: 8)
        _ = try pipeline.importer.add(issues(1...1200, title: title), entity: "Issue")
        await pipeline.start(to: bed.store, trains: trains)
        _ = try await pipeline.finish()
        #expect(try bed.store.trainDictionaries() == (trains ? [] : ["Issue"]))
    }

    @Test("a first import trains the dictionary of an entity that comes beside another that has enough rows")
    func trainingBesideOthers() async throws {
        let bed = try Forge.store(), pipeline = try ImportPipeline(Mapping(), bed.store.catalog)
        let text = String(repeating: "what many texts have in common, as long as a row that is worth it; ", count: 16)
        let issues = (1...1200).map { id in
            #"{"id":\#(id),"title":"\#(text)","author":{"id":\#(id % 300),"login":"\#(id % 300)","name":"\#(text)"},"#
                + #""labels":[{"id":\#(id % 200),"name":"\#(text)"}]}"#
        }
        _ = try pipeline.importer.add(Array("[\(issues.joined(separator: ","))]".utf8), entity: "Issue")
        await pipeline.start(to: bed.store)
        _ = try await pipeline.finish()
        // 300 users suffice, 200 labels do not.
        #expect(try bed.store.rowsToTrain(of: "User") == nil)
        #expect(try bed.store.rowsToTrain(of: "Label") == 1000)
        let statistics = try bed.store.read { reader in
            try reader.access.raw.statistics(reader.access.state.records(of: reader.access.state.entity("User").root))
        }
        #expect(statistics.leafPages < 30, "300 users of 1,100 bytes")
        #expect(try bed.related("User", 17, "issues").count == 4)
    }

    @Test(
        "a dictionary that cannot be trained is said beside the unit, which is stored; the next unit does not say it again"
    )
    func failedTraining() async throws {
        let bed = try Forge.store(), pipeline = try ImportPipeline(Mapping(), bed.store.catalog)
        let title = String(repeating: "what many titles have in common, as long as a row that is worth it; ", count: 8)
        _ = try pipeline.importer.add(issues(1...3000, title: title), entity: "Issue")
        await pipeline.start(to: bed.store, trains: false)
        _ = try await pipeline.finish()
        #expect(pipeline.trainingFailure == nil)
        // With all places of readers taken rows cannot be sampled; a commit needs none.
        let store = bed.store, areTaken = DispatchSemaphore(value: 0), release = DispatchSemaphore(value: 0)
        let holder = Task.detached {
            await withCheckedContinuation { ended in
                DispatchQueue.global().async {
                    func takeAll() {
                        do {
                            try store.read { _ in takeAll() }
                        } catch {
                            areTaken.signal()
                            release.wait()
                        }
                    }
                    takeAll()
                    ended.resume()
                }
            }
        }
        await wait(for: areTaken)
        await pipeline.start(to: store)
        #expect(try await pipeline.finish() == ImportReport())
        #expect("\(try #require(pipeline.trainingFailure))".contains("reader"))
        release.signal()
        await holder.value
        await pipeline.start(to: bed.store, trains: false)
        #expect(try await pipeline.finish() != nil && pipeline.trainingFailure == nil)
        #expect(try store.trainDictionaries() == ["Issue"])
    }

    /// A write that holds the writer's thread.
    private struct Holder {
        let write: Task<Void, any Error>
        let end: DispatchSemaphore

        func release() async throws {
            end.signal()
            try await write.value
        }
    }

    /// Returns when the writer is held.
    private func hold(_ store: Store) async -> Holder {
        let end = DispatchSemaphore(value: 0), isHeld = DispatchSemaphore(value: 0)
        let write = Task.detached {
            try await store.write { _ in
                isHeld.signal()
                end.wait()
            }
        }
        await wait(for: isHeld)
        return Holder(write: write, end: end)
    }

    private func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }
}
