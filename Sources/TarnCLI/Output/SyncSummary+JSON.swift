// The summary of a sync as JSON.

import Tarn

extension SyncSummary {
    var json: String {
        var text = SyncEvents.head("summary") + ",\"endpoints\":["
        for (index, endpoint) in report.endpoints.enumerated() {
            if index > 0 { text += "," }
            append(endpoint, to: &text)
        }
        text += "]"
        if let resumed = report.resumed { text += ",\"continues_sync_of\":\"\(resumed)\"" }
        appendRecordCounts(to: &text)
        ImportReport.appendEntities(report.entityCounts, to: &text)
        text += ",\"diagnostics\":"
        append(report.report.diagnostics.map(\.description), to: &text)
        appendDiagnosticGroups(to: &text)
        text += ",\"absent_attributes\":"
        append(report.absentAttributes.map { "\($0.entity).\($0.attribute)" }, to: &text)
        text += ",\"unmapped\":"
        append(report.report.unmapped.map { "\($0.entity): \($0.path)" }, to: &text)
        if !report.missing.isEmpty { appendMissing(to: &text) }
        text += SyncSummary.json(ofUnlisted: report.unlisted)
        text += SyncSummary.json(ofUnlisted: report.unlistedSoFar, "unlisted_so_far")
        return text + "}"
    }

