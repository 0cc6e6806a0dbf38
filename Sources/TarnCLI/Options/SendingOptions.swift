// The options of commands that send local changes.

import ArgumentParser
import Tarn

/// The description, its store, and the way to the server.
struct SendingOptions: ParsableArguments {
    @OptionGroup var description: DescriptionOption
    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path"))
    var store: String?
    @OptionGroup var base: BaseOption
    @Option(
        help: ArgumentHelp(
            "Rule for records that both sides have changed, if the description has none: server, client or per_field.",
            valueName: "rule"))
    var conflicts = ConflictOption.perField

    /// Opens the outbox of the description.
    ///
    /// - Parameters:
    ///   - entity: the entity of the change; nil for none.
    ///   - kind: the kind of the change.
    func outbox(for entity: String? = nil, _ kind: OutboxOperation.Kind = .update) throws -> Outbox {
        try Outbox.open(description, for: entity, kind, store: store, base: base, conflicts.policy)
    }
}

extension Outbox {
    /// Opens the outbox of a description. Missing credentials are an error once a request needs
    /// them.
    ///
    /// - Parameters:
    ///   - entity: the entity of the change, for the error; nil for none.
    ///   - kind: the kind of the change, for the error.
    ///   - creatingStore: whether a missing store is created.
    ///   - adoptsSchema: whether the store takes the schema of the description.
    /// - Throws: `Failure` with `.usage` if the description declares no requests.
    static func open(
        _ option: DescriptionOption, for entity: String? = nil, _ kind: OutboxOperation.Kind = .update,
        store: String?, base: BaseOption? = nil,
        _ conflicts: ConflictPolicy = .perField,
        creatingStore: Bool = true, adoptsSchema: Bool = true
    ) throws -> Outbox {
        let description = try option.load()
        guard !description.writes.isEmpty else {
            let isKnown = description.schema.entities.contains { $0.name == entity }
            let name = isKnown ? entity ?? "NAME" : "NAME"
            let example =
                switch kind {
                case .create: "create: 'POST /issues'"
                case .delete: "delete: 'DELETE /issues/{id}'"
                default: "update: 'PATCH /issues/{id}'"
                }
            throw Failure(
                .usage,
                "\(description.file) declares no requests for changes: add entities.\(name).write, such as "
                    + "write: { \(example) }")
        }
        var options = APIClient.Options()
        options.requiresSecrets = false
        if let base { try base.replacements(description).apply(to: &options) }
        let path = store ?? description.storePath
        let store = try Failure.ofLocking {
            if !creatingStore { _ = try Store.open(at: path, options: Store.Options(isReadOnly: true)) }
            return try adoptsSchema ? Store.open(at: path, schema: description.schema) : Store.open(at: path)
        }
        let client = try APIClient(description, store: store, options: options) { CurlTransport($1.transport) }
        return client.outbox(conflicts: conflicts)
    }
}

/// A rule for conflicts on the command line.
enum ConflictOption: String, CaseIterable, ExpressibleByArgument {
    case server, client
    case perField = "per_field"

    var policy: ConflictPolicy {
        switch self {
        case .server: .server
        case .client: .client
        case .perField: .perField
        }
    }
}

extension Outbox {
    /// Sends once, and prints the result.
    ///
    /// - Parameter own: selects the changes that the command has queued. The command waits for
    ///   another process that sends, since it may send them. If nil, such a process is an error.
    /// - Throws: `Failure` if an operation was not sent for another reason than that it waits.
    func sendAndReport(isJSON: Bool, own: ((OutboxOperation) -> Bool)? = nil) async throws {
        let waits = own != nil
        let task = Task { () async throws -> (report: OutboxReport, hasWaited: Bool) in
            waits ? try await drainAfterOthers() : (try await drainUntilCancelled(), false)
        }
        // The next push sends again every operation without an answer.
        let interrupts = Interrupts { task.cancel() }
        defer { interrupts.stop() }
        let report: OutboxReport, hasWaited: Bool
        do { (report, hasWaited) = try await task.value } catch is CancellationError {
            throw Failure(.interrupted, waits ? "interrupted; the next push sends what is queued" : "")
        }
        report.show(isJSON: isJSON)
        guard !report.isInterrupted else {
            throw Failure(.interrupted, "interrupted; the next push sends what is left, and what has no answer again")
        }
        let hasFailed = try hasWaited && own.map { try showFailures(of: $0, besides: report) } ?? false
        if let failure = report.end { throw failure }
        if hasFailed { throw Failure(report.sent > 0 ? .partly : .failed, "") }
    }

