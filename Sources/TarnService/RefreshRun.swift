import Foundation
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
        /// Elements of the pages whose records are not stored.
        var skipped = 0
        /// Those of the pages that an earlier sync has committed, which the run has continued.
        var skippedBefore = 0
        /// Lists that ended at a limit or a rule of their requests.
        var cutOff = 0
        /// Records of a `for_each` without a value for the path: their lists were not requested.
        var withoutValue = 0
        /// Lists that the server may have cut off, by the reason.
        var doubts: [String: Int] = [:]
        /// The endpoints with such lists that the continued sync had finished.
        var doubtsBefore: Set<String> = []
        /// The beginning of the interrupted sync that the run has continued; nil for none.
        var continuedFrom: Date?
        /// The refusals of a sync that has refreshed all else; nil if it has failed otherwise.
        var refusals: String?

        /// The elements whose records are not stored, of all pages of a continued sync.
        var allSkipped: Int { skipped + skippedBefore }

        /// The doubt about a list whose reason is not known any more.
        static let doubt = "a list may go on where the server has ended it"

        /// The records that a complete run may lack; nil if it lacks none.
        var finding: String? {
            var parts = (doubts.keys + doubtsBefore.map { "\($0): \(Totals.doubt)" }).sorted()
            if allSkipped > 0 {
                parts.insert("skipped \(allSkipped) record\(allSkipped == 1 ? "" : "s") that cannot be stored", at: 0)
            }
            return parts.isEmpty ? nil : parts.joined(separator: "; ")
        }
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
        // A shutdown ends the waits of a request. A transfer under way is completed.
        let progress = RequestProgress()
        let work = Task {
            try await RequestProgress.$current.withValue(progress) { try await self.goThrough(pages, progress) }
        }
        progress.onEnd { work.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await work.value
                } onGracefulShutdown: {
                    progress.endWaits()
                }
            } onCancel: {
                work.cancel()
            }
        } catch {
            guard progress.hasEnded else { throw error }
            return false
        }
    }

    private func goThrough<Value>(_ pages: ResponsePages<Value>, _ progress: RequestProgress) async throws -> Bool {
        for try await page in pages {
            if let failure = page.failure { throw failure }
            note(page.source, listed: page.listedCount, isShared: page.isShared)
            state.withLock { state in
                // A record may also be skipped when it is stored, as one that is not unique.
                state.totals.skipped += max(page.skippedCount, page.isShared ? 0 : page.report?.skipped ?? 0)
                if page.endsAtLimit { state.totals.cutOff += 1 }
                if let finding = page.cutOffFinding { state.totals.doubts[finding, default: 0] += 1 }
            }
            if let report = page.report, !page.isShared { note(report) }
            if page.next != nil, Task.isShuttingDownGracefully { return false }
            progress.waits()
        }
        return true
    }

    /// - Parameter isShared: whether another call has brought the page, which counts it.
    private func note(_ source: CachedAnswer.Source, listed: Int, isShared: Bool) {
        state.withLock { state in
            if !isShared { state.totals.pages["\(source)", default: 0] += 1 }
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
        tracer.withAnySpan("tarn.import", at: answered) { span in
            span.attributes["tarn.records.created"] = report.created
            span.attributes["tarn.records.updated"] = report.updated
            span.attributes["tarn.records.unchanged"] = report.unchanged
            span.attributes["tarn.records.deleted"] = report.deleted
            span.attributes["tarn.diagnostics"] = report.diagnosticCount
        }
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
                state.totals.skipped += max(endpoint.skipped, endpoint.report.skipped)
                state.totals.skippedBefore += endpoint.skippedBefore
                if endpoint.doubtsBefore > 0 { state.totals.doubtsBefore.insert(endpoint.name) }
                state.totals.cutOff += endpoint.cutOff
                state.totals.withoutValue += endpoint.skippedParents.reduce(0) { $0 + $1.count }
                for (doubt, lists) in endpoint.doubts where !doubt.countsIfRepeated {
                    state.totals.doubts["\(endpoint.name): \(doubt.finding)", default: 0] += lists
                }
                add(endpoint.report, to: &state.totals)
            }
        }
        let failures = sync.failures.filter { if case .cancelled = $0 { false } else { true } }
        state.withLock { state in
            state.totals.continuedFrom = sync.resumed.map {
                Date(timeIntervalSince1970: Double($0.microseconds) / 1e6)
            }
            let refusals = sync.failures.compactMap(\.refusal)
            if sync.pages > 0, !sync.isCutShort, !refusals.isEmpty, refusals.count == sync.failures.count {
                state.totals.refusals = refusals.sorted().joined(separator: "\n")
            }
        }
        if let failure = failures.first { throw failure }
        try Task.checkCancellation()
        return sync.failures.isEmpty
    }
}

extension MirrorError {
    /// The request that the server has refused, or the lists of a `for_each` that have failed while
    /// the others were scanned; nil for other failures.
    fileprivate var refusal: String? {
        switch self {
        case .status(let code, let method, let url, _):
            (400..<500).contains(code) && ![408, 425, 429].contains(code) ? "\(code) \(method) \(url)" : nil
        case .parents: description
        default: nil
        }
    }
}
