// The summary of a sync, as text or as JSON.

import Tarn

struct SyncSummary {
    let report: SyncReport
    let records: RecordCounts

    init(_ report: SyncReport, _ store: Store) {
        self.report = report
        // An unreadable store is reported elsewhere.
        records = (try? store.read { try RecordCounts($0) }) ?? RecordCounts()
    }

    /// The failure of a sync that has skipped records or left out values, and has not failed
    /// otherwise; nil for none.
    var omissionFailure: Failure? {
        let imported = report.report, texts = [imported.skippedText, imported.unfitText].compactMap(\.self)
        guard report.failures.isEmpty, !texts.isEmpty else { return nil }
        return Failure(.partly, texts.joined(separator: "; "))
    }

    func lines(isVerbose: Bool) -> [String] {
        let hasAPIs = report.endpoints.contains { $0.api != nil }
        var table = Table(
            (hasAPIs ? ["api"] : [])
                + ["endpoint", "pages", "304", "listed", "created", "updated", "unchanged", "seconds"],
            rightAligned: Set(hasAPIs ? 2...8 : 1...7), named: hasAPIs ? 1 : 0)
        for endpoint in report.endpoints where !endpoint.name.isEmpty {
            let imported = endpoint.report
            table.add(
                (hasAPIs ? [endpoint.api ?? ""] : []) + [
                    SyncSummary.mark(endpoint) + endpoint.name, "\(endpoint.pages)", "\(endpoint.notModified)",
                    "\(endpoint.listed)", "\(imported.created)", "\(imported.updated)",
                    "\(imported.unchanged + endpoint.confirmed)", SyncSummary.seconds(endpoint.seconds),
                ])
        }
        var lines = table.lines(width: Output.summaryWidth)
        lines += resumptionLines
        let imported = report.report
        if isVerbose { lines += ImportReport.entityLines(report.entityCounts) }
        lines += requestLines(isVerbose: isVerbose)
        lines += deletionLines
        if imported.older > 0 {
            lines.append(
                "\(countText(imported.older, "record")) older than the stored version: the stored one was kept")
        }
        lines.append("store: \(countText(records.total, "record")): \(records.text)")
        return lines
    }

    /// The lines of the table that belong to failed endpoints, by index in ``lines(isVerbose:)``.
    var failedLines: Set<Int> {
        let endpoints = report.endpoints.filter { !$0.name.isEmpty }
        return Set(
            endpoints.indices.filter { !endpoints[$0].failures.isEmpty && !endpoints[$0].wasInterrupted }.map { $0 + 1 }
        )
    }

    /// The state of an endpoint before its name, where a narrow terminal does not cut it.
    /// The line about records of which the server has sent only a part of a list.
    static func line(ofCutLists flag: String, _ count: Int) -> String {
        "\(countText(count, "record")) had only a part of a list (\(flag) is true): request the rest with a for_each, or "
            + "write more: { ignore: ['\(flag)'] }"
    }

    private static func mark(_ endpoint: SyncReport.Endpoint) -> String {
        if endpoint.wasInterrupted { return "(interrupted) " }
        if !endpoint.failures.isEmpty { return "(FAILED) " }
        return endpoint.wasFinished ? "(finished before) " : endpoint.isResumed ? "(resumed) " : ""
    }

    /// The endpoints and lists that were not requested again after an interrupted sync.
    private var resumptionLines: [String] {
        guard let began = report.resumed else { return [] }
        let endpoints = report.endpoints.filter(\.wasFinished).count
        let lists = report.endpoints.filter { $0.finishedParents > 0 }.map {
            "\(countText($0.finishedParents, "list")) of \($0.name)"
        }
        let finished = (endpoints > 0 ? [countText(endpoints, "endpoint")] : []) + lists
        guard !finished.isEmpty else { return [] }
        return [
            "resumed the interrupted sync of \(began); not requested again: "
                + "\(finished.joined(separator: ", ")) (--restart starts over)"
        ]
    }

