import Locking
import ServiceLifecycle
import Tarn
import Tracing

/// One run of a refresh, and what it has done so far.
final class RefreshRun: Sendable {
    /// The sums of a run.
    struct Totals: Sendable {
        /// Answered pages, by the source of the answer.
        var pages: [String: Int] = [:]
        /// Records that the pages list.
        var listed = 0
        /// The numbers of records by entity and outcome.
        var entities: [String: ImportReport.Counts] = [:]
    }

    /// The run that the current task belongs to.
    @TaskLocal static var current: RefreshRun?

    private let tracer: any Tracer
    private let state = Guarded((totals: Totals(), answeredAt: DefaultTracerClock.Timestamp?.none))

    init(_ tracer: any Tracer) { self.tracer = tracer }

    var totals: Totals { state.withLock { $0.totals } }

    /// Notes the moment at which the transport has returned a response: its import follows.
    func noteAnswer() {
        let now = DefaultTracerClock.now
        state.withLock { $0.answeredAt = now }
    }

    // MARK: Requests

    /// Goes through the pages of a request.
    ///
    /// - Returns: false if a shutdown has ended it before the last page.
    /// - Throws: the failure of the server, also if a stored answer would do.
    func follow<Value>(_ pages: ResponsePages<Value>) async throws -> Bool {
        for try await page in pages {
            if let failure = page.failure { throw failure }
            note(page.source, listed: page.records.count)
            if let report = page.report { note(report) }
            if page.next != nil, Task.isShuttingDownGracefully { return false }
        }
        return true
    }

    private func note(_ source: CachedAnswer.Source, listed: Int) {
        state.withLock { state in
            state.totals.pages["\(source)", default: 0] += 1
            state.totals.listed += listed
        }
    }

    /// Adds the report of an imported page, and a span of its import.
    private func note(_ report: ImportReport) {
        let answered = state.withLock { state in
            add(report, to: &state.totals)
            defer { state.answeredAt = nil }
            return state.answeredAt
        }
        guard let answered else { return }
        let span = tracer.startAnySpan("tarn.import", at: answered)
        span.attributes["tarn.records.created"] = report.created
        span.attributes["tarn.records.updated"] = report.updated
        span.attributes["tarn.records.unchanged"] = report.unchanged
        span.attributes["tarn.records.deleted"] = report.deleted
        span.attributes["tarn.diagnostics"] = report.diagnosticCount
        span.end()
    }

    private func add(_ report: ImportReport, to totals: inout Totals) {
        for (entity, counts) in report.entities {
            var sum = totals.entities[entity] ?? ImportReport.Counts()
            sum.created += counts.created
            sum.updated += counts.updated
            sum.unchanged += counts.unchanged
            sum.deleted += counts.deleted
            totals.entities[entity] = sum
        }
    }

    // MARK: Mirrors

    /// Syncs endpoints of a mirror.
    ///
    /// - Returns: false if a shutdown has ended it before the last page.
    /// - Throws: the first failure; the other endpoints are synced all the same.
    func sync(_ mirror: APIMirror, _ endpoints: Set<String>?) async throws -> Bool {
        let sync = await cancelWhenGracefulShutdown { await mirror.sync(endpoints) }
        state.withLock { state in
            for endpoint in sync.endpoints {
                state.totals.pages["\(CachedAnswer.Source.revalidated)", default: 0] += endpoint.notModified
                state.totals.pages["\(CachedAnswer.Source.fetched)", default: 0] +=
                    endpoint.pages - endpoint.notModified
                state.totals.listed += endpoint.listed
                add(endpoint.report, to: &state.totals)
            }
        }
        let failures = sync.failures.filter { if case .cancelled = $0 { false } else { true } }
        if let failure = failures.first { throw failure }
        try Task.checkCancellation()
        return sync.failures.isEmpty
    }
}
