// The events of `tarn sync --json`: JSON lines of a versioned contract, SyncEvents+Schema.swift.

import Foundation
import Locking
import Tarn

/// The writer of events while a sync runs. Each line is written at once.
final class SyncEvents: Sendable {
    /// The version of the contract: it grows when a member is removed or changes its meaning.
    static let version = 1

    /// The least time between two `progress` events of an endpoint.
    private static let interval = Duration.seconds(1)

    private struct State {
        var progress: [String: SyncProgress] = [:]
        var written: [String: ContinuousClock.Instant] = [:]
    }

    private let state = Guarded(State())

    /// The begin of an event: its name and the version.
    static func head(_ event: String) -> String { "{\"event\":\"\(event)\",\"version\":\(version)" }

    func update(_ progress: SyncProgress) {
        state.withLock { state in
            let name = progress.endpoint
            state.progress[name] = progress
            let now = ContinuousClock.now
            switch progress.event {
            case .request: return
            case .page(let page):
                emit(SyncEvents.page(page, of: progress))
                let last = state.written[name] ?? now
                if state.written[name] == nil { state.written[name] = now }
                guard now - last >= SyncEvents.interval else { return }
            case .end: break
            }
            state.written[name] = now
            emit(SyncEvents.progress(progress, wait: nil))
        }
    }

    @Sendable func wait(_ wait: RequestWait) {
        state.withLock { state in
            guard wait.until.timeIntervalSinceNow > 1 else { return }
            emit(SyncEvents.progress(wait.endpoint.flatMap { state.progress[$0] }, wait: wait))
        }
    }

    private func emit(_ event: String) {
        Output.json(event)
        Output.flush()
    }

    // MARK: Events

    private static func page(_ page: SyncProgress.Page, of progress: SyncProgress) -> String {
        var text = head("page") + ",\"endpoint\":"
        text.appendJSONString(progress.endpoint)
        text += ",\"url\":"
        text.appendJSONString(page.url)
        text += ",\"not_modified\":\(page.isNotModified),\"listed\":\(page.listed),\"bytes\":\(page.bytes)"
        if !page.metadata.isEmpty { text += ",\"metadata\":" + jsonObject(page.metadata) }
        return text + "}"
    }

    private static func progress(_ progress: SyncProgress?, wait: RequestWait?) -> String {
        var text = head("progress")
        if let progress {
            text += ",\"endpoint\":"
            text.appendJSONString(progress.endpoint)
            let isOver = if case .end = progress.event { true } else { false }
            text += ",\"ended\":\(isOver),\"pages\":\(progress.pages),\"not_modified\":\(progress.notModified)"
            text += ",\"listed\":\(progress.listed),\"created\":\(progress.created),\"updated\":\(progress.updated)"
            text += ",\"unchanged\":\(progress.unchanged + progress.confirmed),\"deleted\":\(progress.deleted)"
            text += ",\"bytes\":\(progress.bytes),\"failures\":\(progress.failures)"
            if progress.resumedPages > 0 { text += ",\"resumed_pages\":\(progress.resumedPages)" }
            if let count = progress.expectedPages { text += ",\"expected_pages\":\(count)" }
            // The total of the first one of several lists in a response is none of `listed`.
            if let count = progress.expectedRecords, progress.countedPart >= 1 {
                text += ",\"expected_records\":\(count)"
            }
            if progress.lists > 1 { text += ",\"lists\":\(progress.lists),\"lists_done\":\(progress.listsDone)" }
        }
        if let wait { text += ",\"wait\":" + json(wait) }
        return text + "}"
    }

    private static func json(_ wait: RequestWait) -> String {
        let seconds = max(0, Int(min(wait.until.timeIntervalSinceNow, 1e9).rounded(.up)))
        var text = "{\"origin\":"
        text.appendJSONString(wait.origin)
        text +=
            ",\"reason\":\"\(wait.reason.rawValue)\",\"seconds\":\(seconds),\"until\":\"\(Timestamp(until: wait.until))\""
        if let attempt = wait.attempt { text += ",\"attempt\":\(attempt)" }
        if let attempts = wait.attempts { text += ",\"attempts\":\(attempts)" }
        if let cause = wait.cause {
            text += ",\"cause\":"
            text.appendJSONString(cause)
        }
        return text + "}"
    }

    /// The events at the end of a sync: diagnostics, errors, the summary.
    static func conclusion(_ summary: SyncSummary) -> [String] {
        let report = summary.report
        var events = report.report.diagnosticGroups.map { group in
            diagnostic(
                group.code.rawValue, entity: group.entity, field: group.field, count: group.count,
                group.first.description)
        }
        events += report.report.unmapped.map { path in
            diagnostic(
                "unmapped", entity: path.entity, field: "\(path.path)", count: path.count,
                "\(path.entity): \(path.path) is neither mapped nor ignored")
        }
        events += report.absentAttributes.map { attribute in
            diagnostic(
                "absent", entity: attribute.entity, field: attribute.attribute, count: attribute.records,
                "\(attribute.entity).\(attribute.attribute) has no value in any record")
        }
        events += report.formerValues.map { field in
            diagnostic(
                "source.changed", entity: field.entity, field: field.isOfKinds ? "kinds" : field.field,
                count: field.records,
                field.isOfKinds
                    ? field.kindsText : "values of \(field.entity).\(field.field) \(FormerValues.consequence)")
        }
        var interruption: String?
        for endpoint in report.endpoints {
            for failure in endpoint.failures {
                let code = Failure.Code(failure).rawValue,
                    event = error(failure.description, code, endpoint: endpoint.name)
                // An interrupt is one event, not one of each active endpoint.
                if case .cancelled = failure {
                    interruption = error(failure.description, code, endpoint: "")
                } else {
                    events.append(event)
                }
            }
        }
        if let interruption { events.append(interruption) }
        if let failure = summary.omissionFailure { events.append(error(failure)) }
        return events + [summary.json]
    }

    /// The event of a sync that requests nothing: the state of the endpoints in the store.
    static func status(_ status: StatusReport) -> String { status.json(head: head("status")) }

    private static func diagnostic(
        _ code: String, entity: String, field: String?, count: Int, _ message: String
    ) -> String {
        var text = head("diagnostic") + ",\"code\":"
        text.appendJSONString(code)
        text += ",\"entity\":"
        text.appendJSONString(entity)
        if let field {
            text += ",\"field\":"
            text.appendJSONString(field)
        }
        text += ",\"count\":\(count),\"message\":"
        text.appendJSONString(message)
        return text + "}"
    }

    /// The event of a failure that stopped the command.
    static func error(_ failure: Failure) -> String { error(failure.message, failure.code.rawValue, endpoint: "") }

    private static func error(_ message: String, _ code: Int32, endpoint: String) -> String {
        var text = head("error")
        if !endpoint.isEmpty {
            text += ",\"endpoint\":"
            text.appendJSONString(endpoint)
        }
        text += ",\"exit_code\":\(code),\"message\":"
        text.appendJSONString(message)
        return text + "}"
    }
}

extension Timestamp {
    /// The time of a wait, in whole seconds.
    fileprivate init(until date: Date) {
        let seconds = date.timeIntervalSince1970
        self.init(clampingSeconds: seconds.isFinite && abs(seconds) < 1e12 ? Int(seconds.rounded(.up)) : 0)
    }
}
