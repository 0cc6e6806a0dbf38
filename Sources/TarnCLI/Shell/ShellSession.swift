// The shell of the inspector: commands about one snapshot of a store.

import ArgumentParser
import Foundation
import Locking
import Tarn
import TarnInspect

/// A session on one file; `.refresh` lets it begin anew on the newest commit.
final class ShellSession {
    private let store: String
    private let outline: CommandOutline
    /// The names of the snapshot, for completions.
    private var names = KnownNames(Catalog())
    /// The highest exit code of the commands so far.
    private(set) var worst: Int32 = 0
    /// Whether Ctrl-C was pressed while a command ran.
    private let interrupted = Guarded(false)
    private lazy var input = makeInput()

    /// The lines that are not commands of the outline.
    private static let dots = [".help", ".refresh", ".exit"]

    init(_ store: String) throws {
        guard let outline = CommandOutline(of: ShellLine.self) else {
            throw Failure(.failed, "the commands of the shell cannot be listed")
        }
        (self.store, self.outline) = (store, outline)
    }

    /// The name of the store in prompts.
    private var name: String { URL(fileURLWithPath: store).lastPathComponent }

    /// Whether a person types the commands.
    var isInteractive: Bool { input.isInteractive }

    /// Runs until the input ends.
    func run() throws {
        try StandardInput.require()
        let sources = input.isInteractive ? [interrupts()] + endings() : []
        defer { sources.forEach { $0.cancel() } }
        let interrupted = interrupted
        var isGoingOn = true, hasBegun = false
        while isGoingOn {
            do {
                isGoingOn = try StoreInspector(at: store).holdingState(isCancelled: { interrupted.withLock { $0 } }) {
                    hasBegun = true
                    return try runOnSnapshot($0)
                }
            } catch {
                guard hasBegun else { throw error }
                // The store may be in the middle of being replaced.
                report(error)
                isGoingOn = waitForRefresh()
            }
        }
    }

    /// Reads lines until one takes a new snapshot.
    ///
    /// - Returns: Whether the session goes on.
    private func waitForRefresh() -> Bool {
        while let line = input.next(prompt: "\(name) (no snapshot; .refresh)>") {
            guard let first = ShellWords(line).words.first, !first.hasPrefix("#") else { continue }
            switch first {
            case ".refresh":
                interrupted.withLock { $0 = false }
                return true
            case ".exit", ".quit", "exit", "quit": return false
            default:
                report(Failure(.store, "\(first): no snapshot: `.refresh` takes one, `.exit` ends the session"))
            }
        }
        return false
    }

