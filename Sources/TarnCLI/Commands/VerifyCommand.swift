// `tarn inspect verify`: checks the consistency of a store.

import ArgumentParser
import Foundation
import TarnInspect

struct VerifyCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every page, row, index entry and counter of a store.",
        discussion: """
            The store may be in use: the check reads one commit and changes nothing. Each finding has a stable code; \
            the page "Operating a store" lists them. The exit code is 0 if the store is sound and 6 if not; it is 9 if \
            the store could not be locked and another process committed meanwhile. `tarn store repair` rebuilds what \
            follows from rows; `tarn inspect salvage` copies the readable records into a new store.

            Examples:
              tarn inspect verify forge.tarn
              tarn inspect verify forge.tarn --json | jq .findings
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Flag(help: "Print the report as one JSON object.") var json = false
    @Flag(help: "Show progress on standard error (default: only on a terminal).") var progress = false

    func run(on inspector: StoreInspector) throws {
        let meter = ProgressMeter(isShown: progress || Output.errorIsDrawable)
        let report = try inspector.verification { meter.show($0.pages, of: $0.total, "pages") }
        meter.clear()
        if json { try Output.json(text(report)) } else { show(report) }
        guard report.isSound else { throw Failure(.store, json ? "" : "\(store): \(summary(report))") }
    }

    private func summary(_ report: StoreVerification) -> String {
        let codes = report.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key.rawValue)" }.joined(
            separator: ", ")
        return report.total == 0
            ? "some parts could not be compared" : "\(countText(report.total, "finding")): \(codes)"
    }

    private func show(_ report: StoreVerification) {
        noteWithoutLocks(store, report.aloneBecause)
        for finding in report.findings { Output.line("\(finding.code.rawValue)  \(finding.place): \(finding.detail)") }
        for (code, count) in report.counts.sorted(by: { $0.key < $1.key }) {
            let shown = report.findings.count { $0.code == code }
            if count > shown { Output.line("\(code.rawValue)  and \(count - shown) more") }
        }
        for part in report.notCompared { Output.line("not compared: \(part)") }
        let records = report.records.reduce(0) { $0 + $1.count }
        Output.line(
            "\(countText(report.pages, "page")) (\(report.freePages) free), \(countText(records, "record")), "
                + "\(countText(report.indexEntries, "index entry", plural: "index entries")), "
                + "\(countText(report.responses, "response")), \(countText(report.changes, "change")), as of commit \(report.sequence)"
                + (report.isSound ? ": sound" : ""))
    }

    private func text(_ report: StoreVerification) throws -> String {
        struct Entry: Encodable { var code, place, detail: String }
        struct Report: Encodable {
            var store: String
            var sound: Bool
            var held: Bool
            var aloneBecause: String?
            var commit, transaction: UInt64
            var pages: UInt64
            var pageSize, freePages: Int
            var records: [String: Int]
            var indexEntries, responses, changes: Int
            var counts: [String: Int]
            var findings: [Entry]
            var notCompared: [String]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(
            Report(
                store: store, sound: report.isSound, held: report.isHeld, aloneBecause: report.aloneBecause,
                commit: report.sequence,
                transaction: report.transaction, pages: report.pages, pageSize: report.pageSize,
                freePages: report.freePages,
                records: Dictionary(report.records.map { ($0.entity, $0.count) }) { first, _ in first },
                indexEntries: report.indexEntries, responses: report.responses, changes: report.changes,
                counts: Dictionary(report.counts.map { ($0.key.rawValue, $0.value) }) { first, _ in first },
                findings: report.findings.map { Entry(code: $0.code.rawValue, place: $0.place, detail: $0.detail) },
                notCompared: report.notCompared))
        return String(decoding: data, as: UTF8.self)
    }
}
