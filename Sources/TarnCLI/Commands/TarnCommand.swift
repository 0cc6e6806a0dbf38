// The entry point: parses arguments, runs a command, and maps errors to exit codes.

import ArgumentParser
import Foundation
import Tarn

@main
struct TarnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tarn",
        abstract: "Keep JSON APIs as local records: mirror them, and work with them offline.",
        discussion: """
            A description file (tarn.yaml) declares an API, its records and the endpoints to fetch.

              tarn init https://api.example.org/issues   propose a description from live answers
              tarn login                         sign in once, if the API wants a person
              tarn sync                          fetch, or resume an interrupted sync
              tarn status                        how complete and how old the records are
              tarn fetch issues                  one response, from the store if it is fresh
              tarn import issues saved.json      responses that other programs have fetched
              tarn list Issue --where 'state = open and author.login = ada' --sort 'updatedAt desc'
              tarn search timeout                the records with a text in any field
              tarn count Issue --by state
              tarn related Issue 7 author
              tarn update Issue --where 'id = 7' --set state=closed --send
              tarn push                          send the queued local changes
              tarn changes --follow
              tarn inspect dump forge.tarn | head
              tarn store backup forge.tarn copy.tarn

            Exit codes: 0 done; 1 failed; 2 usage or description; 3 partial success (the rest is committed); \
            4 credentials; 5 no network; 6 store; 7 rate limit; 8 another process syncs or pushes; 9 the store changed while \
            it was read without locks; 130, 143, 129 and 131 interrupted by SIGINT, SIGTERM, SIGHUP and SIGQUIT; 141 the \
            reader of the output has ended.

            `tarn help exit-codes` explains them, `tarn help environment` lists the variables that are read, and \
            `tarn completions bash` makes the Tab key complete commands, entities and fields.
            """,
        version: VersionText.number,
        subcommands: [
            InitCommand.self, SyncCommand.self, StatusCommand.self,
            FetchCommand.self, ImportCommand.self,
            CacheCommand.self,
            ProxyCommand.self, ListCommand.self, GetCommand.self, RelatedCommand.self, SearchCommand.self,
            CountCommand.self, MissingCommand.self, OpenCommand.self,
            ExplainCommand.self, CreateCommand.self, UpdateCommand.self, DeleteCommand.self, PushCommand.self,
            OutboxCommand.self, ChangesCommand.self, WatchCommand.self,
            InspectCommand.self, StoreCommand.self, LoginCommand.self, LogoutCommand.self, CheckCommand.self,
            DoctorCommand.self, CompletionsCommand.self, SchemaCommand.self,
        ])

    // Every message for people begins with the name of the program.
    static var _errorPrefix: String { "tarn: " }

    static func main() async {
        openStandardDescriptors()
        // A file that exceeds `ulimit -f` is then an error with a message (EFBIG).
        signal(SIGXFSZ, SIG_IGN)
        // If the parent ignores it, the system forgets the exit codes of children (waitpid(2)): a
        // program that fails would seem to have succeeded.
        signal(SIGCHLD, SIG_DFL)
        Interrupts.endAtOnce(SIGQUIT)
        DamagedPages.reportSignals()
        Store.reportLongWaits(after: 3, Output.notice)
        let arguments = CommandLine.arguments.dropFirst()
        do {
            try ArgumentBytes.requireUTF8()
            if answered(Array(arguments)) { end(0) }
            try requireHelpTopic(arguments)
            var command = try parseAsRoot()
            // Help pages need none.
            if arguments.first != "help", !arguments.contains(where: { $0 == "--help" || $0 == "-h" }) {
                try Descriptors.require()
            }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Output.finish()
            if hasSessions { await SessionLogin.logOutAll() }
            end(0)
        } catch let failure as Failure {
            if hasSessions { await SessionLogin.logOutAll() }
            end(failure)
        } catch {
            // Errors of ArgumentParser: help and version are successes, all others are usage
            // errors.
            let code = HelpText.exitCode(for: error, of: self)
            guard code != .success else {
                let text = fullMessage(for: error, columns: HelpText.unwrapped)
                let isForTools = arguments.contains { $0.hasPrefix("--experimental") || $0.hasPrefix("--generate") }
                Output.lines(isForTools ? text : HelpText.wrapped(text, columns: HelpText.columns))
                Output.flush()
                end(0)
            }
            if code == .validationFailure {
                let message = usageError(fullMessage(for: error, columns: HelpText.unwrapped), arguments)
                if arguments.first == "sync", arguments.contains("--json") { writeEvent(message) }
                Output.notes(message)
                end(Failure.Code.usage.rawValue)
            }
            if hasSessions { await SessionLogin.logOutAll() }
            end(Failure(error))
        }
    }

    /// Whether a server waits for a logout. Otherwise nothing is suspended: with too few file
    /// descriptors, the runtime cannot begin to.
    private static var hasSessions: Bool { !OpenSessions.ofProcess.isEmpty }

    /// Writes a usage error of `tarn sync --json` as the only event.
    private static func writeEvent(_ message: String) {
        let line = message.split(separator: "\n").first ?? ""
        Output.json(SyncEvents.error(Failure(.usage, String(line.trimmingPrefix("tarn: ")))))
        Output.flush()
    }

    private static func end(_ failure: Failure) -> Never {
        failure.show()
        if failure.code == .interrupted { Interrupts.end() }
        end(failure.code.status)
    }

    /// Answers what ArgumentParser has no part in: the version, help topics and completions.
    private static func answered(_ arguments: [String]) -> Bool {
        switch arguments.first {
        case "--version"? where arguments.count == 1:
            VersionText.lines.forEach(Output.line)
        case "help"? where arguments.count == 2:
            guard let topic = HelpTopic(rawValue: arguments[1]) else { return false }
            Output.lines(HelpText.wrapped(topic.text, columns: HelpText.columns))
        case Completer.argument?:
            Output.lines(Completer.lines(for: arguments).joined(separator: "\n"))
        default: return false
        }
        Output.flush()
        return true
    }

    /// Returns ArgumentParser's message, with a suggestion if a command or an option is unknown.
    private static func usageError(_ message: String, _ arguments: ArraySlice<String>) -> String {
        let text = UsageMessage.text(message, arguments: arguments)
        let advice =
            UsageAdvice.dashedValue(message, arguments)
            ?? CommandOutline.program(along: arguments).flatMap { UsageAdvice.message(arguments, $0) }
        guard let advice else { return text }
        // The first line is ArgumentParser's own message; the usage follows.
        let usage = text.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.hasPrefix("Usage:") }
        return (["tarn: \(advice)"] + usage.map(String.init)).joined(separator: "\n")
    }

    /// Throws a usage error if `help` is given an unknown command.
    ///
    /// ArgumentParser would show the help of the parent command and report success.
    private static func requireHelpTopic(_ arguments: ArraySlice<String>) throws {
        guard arguments.first == "help", let program = CommandOutline.program() else { return }
        var path = "", command = program
        for name in arguments.dropFirst() where !name.hasPrefix("-") {
            guard let subcommand = command.subcommand(name) else {
                var known = command.shownSubcommands.map(\.commandName)
                if path.isEmpty { known += HelpTopic.allCases.map(\.rawValue) }
                guard !known.isEmpty else { throw Failure(.usage, "tarn\(path) has no subcommands") }
                throw Failure(.usage, Spelling.unknown("command", name, among: known))
            }
            path += " \(name)"
            command = subcommand
        }
    }

    /// Opens the standard descriptors that the caller has closed.
    ///
    /// Otherwise the next file that is opened, such as a store, would be read as input, or written
    /// to as output. Reading from such an input, and writing to such an output, still fail.
    private static func openStandardDescriptors() {
        for (descriptor, mode) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
        where fcntl(Int32(descriptor), F_GETFD) < 0 {
            // The lowest free number is used (open(2)).
            _ = open("/dev/null", mode)
        }
    }

    /// Ends the process without exit handlers.
    ///
    /// Those of libraries free memory that threads still use.
    static func end(_ code: Int32) -> Never {
        LeftFolders.removeAll()
        fflush(nil)
        _exit(code)
    }
}