    /// The ignored requests, and the detected pagination styles.
    private func requestLines(isVerbose: Bool) -> [String] {
        report.endpoints.flatMap { endpoint in
            var lines: [String] = []
            if endpoint.ignored > 0 {
                lines.append(
                    "\(endpoint.name): \(countText(endpoint.ignored, "request")) ignored by a rule for responses")
            }
            if isVerbose, let choice = endpoint.pagination {
                lines.append("\(endpoint.name): paginate: \(choice.style), because \(choice.reason)")
            }
            return lines
        }
    }

    /// The deleted records, and the orphans that were kept, with the reasons.
    private var deletionLines: [String] {
        var lines: [String] = []
        let orphans = report.orphans, told = report.report.deleted - (orphans?.deleted ?? 0)
        if told > 0 { lines.append("\(countText(told, "record")) deleted: responses report them as deleted") }
        guard let orphans else { return lines }
        func add(_ count: Int, _ text: String) {
            if count > 0 { lines.append("\(countText(count, "record")) \(text)") }
        }
        // Several lists may have missed one record: it counts once, for what became of it at last.
        func add(_ outcome: OrphanOutcome, _ sum: Int, _ text: String) { add(orphans.count(outcome, sum: sum), text) }
        let due = orphans.count(.due, sum: orphans.due)
        add(orphans.deleted, "deleted (no longer listed by the server)" + orphanNames(\.deleted, orphans.deleted))
        add(
            orphans.unlinked,
            "unlinked (no longer listed there by the server)" + orphanNames(\.unlinked, orphans.unlinked))
        add(due, "would be deleted or unlinked (no longer listed by the server)" + orphanNames(\.due, due))
        add(.waiting, orphans.waiting, "not listed: a later complete sync decides")
        add(.existing, orphans.existing, "not listed, but still at the server: kept")
        add(.listedElsewhere, orphans.listedElsewhere, "not listed, but listed by other responses: kept")
        add(.kept, orphans.kept, "not listed: kept by the description")
        add(.vetoed, orphans.vetoed, "not listed: kept by the program")
        add(.changedLocally, orphans.changedLocally, "not listed: kept because of local changes")
        add(.denied, orphans.denied, "not listed: kept by a delete rule")
        for endpoint in report.endpoints {
            for refusal in endpoint.orphans?.refusals ?? [] {
                lines.append("\(endpoint.name): no orphans looked for: \(refusal)")
            }
        }
        return lines
    }

