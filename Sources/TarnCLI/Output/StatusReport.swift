// The status of a mirror, as text or as JSON.

import Foundation
import Tarn

struct StatusReport {
    let endpoints: [EndpointStatus]
    /// Further endpoints, which may list the parents of those that are shown.
    private let others: [EndpointStatus]
    /// The base URLs of the APIs; the only one has no name.
    private let apis: [(name: String?, base: String)]
    /// The states of the sign-ins, by API.
    private let logins: [(api: String?, state: OAuth2.LoginState, text: String)]
    private let path: String
    private let bytes: Int
    private let records: RecordCounts
    /// The number of local changes by entity.
    private let localChanges: [(entity: String, count: Int)]
    /// The numbers of records that no list has any more, by entity.
    private let unlisted: [String: Int]
    /// The numbers of queued local changes.
    private let outbox: OutboxCounts
    private let now: Timestamp

    /// The state of an endpoint.
    enum State: String {
        case syncing, complete, interrupted, failed, never
    }

    /// Reads the status of endpoints.
    ///
    /// - Parameters:
    ///   - names: the names of the endpoints; nil for all.
    ///   - place: the path that is shown; nil for that of the store.
    static func read(
        _ names: Set<String>?, _ client: APIClient, _ description: Description, at place: String? = nil
    ) async throws -> StatusReport {
        let endpoints = try await client.status(of: names)
        // Without a parent, the endpoints that may list one decide.
        let others = names != nil && endpoints.contains { $0.lists == 0 } ? try await client.status() : []
        return try StatusReport(endpoints, others, description, client.store, at: place)
    }

