// `tarn doctor`: what a sync needs, examined one by one.

import ArgumentParser
import Foundation
import Tarn
import TarnDescription
import TarnInspect

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine what a sync needs: description, file system, store, credentials, server and clock.",
        discussion: """
            Each line is ok, warn or fail, with the way out. Secrets are never shown, and none is sent: the server is \
            asked for its base URL only. The exit code is that of the first failure: 2 for the description, 4 for the \
            credentials, 5 for the server, 6 for the store.

            Examples:
              tarn doctor
              tarn doctor --offline --store forge.tarn       without the server
              tarn doctor --json | jq -r 'select(.verdict != "ok") | .remedy'
            """)

    @OptionGroup var description: DescriptionOption
    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path"))
    var store: String?
    @OptionGroup var base: BaseOption
    @Flag(help: "Do not ask the server.") var offline = false
    @Flag(help: "Print each finding as one JSON object.") var json = false

    func run() async throws {
        var options = Doctor.Options()
        options.file = description.file
        (options.store, options.isOffline) = (store, offline)
        // Without a description, its finding is the reason, and no server is asked.
        options.base = try (try? Description.load(path: description.file)).map { try base.replacements($0) }
        var first: DoctorFinding?
        await Doctor(options).examine(quickCheck: DoctorCommand.quickCheck) { finding in
            json ? Output.json(DoctorCommand.json(finding)) : DoctorCommand.lines(finding).forEach(Output.line)
            // The next examination may take a while.
            Output.flush()
            if finding.verdict == .fail, first == nil { first = finding }
        }
        if let first { throw Failure(DoctorCommand.code(first.subject), "") }
    }

    private static func quickCheck(_ path: String) throws -> [String] {
        try StoreInspector(at: path).statistics().findings.map { "\($0.place): \($0.detail)" }
    }

    private static func code(_ subject: DoctorFinding.Subject) -> Failure.Code {
        switch subject {
        case .versions, .clock: .failed
        case .description: .usage
        case .fileSystem, .space, .store, .quickCheck, .processes: .store
        case .credentials: .credentials
        case .server: .noNetwork
        }
    }

    private static func lines(_ finding: DoctorFinding) -> [String] {
        let subject = finding.subject.rawValue.replacing("_", with: " ")
        let verdict = finding.verdict.rawValue
        let label =
            verdict + String(repeating: " ", count: max(0, 6 - verdict.count))
            + subject + String(repeating: " ", count: max(0, 13 - subject.count))
        return [label + finding.text] + (finding.remedy.map { [String(repeating: " ", count: 19) + "→ " + $0] } ?? [])
    }

    private static func json(_ finding: DoctorFinding) -> String {
        var text = "{\"check\":"
        text.appendJSONString(finding.subject.rawValue)
        text += ",\"verdict\":"
        text.appendJSONString(finding.verdict.rawValue)
        text += ",\"text\":"
        text.appendJSONString(finding.text)
        text += ",\"remedy\":"
        if let remedy = finding.remedy { text.appendJSONString(remedy) } else { text += "null" }
        return text + "}"
    }
}