    /// The first orphans of one outcome, each once, and the number of the others.
    ///
    /// An endpoint deletes its orphans or unlinks them: its records have one outcome.
    private func orphanNames(_ outcome: (OrphanReport) -> Int, _ count: Int) -> String {
        var names: [String] = []
        for orphans in report.endpoints.compactMap(\.orphans) where outcome(orphans) > 0 {
            for name in orphans.records where names.count < 20 && !names.contains(name) { names.append(name) }
        }
        let more = count - names.count
        return ": " + names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// The fields of which records may have values of former sources.
    private var formerValueLines: [String] {
        let fields = report.formerValues.filter { !$0.isOfKinds }
        let kinds = report.formerValues.filter(\.isOfKinds).map(\.kindsText)
        guard !fields.isEmpty else { return kinds }
        return kinds + ["Fields that \(FormerValues.consequence):"]
            + fields.prefix(20).map { "  \($0.entity).\($0.field)  (\(countText($0.records, "value")))" }
            + (fields.count > 20 ? ["  … and \(countText(fields.count - 20, "more field"))"] : [])
    }

    /// The records that an edit of the description has left without a list.
    private var formerListLines: [String] {
        var lines: [String] = []
        if !report.unlisted.isEmpty {
            lines.append("\(SyncSummary.text(ofUnlisted: report.unlisted)) \(UnlistedRecords.consequence)")
        }
        if !report.unlistedSoFar.isEmpty {
            lines.append(
                "\(SyncSummary.text(ofUnlisted: report.unlistedSoFar)) of former lists, and in no list so far, "
                    + "are counted when the lists that are others than before are complete")
        }
        return lines
    }

    /// The numbers of records that no list has any more: `12 records (10 Issue, 2 User)`.
    static func text(ofUnlisted counts: [String: Int]) -> String {
        let parts = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return "\(countText(counts.values.reduce(0, +), "record")) (\(parts.joined(separator: ", ")))"
    }

    var warnings: [String] {
        let imported = report.report
        var lines = imported.unmappedLines + imported.diagnosticLines
        if !report.absentAttributes.isEmpty {
            lines.append("Attributes without a value in any record (check their JSON paths):")
            for attribute in report.absentAttributes.prefix(20) {
                lines.append(
                    "  \(attribute.entity).\(attribute.attribute)  (\(countText(attribute.records, "time")))"
                )
            }
            if report.absentAttributes.count > 20 {
                lines.append("  … and \(countText(report.absentAttributes.count - 20, "more attribute"))")
            }
        }
        lines += formerValueLines + formerListLines
        for endpoint in report.endpoints {
            for skipped in endpoint.skippedParents {
                lines.append(
                    "\(endpoint.name): nothing requested for \(countText(skipped.count, "record")) of "
                        + "\(skipped.entity) without a value for {\(skipped.name)}; the first: \(skipped.first)")
            }
        }
        for endpoint in report.endpoints where endpoint.newParents > 0 {
            lines.append(
                "\(endpoint.name): \(countText(endpoint.newParents, "further record")) of its for_each came during the scan: "
                    + "the next sync requests what belongs to \(endpoint.newParents == 1 ? "it" : "them")")
        }
        for endpoint in report.endpoints {
            for (flag, count) in endpoint.cutLists.sorted(by: { $0.key < $1.key }) {
                lines.append("\(endpoint.name): " + SyncSummary.line(ofCutLists: flag, count))
            }
            if let others = endpoint.otherRecords {
                lines.append(
                    "\(endpoint.name): \(countText(others.count, "response")) to a request for one record contained "
                        + "another one; the first: \(others.url), for the key \(others.asked)")
            }
            lines += repeatedLines(endpoint)
            if endpoint.withoutValue > 0, !endpoint.leavesFutureOut {
                let lists = endpoint.withoutValue > 1 ? " in \(countText(endpoint.withoutValue, "list"))" : ""
                lines.append(
                    "\(endpoint.name): no value for since was found\(lists), so that the next sync requests the same "
                        + "again: check field and format under since")
            }
            lines += sinceLines(endpoint)
            lines += unlistedLines(endpoint)
        }
        return lines
    }

    /// The records that no list has any more, and that are no orphans.
    private func unlistedLines(_ endpoint: SyncReport.Endpoint) -> [String] {
        var lines: [String] = []
        let wayOut = "tarn cache collect STORE --roots ENTITY,… --dry-run, with the entities that have to stay"
        if endpoint.unlisted > 0 {
            lines.append(
                "\(endpoint.name): the description or the credentials have changed, so that this scan looked for no "
                    + "orphans: \(countText(endpoint.unlisted, "record")) of its lists before "
                    + "\(endpoint.unlisted == 1 ? "is" : "are") in no list now, and "
                    + "\(endpoint.unlisted == 1 ? "stays" : "stay"); if the server has deleted them: \(wayOut)")
        }
        if endpoint.ofFormerLists > 0 {
            lines.append(
                "\(endpoint.name): \(countText(endpoint.ofFormerLists, "record")) of lists that are no longer requested, "
                    + "such as those of deleted records, \(endpoint.ofFormerLists == 1 ? "is" : "are") in no other list, and "
                    + "\(endpoint.ofFormerLists == 1 ? "stays" : "stay"); to delete records with their owner, set "
                    + "on_delete: cascade at its relationship; for these: \(wayOut)")
        }
        return lines
    }

    /// The records of a list that may have replaced each other.
    private func repeatedLines(_ endpoint: SyncReport.Endpoint) -> [String] {
        let isTold = endpoint.doubts.keys.contains { if case .repeatedRecords = $0 { true } else { false } }
        guard let repeated = endpoint.repeated, !isTold else { return [] }
        return [
            "\(endpoint.name): a list had \(countText(repeated.listed, "record")), and only "
                + "\(repeated.different) different ones: if different records have the same key, they have replaced "
                + "each other; add what tells them apart to the key of the entity"
        ]
    }

    /// The reasons why the next sync requests more than what has changed since the last record.
    private func sinceLines(_ endpoint: SyncReport.Endpoint) -> [String] {
        var lines: [String] = []
        if let value = endpoint.futureValue {
            let next =
                endpoint.leavesFutureOut
                ? "it does not count, and the value for since stays as it was"
                : "the next sync requests what has changed since this one began"
            lines.append(
                "\(endpoint.name): a record has a date in the future for since, \(value.excerpt): \(next)")
        }
        lines += doubtLines(endpoint)
        if endpoint.expired > 0 {
            let lists = endpoint.expired > 1 ? " of \(countText(endpoint.expired, "list"))" : ""
            let orphans =
                endpoint.orphans == nil
                ? "; records that it has deleted meanwhile stay, unless the endpoint has a rule for orphans" : ""
            lines.append(
                "\(endpoint.name): the server no longer accepts the value for since\(lists), so that everything was "
                    + "requested from the beginning\(orphans)")
        }
        if endpoint.isPeriodicallyFull {
            lines.append("\(endpoint.name): everything was requested again, as full_every demands")
        }
        if endpoint.isFollowed {
            lines.append(
                "\(endpoint.name): not requested, because a feed tells what has changed (since.start); "
                    + "tarn sync --full requests it again")
        }
        if endpoint.hasOtherCredentials {
            lines.append(
                "\(endpoint.name): the credentials have changed, so that everything was requested from the "
                    + "beginning; if the account is still the same, name it under auth: account: NAME")
        }
        if endpoint.hasOtherDescription {
            lines.append(
                "\(endpoint.name): another description with an endpoint of this name, or other credentials in its "
                    + "headers, have scanned into the store since, so that everything was requested from the beginning, "
                    + "and no orphans were looked for; give the endpoints different names, or stores of their own")
        }
        return lines
    }

    /// The lists that may have more records than were scanned.
    ///
    /// Of an empty last page only the next request for changes tells; the orphans have a line of
    /// their own.
    private func doubtLines(_ endpoint: SyncReport.Endpoint) -> [String] {
        let doubts = endpoint.doubts.sorted { $0.key.finding < $1.key.finding }, isAgain = endpoint.inDoubtAgain > 0
        let isIncremental = isAgain || endpoint.inDoubt > 0
        return doubts.filter { isIncremental || $0.key != .emptyPage }.map { doubt, count in
            let lists = count > 1 ? " in \(countText(count, "list"))" : ""
            let finding = "\(endpoint.name): \(doubt.finding)\(isAgain ? ", again" : "")\(lists)"
            if isAgain {
                return
                    "\(finding): the next sync requests only what has changed since; if pages were missing, run tarn "
                    + "sync --full; \(doubt.wayOut)"
            }
            let next = isIncremental ? ", so that the next sync requests the same again" : ""
            return "\(finding): other pages may be missing\(next); \(doubt.wayOut)"
        }
    }

    /// Formats seconds with three decimals.
    static func seconds(_ value: Double) -> String {
        let milliseconds = Int((value * 1000).rounded())
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
    }
}

extension SyncReport.Endpoint {
    /// Whether nothing has failed but that the sync was interrupted.
    var wasInterrupted: Bool {
        !failures.isEmpty && failures.allSatisfy { if case .cancelled = $0 { true } else { false } }
    }
}
