// `tarn check`: the description by itself, against the store, and against the server.

import ArgumentParser
import Foundation
import Tarn
import TarnDescription

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the description: by itself, against the store, and with --online against the server.",
        discussion: """
            Shows every problem with its line and column, what the next sync would change in the schema of the store, \
            entities that nothing leads to, endpoints that a sync never requests, and sources without a value, such as \
            @memberName without a *. With --online it fetches the first page of each endpoint into a \
            temporary store (for_each and partitions: of one list), and shows the pagination, JSON that is not mapped, and attributes that no record has. \
            Nothing is changed. The exit code is 0 without errors, and 2 with one; warnings do not count.

            Examples:
              tarn check
              tarn check --online issues                     the first page of one endpoint
              tarn check --file forge/tarn.yaml --json | jq -r .message
            """)

    @Argument(help: "With --online: endpoints to request (default: all).") var endpoints: [String] = []
    @OptionGroup var description: DescriptionOption
    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path"))
    var store: String?
    @Flag(help: "Fetch the first page of each endpoint.") var online = false
    @OptionGroup var base: BaseOption
    @Flag(help: "Print each finding as one JSON object.") var json = false

    func run() async throws {
        guard online || endpoints.isEmpty && base.texts.isEmpty else {
            throw Failure(.usage, "endpoints and --base require --online")
        }
        let check = DescriptionCheck(file: description.file, store: store)
        var report = check.report()
        if online, let valid = report.description {
            let known = valid.endpoints.map(\.name)
            for name in endpoints where !known.contains(name) {
                throw Failure(.usage, "\(valid.file): " + Spelling.unknown("endpoint", name, among: known))
            }
            // An interrupt leaves no temporary store.
            try await FollowedTask.run {
                do {
                    report.findings += try await check.onlineFindings(
                        valid, base: try base.replacements(valid), endpoints: endpoints.isEmpty ? nil : Set(endpoints))
                } catch {
                    // Of the temporary store.
                    throw Failure.withoutImmutable(error)
                }
            }
        }
        for finding in report.findings {
            if json { Output.json(CheckCommand.json(finding)) } else { Output.line(finding.description) }
        }
        if !json { Output.line(summary(report)) }
        if !report.isSound { throw Failure(.usage, "") }
    }

    private func summary(_ report: DescriptionCheck.Report) -> String {
        let counts = [
            countText(report.count(.error), "error"), countText(report.count(.warning), "warning"),
            countText(report.count(.note), "note"),
        ].joined(separator: ", ")
        guard let description = report.description else { return "\(self.description.file): \(counts)" }
        return "\(description.file): \(countText(description.schema.entities.count, "entity", plural: "entities")), "
            + "\(countText(description.endpoints.count, "endpoint")): \(counts)"
            + (report.store.map { "; compared with the store \($0)" } ?? "; there is no store yet")
    }

    private static func json(_ finding: CheckFinding) -> String {
        var text = "{\"severity\":"
        text.appendJSONString(finding.severity.rawValue)
        text += ",\"code\":"
        text.appendJSONString(finding.code.rawValue)
        text += ",\"file\":"
        text.appendJSONString(finding.file)
        if let line = finding.line { text += ",\"line\":\(line)" }
        if let column = finding.column { text += ",\"column\":\(column)" }
        text += ",\"field\":"
        text.appendJSONString(finding.field)
        text += ",\"message\":"
        text.appendJSONString(finding.message)
        return text + "}"
    }
}
