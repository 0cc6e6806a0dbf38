// `tarn status`: how complete and how old the records of each endpoint are. Nothing is requested.

import ArgumentParser
import Foundation
import Tarn

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how complete and how old the records of each endpoint are, and what failed last.",
        discussion: """
            Reads the store only, and works offline. For each endpoint: the last complete scan and its age, how long the \
            first page is fresh by the rules of HTTP, when `tarn sync --watch` scans it next, the \
            position of an interrupted scan, counts, whether the limit of the description left out pages, and the last \
            failure; \
            then the size of the store, and local changes that are not sent.

            Examples:
              tarn status
              tarn status issues comments --local
              tarn status --json | jq '.endpoints[] | select(.state != "complete") | .name'

            The exit code is 0 if every endpoint is complete and its last attempt did not fail, else 3.
            """)

    @Argument(help: "Endpoints to show (default: all).") var endpoints: [String] = []
    @OptionGroup var description: DescriptionOption
    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path"))
    var store: String?
    @Flag(help: "Print one JSON object.") var json = false
    @Flag(name: .customLong("local"), help: "Show times in the local time zone (default: UTC).") var isLocal = false

    func run() async throws {
        var description = try description.load()
        let known = description.endpoints.map(\.name)
        for name in endpoints where !known.contains(name) {
            throw Failure(.usage, "\(description.file): " + Spelling.unknown("endpoint", name, among: known))
        }
        let path = store ?? description.storePath
        // A read-only store takes no locks of writers.
        let store = try Failure.ofLocking { try Store.open(at: path, options: Store.Options(isReadOnly: true)) }
        let names = endpoints.isEmpty ? nil : Set(endpoints)
        // Without the credentials, only the freshness is unknown. A command that prints a secret
        // may ask a person for it.
        let environment = ProcessInfo.processInfo.environment
        let declared = description
        description.changeAPIs { _, api in
            if !api.authentication.isReadable(environment: environment) { api.authentication = .none }
        }
        let client = try APIClient(description, store: store, transport: NoTransport())
        let status = try await StatusReport.read(names, client, declared)
        if json { Output.json(status.json) } else { status.write(isLocal: isLocal) }
        if !status.isGood { throw Failure(.partly, "") }
    }
}