    /// The member with the numbers of records that no list has any more; empty if there are none.
    static func json(ofUnlisted counts: [String: Int], _ name: String = "unlisted") -> String {
        guard !counts.isEmpty else { return "" }
        var text = ",\"\(name)\":{"
        for (index, (entity, count)) in counts.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(entity)
            text += ":\(count)"
        }
        return text + "}"
    }

    // MARK: Endpoints

    private func append(_ endpoint: SyncReport.Endpoint, to text: inout String) {
        let imported = endpoint.report
        text += "{\"name\":"
        text.appendJSONString(endpoint.name)
        if let api = endpoint.api {
            text += ",\"api\":"
            text.appendJSONString(api)
        }
        text +=
            ",\"pages\":\(endpoint.pages),\"not_modified\":\(endpoint.notModified),\"listed\":\(endpoint.listed)"
        text += ",\"resumed\":\(endpoint.isResumed)"
        if endpoint.wasFinished { text += ",\"finished_before\":true" }
        if endpoint.finishedParents > 0 { text += ",\"parents_finished_before\":\(endpoint.finishedParents)" }
        if endpoint.unchangedParents > 0 { text += ",\"parents_unchanged\":\(endpoint.unchangedParents)" }
        if endpoint.wasLimited { text += ",\"limited\":true" }
        if endpoint.leftOut > 0 { text += ",\"lists_left_out\":\(endpoint.leftOut)" }
        if endpoint.cutOff > 0 { text += ",\"cut_off\":\(endpoint.cutOff)" }
        if endpoint.ignored > 0 { text += ",\"ignored\":\(endpoint.ignored)" }
        if endpoint.withoutValue > 0 { text += ",\"without_since\":\(endpoint.withoutValue)" }
        if let value = endpoint.futureValue {
            text += ",\"future_since\":"
            text.appendJSONString(value)
        }
        if !endpoint.doubts.isEmpty { text += ",\"doubtful_ends\":\(endpoint.doubts.values.reduce(0, +))" }
        if endpoint.inDoubt > 0 { text += ",\"in_doubt\":\(endpoint.inDoubt)" }
        if endpoint.inDoubtAgain > 0 { text += ",\"in_doubt_again\":\(endpoint.inDoubtAgain)" }
        if endpoint.expired > 0 { text += ",\"expired\":\(endpoint.expired)" }
        if endpoint.isPeriodicallyFull { text += ",\"full\":true" }
        if endpoint.hasOtherCredentials { text += ",\"other_credentials\":true" }
        if endpoint.hasOtherDescription { text += ",\"other_description\":true" }
        if endpoint.unlisted > 0 { text += ",\"unlisted\":\(endpoint.unlisted)" }
        if endpoint.ofFormerLists > 0 { text += ",\"of_former_lists\":\(endpoint.ofFormerLists)" }
        if let repeated = endpoint.repeated {
            text += ",\"repeated\":{\"listed\":\(repeated.listed),\"different\":\(repeated.different)}"
        }
        if let others = endpoint.otherRecords {
            text += ",\"other_records\":{\"count\":\(others.count),\"url\":"
            text.appendJSONString(others.url)
            text += ",\"asked\":"
            text.appendJSONString(others.asked)
            text += "}"
        }
        if !endpoint.skippedParents.isEmpty { append(endpoint.skippedParents, to: &text) }
        if endpoint.newParents > 0 { text += ",\"new_parents\":\(endpoint.newParents)" }
        if !endpoint.cutLists.isEmpty {
            text += ",\"cut_lists\":{"
            for (index, list) in endpoint.cutLists.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { text += "," }
                text.appendJSONString(list.key)
                text += ":\(list.value)"
            }
            text += "}"
        }
        if let choice = endpoint.pagination {
            text += ",\"pagination\":{\"style\":"
            text.appendJSONString(choice.style)
            text += ",\"reason\":"
            text.appendJSONString(choice.reason)
            text += "}"
        }
        text +=
            ",\"created\":\(imported.created),\"updated\":\(imported.updated),\"unchanged\":\(imported.unchanged + endpoint.confirmed)"
        text += ",\"confirmed\":\(endpoint.confirmed)"
        text += ",\"deleted\":\(imported.deleted),\"older\":\(imported.older)"
        if let orphans = endpoint.orphans { append(orphans, to: &text) }
        text += ",\"seconds\":\(SyncSummary.seconds(endpoint.seconds)),\"failures\":"
        append(endpoint.failures.map(\.description), to: &text)
        text += "}"
    }

    private func append(_ parents: [SkippedParents], to text: inout String) {
        text += ",\"skipped_parents\":["
        for (index, skipped) in parents.enumerated() {
            text += (index > 0 ? "," : "") + "{\"entity\":"
            text.appendJSONString(skipped.entity)
            text += ",\"name\":"
            text.appendJSONString(skipped.name)
            text += ",\"count\":\(skipped.count),\"first\":"
            text.appendJSONString(skipped.first)
            text += "}"
        }
        text += "]"
    }

    private func append(_ orphans: OrphanReport, to text: inout String) {
        text +=
            ",\"orphans\":{\"dry_run\":\(orphans.isDryRun),\"candidates\":\(orphans.candidates),\"waiting\":\(orphans.waiting)"
        text += ",\"deleted\":\(orphans.deleted),\"unlinked\":\(orphans.unlinked),\"due\":\(orphans.due)"
        text += ",\"listed_elsewhere\":\(orphans.listedElsewhere),\"kept\":\(orphans.kept),\"vetoed\":\(orphans.vetoed)"
        text +=
            ",\"changed_locally\":\(orphans.changedLocally),\"denied\":\(orphans.denied),\"existing\":\(orphans.existing)"
        text += ",\"records\":"
        append(orphans.records, to: &text)
        text += ",\"refusals\":"
        append(orphans.refusals, to: &text)
        text += "}"
    }

    // MARK: Records

    /// Appends the number of records that the store has of each entity.
    private func appendRecordCounts(to text: inout String) {
        text += ",\"records\":{"
        for (index, entity) in records.entities.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(entity.name)
            text += ":\(entity.count)"
        }
        text += "},\"total\":\(records.total)"
    }

    /// Appends the targets of references that a sync of missing records has left.
    private func appendMissing(to text: inout String) {
        text += ",\"missing\":["
        for (index, missing) in report.missing.enumerated() {
            text += (index > 0 ? "," : "") + "{\"entity\":"
            text.appendJSONString(missing.entity)
            text += ",\"count\":\(missing.count),\"too_long\":\(missing.tooLong)"
            text += ",\"has_endpoint\":\(missing.hasEndpoint)}"
        }
        text += "]"
    }

    private func appendDiagnosticGroups(to text: inout String) {
        text += ",\"diagnostic_groups\":["
        for (index, group) in report.report.diagnosticGroups.enumerated() {
            text += (index > 0 ? "," : "") + "{\"code\":\"\(group.code.rawValue)\",\"entity\":"
            text.appendJSONString(group.entity)
            if let field = group.field {
                text += ",\"field\":"
                text.appendJSONString(field)
            }
            text += ",\"count\":\(group.count),\"first\":"
            text.appendJSONString(group.first.description)
            text += "}"
        }
        text += "]"
    }

    private func append(_ list: [String], to text: inout String) {
        text += "["
        for (index, item) in list.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(item)
        }
        text += "]"
    }
}