    /// Sends as soon as no other process does.
    private func drainAfterOthers() async throws -> (report: OutboxReport, hasWaited: Bool) {
        let began = ContinuousClock.now
        var hasWaited = false, isTold = false
        while true {
            do { return (try await drainUntilCancelled(), hasWaited) } catch let error as WriteError {
                guard case .busy = error else { throw error }
                hasWaited = true
                if !isTold, ContinuousClock.now - began > .seconds(3) {
                    isTold = true
                    Output.note("waiting: \(error)")
                    Output.flush()
                }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Prints the failures of changes that another process has tried to send.
    ///
    /// - Returns: whether there are any.
    private func showFailures(of own: (OutboxOperation) -> Bool, besides report: OutboxReport) throws -> Bool {
        let known = Set(report.problems.map(\.operation))
        var hasFailed = false
        for operation in try operations() where own(operation) && !known.contains(operation.id) {
            guard let failure = operation.failure else { continue }
            hasFailed = true
            Output.error(
                "operation \(operation.id), \(operation.kind.rawValue) \(operation.record): \(failure.message)")
        }
        return hasFailed
    }
}

extension Outbox {
    /// Warns of fields that a request does not send.
    func warnOfUnsent(_ kind: OutboxOperation.Kind, _ entity: String, _ fields: [String]) throws {
        let unsent = try store.read { try self.unsent(kind, entity, fields, $0.access) }
        for field in unsent { Output.note("warning: " + field.warning("entities.\(entity).write.\(kind.rawValue)")) }
    }
}

extension OutboxReport {
    /// Prints the counts, and each failure and warning on standard error.
    func show(isJSON: Bool) {
        isJSON ? Output.json(json) : Output.line(line)
        Output.flush()
        for problem in problems { Output.error(problem.description) }
        for warning in warnings { Output.note("warning: \(warning)") }
        let isMerged = { (warning: Problem) in warning.failure.kind == OutboxReport.merged }
        let others = [OutboxReport.unsent, OutboxReport.untaken, OutboxReport.withdrawal]
        let shown = warnings.count { !isMerged($0) && !others.contains($0.failure.kind) }
        if unread > shown { Output.note("warning: \(countText(unread - shown, "more answer")) could not be read") }
        let left = merged - warnings.count(where: isMerged)
        if left > 0 {
            let creations =
                left == 1
                ? "1 more creation has the key of a record that was"
                : "\(left) more creations have keys of records that were"
            Output.note("warning: \(creations) here before")
        }
        let unsent = unsentFields - warnings.count { $0.failure.kind == OutboxReport.unsent }
        if unsent > 0 {
            let fields =
                unsent == 1
                ? "1 more field was not sent: it stays a local change"
                : "\(unsent) more fields were not sent: they stay local changes"
            Output.note("warning: \(fields)")
        }
        let hidden = untakenFields > 0 && warnings.count >= OutboxReport.problemLimit
        if hidden { Output.note("warning: \(countText(untakenFields, "field")) in all have their earlier values") }
        let more = withdrawnParts - warnings.count { $0.failure.kind == OutboxReport.withdrawal }
        if more > 0 { Output.note("warning: \(countText(more, "more change")) withdrawn by the policy") }
        for (entity, count) in undeclared.sorted(by: { $0.key < $1.key }) {
            Output.note(
                "warning: \(countText(count, "change")) of \(entity) cannot be sent: the description declares no requests "
                    + "for it (entities.\(entity).write); declare them, or discard with `tarn outbox discard`")
        }
        for (api, stop) in stops.sorted(by: { $0.key < $1.key }) where !api.isEmpty {
            Output.note("the changes of \(api) wait: \(stop.message)")
        }
    }

    /// Whether ``show(isJSON:)`` prints the reason for which operations wait: that of an API with a
    /// name, or the failure of an operation.
    func hasShown(_ stop: Stop) -> Bool {
        stops.keys.contains { !$0.isEmpty } || problems.contains { $0.failure.message == stop.message }
    }

    /// `3 sent, 1 failed; 3 left; 2 dead (tarn outbox list)`
    private var line: String {
        var parts = ["\(sent) sent"]
        if failed > 0 { parts.append("\(failed) failed") }
        if conflicts > 0 { parts.append(countText(conflicts, "conflict")) }
        if withdrawn > 0 { parts.append("\(withdrawn) withdrawn") }
        if unread > 0 { parts.append("\(countText(unread, "unread answer"))") }
        if merged > 0 { parts.append("\(merged) merged") }
        if untakenFields > 0 { parts.append("\(countText(untakenFields, "field")) not taken") }
        var text = parts.joined(separator: ", ")
        let left = remaining.total - remaining.dead
        if left > 0 { text += "; \(left) left" }
        if blocked > 0 { text += ", \(blocked) behind dead ones" }
        if unsendable > 0 { text += ", \(unsendable) without a request" }
        if let nextAttempt { text += ", next attempt at \(nextAttempt)" }
        if remaining.dead > 0 { text += "; \(remaining.dead) dead (tarn outbox list)" }
        return text
    }

    /// The number of changes that have no request.
    private var unsendable: Int { undeclared.values.reduce(0, +) }

    private var json: String {
        var text = "{\"sent\":\(sent),\"failed\":\(failed),\"dead\":\(dead),\"conflicts\":\(conflicts)"
        text += ",\"withdrawn\":\(withdrawn),\"remaining\":{\"pending\":\(remaining.pending)"
        text += ",\"sending\":\(remaining.sending),\"failed\":\(remaining.failed),\"dead\":\(remaining.dead)}"
        if unread > 0 { text += ",\"unread_answers\":\(unread)" }
        if merged > 0 { text += ",\"merged\":\(merged)" }
        if unsentFields > 0 { text += ",\"unsent_fields\":\(unsentFields)" }
        if untakenFields > 0 { text += ",\"untaken_fields\":\(untakenFields)" }
        if blocked > 0 { text += ",\"behind_dead\":\(blocked)" }
        if unsendable > 0 { text += ",\"without_request\":\(unsendable)" }
        if let nextAttempt { text += ",\"next_attempt\":\"\(nextAttempt)\"" }
        if let stop {
            text += ",\"stopped\":"
            text.appendJSONString(stop.message)
        }
        return text + warningsJSON + "}"
    }

    /// The member `warnings` of the JSON; empty without warnings.
    private var warningsJSON: String {
        guard !warnings.isEmpty else { return "" }
        let lines = warnings.map { warning in
            var text = "{\"id\":\(warning.operation),\"change\":\"\(warning.kind.rawValue)\",\"record\":"
            text.appendJSONString(warning.record.description)
            text += ",\"kind\":"
            text.appendJSONString(warning.failure.kind)
            text += ",\"message\":"
            text.appendJSONString(warning.failure.message)
            return text + "}"
        }
        return ",\"warnings\":[\(lines.joined(separator: ","))]"
    }

    /// The exit code and message of a drain; nil if nothing failed. Changes that only wait, such as
    /// those behind dead ones and those without a request, are no failures.
    fileprivate var end: Failure? {
        let isSome = sent > 0
        if isLimited { return Failure(.limited, stop.map { "stopped: \($0.message)" } ?? "") }
        switch stop {
        case .unreachable(let text)?: return Failure(isSome ? .partly : .noNetwork, "offline: \(text); nothing is lost")
        case .authentication(let text)?: return Failure(.credentials, text)
        case .failing(let text)?: return Failure(isSome ? .partly : .failed, "stopped: \(text)")
        case nil: break
        }
        guard dead + failed > 0 else { return nil }
        return Failure(isSome ? .partly : .failed, "")
    }
}