    private init(
        _ endpoints: [EndpointStatus], _ others: [EndpointStatus], _ description: Description, _ store: Store,
        at place: String?
    ) throws {
        self.endpoints = endpoints
        self.others = others
        apis = description.apis.map { ($0.name, Redaction.url($0.api.base)) }
        let environment = ProcessInfo.processInfo.environment
        logins = description.apis.compactMap { name, api in
            api.authentication.signIn?.loginText(environment: environment).map { (name, $0.state, $0.text) }
        }
        path = place ?? store.path
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/data.mdb")
        bytes = attributes?[.size] as? Int ?? 0
        now = Timestamp(clampingSeconds: Int(Date().timeIntervalSince1970))
        var records = RecordCounts(), changes: [String: Int] = [:], outbox = OutboxCounts()
        var unlisted: [String: Int] = [:]
        try store.read { reader in
            records = try RecordCounts(reader)
            unlisted = try UnlistedRecords.count(reader, description.schema)
            outbox = try reader.outbox.counts
            try reader.forEachLocalChange { change in
                changes[change.entity, default: 0] += 1
                return true
            }
        }
        self.records = records
        self.outbox = outbox
        self.unlisted = unlisted
        localChanges = changes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Whether every endpoint is complete, and its last attempt did not fail.
    var isGood: Bool { endpoints.allSatisfy { isComplete($0) && $0.failure == nil && $0.unfinished == nil } }

    /// The time as of which the store has the records of the endpoints that were completely
    /// scanned: that of the earliest scan; nil if there was none.
    var asOf: Timestamp? { endpoints.compactMap(\.completedAt).min() }

    /// The names of the endpoints that were never completely scanned.
    var incomplete: [String] { endpoints.filter { !isComplete($0) }.map(\.name) }

    /// Whether all lists of an endpoint were scanned.
    ///
    /// Without a parent record it has none, if all parents are known: the other endpoints are
    /// complete.
    private func isComplete(_ status: EndpointStatus) -> Bool {
        if status.lists > 0 { return status.completedAt != nil }
        return (endpoints + others).allSatisfy { $0.lists == 0 || $0.completedAt != nil }
    }

    private func state(_ status: EndpointStatus) -> State {
        if status.processID != nil { return .syncing }
        if status.failure != nil { return .failed }
        if status.unfinished != nil { return .interrupted }
        return isComplete(status) ? .complete : .never
    }

    // MARK: Text

    func write(isLocal: Bool) {
        let names = apis.compactMap(\.name), first = names.isEmpty ? [] : ["api"], shift = first.count
        var table = Table(
            first + ["endpoint", "state", "last complete scan", "age", "fresh", "due", "pages", "records"],
            rightAligned: Set([3, 6, 7].map { $0 + shift }), named: shift)
        for status in endpoints {
            let state = self.state(status)
            table.add(
                (names.isEmpty ? [] : [status.api ?? ""]) + [
                    status.name + (status.lists > 1 ? " (\(status.completeLists)/\(status.lists) lists)" : ""),
                    state.rawValue,
                    status.completedAt.map { $0.wholeSeconds(isLocal: isLocal) }
                        ?? (status.lists == 0 ? "no parents" : "never"),
                    status.age.map(StatusReport.age) ?? "",
                    fresh(status), due(status), count(status, \.pages), count(status, \.records),
                ])
        }
        for (index, line) in table.lines(width: Output.summaryWidth).enumerated() {
            guard index > 0, index <= endpoints.count else {
                Output.line(line)
                continue
            }
            let style: StyledText.Style =
                switch state(endpoints[index - 1]) {
                case .failed: .red
                case .interrupted, .never: .yellow
                case .syncing, .complete: .plain
                }
            Output.line(line, style)
        }
        for status in endpoints { details(status, isLocal: isLocal).forEach { Output.line($0) } }
        for login in logins {
            let isGood = if case .signedIn = login.state { true } else { false }
            Output.line((login.api.map { "\($0): " } ?? "") + login.text, isGood ? .plain : .yellow)
        }
        Output.line("store: \(path), \(byteText(bytes)): \(countText(records.total, "record")): \(records.text)")
        if !unlisted.isEmpty {
            Output.line("\(SyncSummary.text(ofUnlisted: unlisted)) \(UnlistedRecords.consequence)")
        }
        let changes = localChanges.reduce(0) { $0 + $1.count }
        if changes > 0 {
            let parts = localChanges.map { "\($0.count) \($0.entity)" }.joined(separator: ", ")
            Output.line("\(countText(changes, "local change")) not sent: \(parts)")
        }
        if !outbox.isEmpty {
            var parts = ["\(outbox.pending &+ outbox.sending) to send"]
            if outbox.failed > 0 { parts.append("\(outbox.failed) failed") }
            if outbox.dead > 0 { parts.append("\(outbox.dead) dead") }
            Output.line(
                "outbox: \(parts.joined(separator: ", ")); `tarn push` sends, `tarn outbox list` shows them",
                outbox.dead > 0 ? .red : .plain)
        }
    }

    private func details(_ status: EndpointStatus, isLocal: Bool) -> [String] {
        var lines: [String] = []
        if let process = status.processID { lines.append("\(status.name): process \(process) scans it now") }
        if let next = status.nextWhole, next <= now {
            lines.append("\(status.name): the next sync requests everything again, as full_every demands")
        } else if let since = status.since {
            let whole = status.nextWhole.map { "; from \($0.wholeSeconds(isLocal: isLocal)) on, everything again" }
            lines.append("\(status.name): the next sync requests what changed since \(since)\(whole ?? "")")
        }
        if status.cutOffLists > 0 {
            lines.append(limitNote(status.name, cutOff: status.cutOffLists, isOneOfSeveral: status.lists > 1))
        }
        if status.doubtfulLists > 0 {
            let lists = status.lists > 1 ? countText(status.doubtfulLists, "list") + " ended" : "ended"
            lines.append("\(status.name): \(lists) where the server may have more; tarn sync names the reason")
        }
        if let unfinished = status.unfinished {
            lines.append(
                "\(status.name): stopped after \(countText(unfinished.pages, "page")), "
                    + "\(countText(unfinished.records, "record")); begun \(unfinished.startedAt.wholeSeconds(isLocal: isLocal))"
                    + (status.position.map { "; next: \($0)" } ?? ""))
        }
        if let failure = status.failure {
            let age = StatusReport.age(Int(max(0, now.elapsed(since: failure.at)) / 1_000_000))
            lines.append("\(status.name): failed \(age) ago: \(failure.message)")
        }
        return lines
    }

    /// The pages or records of the last complete scan; empty if they are no longer known.
    private func count(_ status: EndpointStatus, _ count: (EndpointStatus.Counts) -> Int) -> String {
        status.rescannedLists > 0 ? "" : "\(status.complete.map(count) ?? 0)"
    }

    /// How long the first page is fresh: the next sync sends no request for it until then.
    private func fresh(_ status: EndpointStatus) -> String {
        guard let until = status.freshUntil else { return "" }
        let seconds = Int(until.elapsed(since: now) / 1_000_000)
        return seconds > 0 ? "for \(StatusReport.age(seconds))" : "no"
    }

    /// When `tarn sync --watch` scans the endpoint next.
    private func due(_ status: EndpointStatus) -> String {
        guard let next = status.nextRun else { return "" }
        let seconds = Int(clamping: next.elapsed(since: now) / 1_000_000)
        return seconds > 0 ? "in \(StatusReport.age(seconds))" : "now"
    }

    /// A duration in its largest unit: `12 s`, `5 min`, `3 h`, `9 d`.
    static func age(_ seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(max(0, seconds)) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) d"
        }
    }

    // MARK: JSON

    var json: String { json(head: "{\"version\":1") }

    /// The status as one JSON object.
    ///
    /// - Parameter head: its beginning, with the version.
    func json(head: String) -> String {
        var text = head + ",\"api\":"
        text.appendJSONString(apis.first?.base ?? "")
        if let first = apis.first, first.name != nil {
            text += ",\"apis\":{"
            for (index, api) in apis.enumerated() {
                if index > 0 { text += "," }
                text.appendJSONString(api.name ?? "")
                text += ":"
                text.appendJSONString(api.base)
            }
            text += "}"
        }
        if !logins.isEmpty { text += ",\"logins\":[\(logins.map(StatusReport.json).joined(separator: ","))]" }
        text += ",\"complete\":\(isGood),\"endpoints\":["
        for (index, status) in endpoints.enumerated() { text += (index > 0 ? "," : "") + json(status) }
        text += "],\"store\":{\"path\":"
        text.appendJSONString(path)
        text += ",\"bytes\":\(bytes),\"total\":\(records.total),\"records\":{"
        for (index, entity) in records.entities.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(entity.name)
            text += ":\(entity.count)"
        }
        text += "}}\(SyncSummary.json(ofUnlisted: unlisted)),\"local_changes\":{"
        for (index, change) in localChanges.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(change.entity)
            text += ":\(change.count)"
        }
        text += "},\"outbox\":{\"pending\":\(outbox.pending),\"sending\":\(outbox.sending)"
        return text + ",\"failed\":\(outbox.failed),\"dead\":\(outbox.dead)}}"
    }

    private static func json(_ login: (api: String?, state: OAuth2.LoginState, text: String)) -> String {
        var text = "{"
        if let api = login.api {
            text += "\"api\":"
            text.appendJSONString(api)
            text += ","
        }
        switch login.state {
        case .signedOut: text += "\"state\":\"signed_out\""
        case .ended: text += "\"state\":\"ended\""
        case .signedIn(let since, let end):
            text += "\"state\":\"signed_in\""
            if let since { text += ",\"since\":\"\(since.ISO8601Format())\"" }
            if let end { text += ",\"until\":\"\(end.ISO8601Format())\"" }
        }
        return text + "}"
    }

    private func json(_ status: EndpointStatus) -> String {
        var text = "{\"name\":"
        text.appendJSONString(status.name)
        if let api = status.api {
            text += ",\"api\":"
            text.appendJSONString(api)
        }
        text +=
            ",\"state\":\"\(state(status).rawValue)\",\"lists\":\(status.lists),\"complete_lists\":\(status.completeLists)"
        if status.cutOffLists > 0 { text += ",\"cut_off\":\(status.cutOffLists)" }
        if status.doubtfulLists > 0 { text += ",\"doubtful_ends\":\(status.doubtfulLists)" }
        if let time = status.completedAt { text += ",\"completed_at\":\"\(time)\"" }
        if let age = status.age { text += ",\"age\":\(age)" }
        if let time = status.freshUntil { text += ",\"fresh_until\":\"\(time)\"" }
        if let time = status.nextRun { text += ",\"due\":\"\(time)\"" }
        if let complete = status.complete {
            text += ",\"pages\":\(complete.pages),\"listed\":\(complete.records)"
        }
        if let unfinished = status.unfinished {
            text += ",\"unfinished\":{\"started_at\":\"\(unfinished.startedAt)\",\"pages\":\(unfinished.pages)"
            text += ",\"listed\":\(unfinished.records)"
            if let position = status.position {
                text += ",\"next\":"
                text.appendJSONString(position)
            }
            text += "}"
        }
        if let since = status.since {
            text += ",\"since\":"
            text.appendJSONString(since)
        }
        if let next = status.nextWhole { text += ",\"full_at\":\"\(next)\"" }
        if let process = status.processID { text += ",\"process\":\(process)" }
        if let failure = status.failure {
            text += ",\"failure\":{\"at\":\"\(failure.at)\",\"message\":"
            text.appendJSONString(failure.message)
            text += "}"
        }
        return text + "}"
    }
}
