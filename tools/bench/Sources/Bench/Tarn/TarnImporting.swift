// The import of responses in all cases: as `Tarn.APIMirror` imports the pages of a scan, without
// the network.

import Foundation
import Tarn

/// An import under way. Every body is drafted when it comes and its response's entry kept; one
/// commit for each group of bodies, while which the next group is drafted, and a dictionary trained
/// when there is enough to train it from. So that it does not come after a large commit, the first
/// one may be small.
struct TarnImporting {
    private static let bodiesToTrain = 10

    let store: Store
    let pipeline: ImportPipeline
    let bodiesPerCommit: Int
    /// The scan of the responses.
    let scan: UInt64
    /// Whether the first commit is small.
    let trainsEarly: Bool
    /// By which bodies are recognised that come again, as a mirror does; nil if all are drafted.
    private let digest: KeyedDigest?
    private(set) var commits = 0
    private var added = 0
    private var responses: [ResponseEntry] = []
    private var reports: [ImportReport] = []

    /// - Parameter pipeline: of an import before, which has memory for units.
    init(
        _ mapping: Mapping, _ store: Store, bodiesPerCommit: Int, scan: UInt64 = 1, trainsEarly: Bool = true, pipeline: ImportPipeline? = nil,
        digest: KeyedDigest? = nil
    ) throws {
        self.digest = digest
        self.store = store
        self.bodiesPerCommit = bodiesPerCommit
        self.scan = scan
        self.trainsEarly = trainsEarly
        self.pipeline = try pipeline ?? ImportPipeline(mapping, store.catalog, depth: 4)
        self.pipeline.configure { $0.bodyDigest = digest }
    }

    /// Adds a response, and commits what makes a unit.
    ///
    /// - Parameter path: what was asked for, which is different for every response.
    mutating func add(_ body: [UInt8], entity: String, path: String) async throws {
        let request = RequestKey(url: "https://api.example.org/\(path)", endpoint: "issues")
        let (listing, imported) = try drafted(body, entity, request)
        added += 1
        let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        // With the header fields that such an API sends and the next scan needs.
        var entry = ResponseEntry(
            request: request, validation: .init(status: 200, headers: ["ETag", "W/\"page-\(added)\""], fetchedAt: now, validatedAt: now),
            listing: listing)
        entry.imported = imported
        responses.append(entry)
        let limit = commits == 0 && trainsEarly ? min(Self.bodiesToTrain, bodiesPerCommit) : bodiesPerCommit
        if responses.count >= limit { try await commit() }
    }

    /// Drafts a body, unless its request has the same one already.
    private func drafted(_ body: [UInt8], _ entity: String, _ request: RequestKey) throws -> (ResponseEntry.Listing, ImportedBody?) {
        let stored = digest == nil ? nil : try store.read { try $0.response(to: request) }
        let added = try pipeline.importer.add(
            body, .list(JSONPath(keys: []), entity: entity), context: ImportContext(), asking: DocumentQuestions(), known: stored)
        return (.init(added.listed, count: added.count, scan: scan), added.imported)
    }

    /// Commits the rest.
    mutating func finish() async throws {
        if !responses.isEmpty { try await commit() }
        while let report = try await pipeline.finish() { reports.append(report) }
    }

    private mutating func commit() async throws {
        while pipeline.isFull, let report = try await pipeline.finish() { reports.append(report) }
        pipeline.importer.unit.responses = responses
        await pipeline.start(to: store)
        responses.removeAll(keepingCapacity: true)
        commits += 1
    }

    /// Returns the report of all commits.
    ///
    /// - Throws: `BenchmarkError` if not everything was understood and stored, or not every
    ///   response has an entry.
    func checkedReport() throws -> ImportReport {
        var sum = ImportReport()
        for report in reports { sum.add(report) }
        guard sum.diagnosticCount == 0, sum.unmapped.isEmpty, sum.skipped == 0 else {
            throw BenchmarkError("Tarn did not understand the pages: \(sum.diagnostics.prefix(3)) \(sum.unmapped.prefix(3))")
        }
        let kept = try store.read { try $0.responseCount }
        guard kept == added else { throw BenchmarkError("Tarn kept \(kept) responses of \(added)") }
        return sum
    }

    /// Imports pages of issues; returns the seconds it took.
    mutating func importIssues(_ bodies: [[UInt8]]) async throws -> Double {
        let clock = ContinuousClock(), start = clock.now
        for (number, body) in bodies.enumerated() { try await add(body, entity: "Issue", path: Self.path(ofPage: number + 1)) }
        try await finish()
        return (clock.now - start) / .seconds(1)
    }

    static func path(ofPage number: Int) -> String { "repos/o/r/issues?page=\(number)&per_page=100" }
}