    /// Lets Ctrl-C end a running command instead of the process.
    private func interrupts() -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global()), interrupted = interrupted
        source.setEventHandler { interrupted.withLock { $0 = true } }
        source.resume()
        return source
    }

    /// Restores the terminal before a signal ends the process: at the prompt it is in raw mode.
    ///
    /// It waits until the signals are received: before, they would end the process at once.
    private func endings() -> [any DispatchSourceSignal] {
        let received = DispatchSemaphore(value: 0)
        let sources = [SIGTERM, SIGHUP, SIGQUIT].filter { !Interrupts.isIgnored($0) }.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                LineEditor.restoreTerminal()
                _exit(128 + number)
            }
            source.setRegistrationHandler { received.signal() }
            source.resume()
            return source
        }
        for _ in sources { _ = received.wait(timeout: .now() + 5) }
        return sources
    }

    private func makeInput() -> ShellInput {
        guard isatty(STDIN_FILENO) == 1, Output.errorIsTerminal else { return .pipe }
        guard !Output.isDumb else { return .plainTerminal }
        let history = LineHistory(path: LineHistory.path(ProcessInfo.processInfo.environment))
        return .terminal(LineEditor(history: history) { [unowned self] in completions($0) })
    }

    /// Runs lines on one snapshot.
    ///
    /// - Returns: Whether the session goes on with a new one.
    private func runOnSnapshot(_ inspector: StoreInspector) throws -> Bool {
        let statistics = try inspector.statistics()
        noteWithoutLocks(store, statistics.aloneBecause)
        names = (try? KnownNames(inspector.storedCatalog())) ?? KnownNames(Catalog())
        if input.isInteractive {
            let state =
                statistics.incarnation.isEmpty
                ? "transaction \(statistics.lastTransaction)" : "commit \(statistics.sequence)"
            Output.note("\(store): \(state). `.help` lists the commands, `.exit` ends the session.")
        }
        while true {
            let behind = input.isInteractive ? inspector.commitsBehind : 0
            let note = behind > 0 ? " (\(countText(Int(clamping: behind), "commit")) behind; .refresh)" : ""
            guard let line = input.next(prompt: "\(name)\(note)>") else { return false }
            interrupted.withLock { $0 = false }
            let split = ShellWords(line)
            guard let first = split.words.first, !first.hasPrefix("#") else { continue }
            switch first {
            case ".exit", ".quit", "exit", "quit": return false
            case ".refresh": return true
            case ".help", "help": help(split.words.dropFirst().first)
            default: attempt { try run(split, on: inspector) }
            }
            Output.finish()
        }
    }

    // MARK: - Commands

    /// Runs a command, shows its error, and notes its exit code.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch is StoreInspector.Cancelled {
            Output.note("interrupted")
        } catch {
            report(error)
        }
    }

    /// Shows an error, and notes its exit code.
    private func report(_ error: any Error) {
        let failure = Failure(error)
        failure.show()
        worst = max(worst, failure.code.status)
    }

    private func run(_ split: ShellWords, on inspector: StoreInspector) throws {
        guard !split.isOpen else { throw Failure(.usage, "a quotation is not closed") }
        let name = split.words[0]
        guard let command = outline.subcommand(name), name != "help" else {
            let known = outline.shownSubcommands.map(\.commandName).filter { $0 != "help" } + ShellSession.dots
            throw Failure(.usage, Spelling.unknown("command", name, among: known))
        }
        var words = [name, store] + split.words.dropFirst()
        // A pager that is left early would end the session.
        if command.option("--no-pager") != nil { words.append("--no-pager") }
        let parsed: any ParsableCommand
        do {
            parsed = try ShellLine.parseAsRoot(words)
        } catch {
            if HelpText.exitCode(for: error, of: ShellLine.self) == .success { return help(name) }
            let message = ShellLine.message(for: error)
            let advice = UsageAdvice.dashedValue(message, words) ?? UsageAdvice.message(words, outline)
            throw Failure(.usage, advice ?? message)
        }
        guard let command = parsed as? any InspectingCommand else { return help(name) }
        try command.run(on: inspector)
    }

    /// Shows the commands, or the page of one.
    private func help(_ name: String?) {
        if let name, outline.subcommand(name) != nil {
            // The store is the session's own.
            let page = ShellLine.helpMessage(for: command(name), columns: HelpText.unwrapped)
                .replacing("USAGE: shell ", with: "USAGE: ").replacing(" <store>", with: "", maxReplacements: 1)
                .split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("  <store>") }
            return Output.lines(HelpText.wrapped(page.joined(separator: "\n"), columns: HelpText.columns))
        }
        var table = Table(["command", "purpose"])
        for command in outline.shownSubcommands where command.commandName != "help" {
            table.add([command.commandName, command.abstract ?? ""])
        }
        table.add([".help COMMAND", "Show the page of a command."])
        table.add([".refresh", "Take a new snapshot: the newest commit."])
        table.add([".exit", "End the session (Ctrl-D)."])
        table.lines(width: Output.width).forEach { Output.line($0) }
        Output.line("The store is not an argument: `get Issue 7`, `list Issue --where 'state = open'`.")
    }

    private func command(_ name: String) -> any ParsableCommand.Type {
        ShellLine.configuration.subcommands.first { $0.configuration.commandName == name } ?? ShellLine.self
    }

    // MARK: - Completion

    private func completions(_ text: String) -> LineEditor.Completions {
        let split = ShellWords(text)
        var found = LineEditor.Completions(start: split.lastStart)
        var words = split.words
        if split.endsWithBlank { words.append("") }
        (found.typed, found.quote) = (words.last ?? "", split.openQuote)
        guard words.count > 1 else {
            let known = outline.shownSubcommands.map(\.commandName).filter { $0 != "help" } + ShellSession.dots
            found.words = known.filter { $0.hasPrefix(words[0]) }.sorted()
            return found
        }
        if words[0] == ".help" {
            found.words = outline.shownSubcommands.map(\.commandName).filter { $0.hasPrefix(words[1]) }
            return found
        }
        // The store is the first argument of every command.
        words.insert(contentsOf: [store], at: 1)
        let (kind, completions) = Completer.completions(of: ["shell"] + words, outline, names)
        found.words = completions.map(\.text).sorted()
        found.endsWord = kind == .words
        return found
    }
}
