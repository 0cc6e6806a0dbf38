// The entry point: parses arguments, runs a command, and maps errors to exit codes.

import ArgumentParser
import Foundation

@main
struct TarnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tarn",
        abstract: "Keep JSON APIs as local records: mirror them, and work with them offline.",
        discussion: """
            A description file (tarn.yaml) declares an API, its records and the endpoints to fetch.

              tarn init https://api.example.org/issues   propose a description from live answers
              tarn sync                          fetch, or resume an interrupted sync
              tarn status                        how complete and how old the records are
              tarn fetch issues                  one response, from the store if it is fresh
              tarn list Issue --where 'state = open and author.login = ada' --sort 'updatedAt desc'
              tarn search timeout                the records with a text in any field
              tarn count Issue --by state
              tarn related Issue 7 author
              tarn changes --follow
              tarn inspect dump forge.tarn | head
              tarn store backup forge.tarn copy.tarn

            Exit codes: 0 done; 1 failed; 2 usage or description; 3 partial success (the rest is committed); \
            4 credentials; 5 no network; 6 store; 7 rate limit; 8 another sync is running; 9 the store changed while it \
            was read without locks; 130, 143 and 129 interrupted by SIGINT, SIGTERM and SIGHUP.
            """,
        version: "0.1.0",
        subcommands: [
            InitCommand.self, SyncCommand.self, StatusCommand.self, FetchCommand.self, CacheCommand.self, ProxyCommand.self,
            ListCommand.self, GetCommand.self, RelatedCommand.self, SearchCommand.self, CountCommand.self,
            MissingCommand.self, OpenCommand.self,
            ExplainCommand.self, UpdateCommand.self, DeleteCommand.self, ChangesCommand.self, WatchCommand.self,
            InspectCommand.self, StoreCommand.self,
        ])

    static func main() async {
        do {
            try requireHelpTopic(CommandLine.arguments.dropFirst())
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Output.finish()
            end(0)
        } catch let failure as Failure {
            failure.show()
            end(failure.code.status)
        } catch {
            // Errors of ArgumentParser: help and version are successes, all others are usage
            // errors.
            guard exitCode(for: error) != .success else {
                Output.lines(fullMessage(for: error))
                Output.flush()
                end(0)
            }
            if exitCode(for: error) == .validationFailure {
                Output.notes(UsageMessage.text(fullMessage(for: error), arguments: CommandLine.arguments.dropFirst()))
                end(Failure.Code.usage.rawValue)
            }
            let failure = Failure(error)
            failure.show()
            end(failure.code.status)
        }
    }

    /// Throws a usage error if `help` is given an unknown command.
    ///
    /// ArgumentParser would show the help of the parent command and report success.
    private static func requireHelpTopic(_ arguments: ArraySlice<String>) throws {
        guard arguments.first == "help" else { return }
        var path = "tarn", commands = configuration.subcommands
        for name in arguments.dropFirst() where !name.hasPrefix("-") {
            guard let command = commands.first(where: { $0.configuration.commandName == name }) else {
                let known = commands.compactMap { $0.configuration.commandName }.joined(separator: ", ")
                throw Failure(.usage, "\(path) has no command \(name)" + (known.isEmpty ? "" : "; it has \(known)"))
            }
            path += " \(name)"
            commands = command.configuration.subcommands
        }
    }

    /// Ends the process without exit handlers.
    ///
    /// Those of libraries free memory that threads still use.
    private static func end(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}
