// `tarn sync`: fetches the endpoints of a description, or resumes the last sync.

import ArgumentParser
import Foundation
import Locking
import Tarn

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Mirror the API into the store: everything, or what changed since the last sync.",
        discussion: """
            Each page is committed with its records, its validators and the progress (or several pages together, if \
            they arrive together or the description declares it). An interrupted sync therefore resumes with the next page, and an unchanged page \
            costs one conditional request. Endpoints and for_each records that the interrupted sync had finished are \
            not requested again; --restart starts from the beginning.

            Examples:
              tarn sync
              tarn sync issues comments                      only these endpoints
              tarn sync --file forge/tarn.yaml --store /var/lib/forge.tarn
              tarn sync --base http://127.0.0.1:8080         through a gateway or a test server
              tarn sync --base people=http://127.0.0.1:8081  of several APIs, this one
              tarn sync --dry-run-orphans                    report what the server no longer lists, but delete nothing
              tarn sync --dry-run                            the first page of each endpoint, without a change
              tarn sync --limit 100                          try a description; the next sync continues
              tarn sync --full                               everything, where `since` would list only changes
              tarn sync --missing                            the targets of references that are not there yet
              tarn sync --watch                              each endpoint when it is due, until interrupted
              tarn sync --watch 15m --quiet                  every 15 minutes, where no schedule is declared
              tarn sync --overlay moved.yaml                 where the API has changed since the description was written
              tarn sync --json | jq -r 'select(.event == "error") | .message'

            On a terminal, each active endpoint has a line of progress; otherwise a line is written every few seconds. \
            NO_COLOR turns colours off. The events of --json are those of the JSON Schema that --events-schema prints.
            """)

    @Argument(help: "Endpoints to sync (default: all).") var endpoints: [String] = []
    @OptionGroup var description: DescriptionOption
    @OptionGroup var scope: SyncScopeOptions
    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path"))
    var store: String?
    @Option(
        help: ArgumentHelp(
            "File with mapping rules that replace those of the description. May be repeated.",
            valueName: "path"))
    var overlay: [String] = []
    @OptionGroup var base: BaseOption
    @Flag(help: "Ignore validators, and fetch everything again.") var refetch = false
    @Flag(help: "Do not resume an interrupted sync: start with the first page of every endpoint.")
    var restart = false
    @Flag(help: "Wait if another process is syncing one of the endpoints.") var wait = false
    @Option(
        help: ArgumentHelp(
            "Write every response to this directory, without secrets, for --replay.", valueName: "directory"))
    var record: String?
    @Option(
        help: ArgumentHelp(
            "Read responses from this directory of recordings instead of the network.", valueName: "directory"))
    var replay: String?
    @Option(help: ArgumentHelp("Pages per commit.", valueName: "pages"))
    var commitEvery: Int?
    @Option(help: "Access to the files of a new store: owner, group or everyone.")
    var permissions = Store.Permissions.owner
    @Option(help: ArgumentHelp("Maximum number of attempts per request.", valueName: "times"))
    var attempts: Int?
    @Flag(help: "Send requests even if the server's rate limit is used up, and forget the stored limit.")
    var ignoreLimits = false
    @Flag(help: "Report records that the server no longer lists, but delete none.") var dryRunOrphans = false
    @Flag(
        help:
            "Print events as JSON lines: pages, progress, diagnostics, errors, at last the summary (--offline: the status)."
    )
    var json = false
    @Flag(help: "Print the JSON Schema of the events of --json, and do nothing else.") var eventsSchema = false
    @Flag(name: .long, help: "Print a line for each page, and the counts of each entity.") var verbose = false
    @Flag(name: [.short, .long], help: "Print only warnings and errors.") var quiet = false

    mutating func validate() throws {
        guard let name = scope.watch?.unknown else { return }
        // `--watch issues` has no time: the name is that of an endpoint.
        endpoints.insert(name, at: 0)
        scope.watch = .scheduled
    }

    func run() async throws {
        if eventsSchema { return Output.lines(SyncEvents.schema) }
        let refused = RefusedAPIs(), tokens = TokenKeeper()
        let display = SyncDisplay(SyncDisplay.form(isQuiet: quiet), isVerbose: verbose)
        let command = self
        let known = DescriptionCache { try command.loadedDescription() }
        do {
            try await scope.repeating(
                known.description(anew:), isQuiet: quiet, display: display, status: statusSource
            ) { names, description in
                try await runSync(names, description, display, refused, tokens)
            }
        } catch {
            let failure = Failure(error, ofOneOf: { try? loadedDescription() })
            // The failures of endpoints are reported before.
            if json, !failure.message.isEmpty { Output.json(SyncEvents.error(failure)) }
            if error is MirrorError { throw failure }
            throw error
        }
    }

    /// The endpoints of the command line; nil for all.
    private var named: Set<String>? { endpoints.isEmpty ? nil : Set(endpoints) }

    /// The source of the endpoints' status for a watch.
    ///
    /// One client serves all calls, so that a command that prints a secret runs once. If the store
    /// is replaced, a new client reads the new one.
    private func statusSource() throws -> (Set<String>?) async throws -> [EndpointStatus] {
        let client = Guarded(try statusClient()), named = named
        return { names in
            let current = try client.withLock { client in
                if client.store.isReplaced { client = try statusClient() }
                return client
            }
            return try await current.status(of: names.map { names in named.map(names.intersection) ?? names } ?? named)
        }
    }

    private func statusClient() throws -> APIClient {
        var description = try loadedDescription()
        if replay != nil { description.changeAPIs { $1.authentication = .none } }
        description.keepCredentials(ofEndpoints: named)
        let store = try open(store ?? description.storePath, description)
        var options = APIClient.Options()
        options.requiresSecrets = requiresSecrets(description)
        return try APIClient(description, store: store, transport: NoTransport(), options: options)
    }

    private func open(_ path: String, _ description: Description) throws -> Store {
        try Failure.ofLocking {
            try Store.open(
                at: path, schema: description.schema, options: Store.Options(permissions: permissions))
        }
    }

    /// Whether a missing secret is an error before any request.
    ///
    /// In a watch over several APIs it ends the endpoints of its own API only.
    private func requiresSecrets(_ description: Description) -> Bool {
        scope.watch == nil || scope.missing || description.furtherAPIs.isEmpty
    }

    /// - Parameters:
    ///   - due: the endpoints that are due; nil for those of the command line.
    ///   - description: the description as it is now.
    ///   - progress: the display of this sync, and of others that are under way.
    ///   - refused: the APIs that have refused their credentials in earlier syncs of a watch.
    ///   - tokens: the access tokens of earlier syncs of a watch.
    private func runSync(
        _ due: Set<String>?, _ description: Description, _ progress: SyncDisplay, _ refused: RefusedAPIs,
        _ tokens: TokenKeeper
    ) async throws {
        let names = due ?? named
        var client = try clientOptions(description)
        client.tokens = tokens
        let options = try mirrorOptions()
        // A dry run makes no store, and an offline one neither.
        let path = store ?? description.storePath, place = try scope.place(of: path)
        defer { place.remove() }
        let store = try open(place.path, description)
        guard record == nil || replay == nil else { throw Failure(.usage, "--record and --replay exclude each other") }
        var own = description
        // Hundreds of APIs are watched each by itself: a sync has a copy of its own ones only.
        if let due { own.keepAPIs(ofEndpoints: due) }
        // A replay needs no credentials, since it sends no requests.
        if replay != nil || scope.offline { own.changeAPIs { $1.authentication = .none } }
        own.keepCredentials(ofEndpoints: scope.missing ? own.endpointsForMissing(names) : names)
        let transports = try transports(description)
        if scope.offline {
            let offline = try APIClient(own, store: store, options: client, transport: transports)
            return try report(offline: try await StatusReport.read(names, offline, own, at: path))
        }
        let events = json ? SyncEvents() : nil
        client.onWait = { wait in
            progress.wait(wait)
            events?.wait(wait)
        }
        let mirror = APIMirror(
            try APIClient(own, store: store, options: client, transport: transports), options: options)
        let report = await sync(names, mirror, progress, events), summary = SyncSummary(report, store)
        refused.note(report)
        let stored = report.isOffline ? try? await statusOfStore(names, own, store, client) : nil
        do {
            try progress.write {
                show(report, summary)
                if !quiet { SyncScopeNotes(report, scope, names, description).lines.forEach(Output.note) }
                try conclude(report, summary, progress, stored)
            }
        } catch let failure as Failure {
            // A watch goes on for the other APIs.
            guard failure.code == .credentials, scope.watch != nil, refused.sparesAny(of: description, named) else {
                throw failure
            }
            throw Failure(.partly, failure.message)
        }
    }

    /// The status of endpoints in the store, without their credentials: only freshness needs these.
    private func statusOfStore(
        _ names: Set<String>?, _ description: Description, _ store: Store, _ options: APIClient.Options
    ) async throws -> StatusReport {
        var own = description
        own.changeAPIs { $1.authentication = .none }
        let client = try APIClient(own, store: store, transport: NoTransport(), options: options)
        return try await StatusReport.read(names, client, own)
    }

    /// Prints the summary of a sync, and its warnings.
    private func show(_ report: SyncReport, _ summary: SyncSummary) {
        if json {
            SyncEvents.conclusion(summary).forEach(Output.json)
        } else if !quiet, report.pages > 0 || report.failures.isEmpty || report.hasFinishedBefore {
            let failed = summary.failedLines
            for (index, line) in summary.lines(isVerbose: verbose).enumerated() {
                failed.contains(index) ? Output.line(line, .red) : Output.line(line)
            }
        }
        Output.flush()
        summary.warnings.forEach(Output.note)
    }

    /// Prints the state of the endpoints in the store.
    ///
    /// - Throws: `Failure` with `.noNetwork` if one of them was never completely synced.
    private func report(offline status: StatusReport) throws {
        let names = status.incomplete
        let failure =
            names.isEmpty
            ? nil : Failure(.noNetwork, "offline: never completely synced: \(names.joined(separator: ", "))")
        if json {
            // The state is the last line, like the summary of a sync.
            if let failure { Output.json(SyncEvents.error(failure)) }
            Output.json(SyncEvents.status(status))
        } else if !quiet {
            status.write(isLocal: false)
        }
        try conclude(failure)
    }

    /// Ends the command with a failure whose event is already written.
    private func conclude(_ failure: Failure?) throws {
        Output.flush()
        guard let failure else { return }
        failure.show()
        throw Failure(failure.code, "")
    }

    /// Returns the description with its overlays, which has all endpoints that are named.
    private func loadedDescription() throws -> Description {
        var description = try description.load()
        for path in overlay { description = try description.applying(overlay: path) }
        if let concurrent = scope.concurrent {
            description.changeAPIs { _, api in
                api.pace.concurrent = concurrent
                api.transport.concurrencyPerHost = concurrent
            }
        }
        if let attempts {
            guard attempts > 0 else { throw Failure(.usage, "--attempts \(attempts): must be at least 1") }
            description.changeAPIs { $1.retry.attempts = attempts }
        }
        for name in endpoints where !description.endpoints.contains(where: { $0.name == name }) {
            let known = description.endpoints.map(\.name)
            let message = "\(description.file): " + Spelling.unknown("endpoint", name, among: known)
            guard scope.watch != nil else { throw Failure(.usage, message) }
            throw Failure(.usage, message + " (a time behind --watch is one such as 30s, 15m, 2h or 1d)")
        }
        return description
    }

    private func clientOptions(_ description: Description) throws -> APIClient.Options {
        var client = APIClient.Options()
        try base.replacements(description).apply(to: &client)
        client.requiresSecrets = requiresSecrets(description)
        client.ignoresLimits = ignoreLimits
        client.recordsTo = record
        return client
    }

    private func mirrorOptions() throws -> APIMirror.Options {
        var options = APIMirror.Options()
        options.refetches = refetch
        options.restarts = restart
        options.waitsForOtherSyncs = wait
        if !quiet {
            options.whenWaiting = { endpoint, processID in
                let process = processID.map { "process \($0)" } ?? "another process"
                Output.note("waiting: \(endpoint): \(process) is syncing it into this store")
                Output.flush()
            }
        }
        options.reportsOrphansOnly = dryRunOrphans
        scope.apply(to: &options)
        if let commitEvery {
            guard commitEvery > 0 else {
                throw Failure(.usage, "--commit-every \(commitEvery): must be at least 1 page")
            }
            options.commitUnit = .pages(commitEvery)
        }
        return options
    }

    /// The transport of each API: the network, or the recordings to replay.
    private typealias Transports = (_ name: String?, APIDescription) -> any Transport

    private func transports(_ description: Description) throws -> Transports {
        guard let replay else { return { CurlTransport($1.transport) } }
        do throws(RecordingError) {
            let first = try FixtureTransport(directory: replay)
            var further: [String: FixtureTransport] = [:]
            for api in description.furtherAPIs {
                further[api.name] = try FixtureTransport(directory: "\(replay)/\(api.name)")
            }
            return { [further] name, _ in name.flatMap { further[$0] } ?? first }
        } catch {
            throw Failure(.usage, "--replay: \(error)")
        }
    }

    /// Syncs with a line of progress; the first interrupt cancels the sync.
    private func sync(
        _ names: Set<String>?, _ mirror: APIMirror, _ progress: SyncDisplay, _ events: SyncEvents?
    ) async -> SyncReport {
        progress.begin()
        let update: @Sendable (SyncProgress) -> Void = { event in
            progress.update(event)
            events?.update(event)
        }
        let task = Task { [scope] in
            await scope.missing ? mirror.syncMissing(names, progress: update) : mirror.sync(names, progress: update)
        }
        // A second interrupt ends the process at once; committed data is safe either way.
        // With --watch, the handler of all syncs cancels this one.
        let interrupts = scope.watch == nil ? Interrupts { task.cancel() } : nil
        let report = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        interrupts?.stop()
        progress.clear()
        return report
    }

    /// - Parameter stored: the status of the endpoints, if no server could be reached.
    private func conclude(
        _ report: SyncReport, _ summary: SyncSummary, _ progress: SyncDisplay, _ stored: StatusReport?
    ) throws {
        guard let first = report.failures.first else { return try conclude(summary.omissionFailure) }
        // An interrupt ends the syncs of all APIs of a watch.
        let isCancelled = report.failures.allSatisfy { if case .cancelled = $0 { true } else { false } }
        let isTold = isCancelled && !progress.isFirst("cancelled")
        let texts = isTold ? [] : report.failureTexts
        for text in texts.prefix(20) { Output.error(text) }
        if texts.count > 20 { Output.error("… and \(countText(texts.count - 20, "more failure"))") }
        // The failures are in the order of the endpoints, which are scanned side by side: the one
        // that stopped the sync may be any of them.
        let codes = Set(report.failures.map { Failure.Code($0) })
        if let end = [Failure.Code.store, .interrupted].first(where: codes.contains) { throw Failure(end, "") }
        if case .busy = first { throw Failure(.busy, "") }
        if report.failures.allSatisfy(\.isLimited) {
            if !quiet {
                Output.note(
                    "committed pages stay; sync again when the limit is over, or now with --ignore-limits"
                )
            }
            throw Failure(.limited, "")
        }
        if report.isOffline {
            if let asOf = stored?.asOf {
                let incomplete = stored?.incomplete ?? []
                Output.note(
                    "offline: the store has the records as of \(asOf)"
                        + (incomplete.isEmpty ? "" : "; never completely synced: \(incomplete.joined(separator: ", "))")
                        + "; `tarn list`, `get` and `related` work")
            }
            throw Failure(.noNetwork, "")
        }
        throw Failure(report.pages > 0 || report.hasFinishedBefore ? .partly : Failure.Code(first), "")
    }
}

extension Store.Permissions: ExpressibleByArgument {}

extension SyncReport {
    /// Whether an earlier run of this sync has finished an endpoint, or the lists of some parents.
    fileprivate var hasFinishedBefore: Bool { endpoints.contains { $0.wasFinished || $0.finishedParents > 0 } }

    /// Whether no server could be reached, and nothing was requested before.
    fileprivate var isOffline: Bool {
        (failures.first?.isUnreachable ?? false) && pages == 0 && !hasFinishedBefore
    }

    /// The texts of all failures, each once; those of credentials name the API, if there are
    /// several.
    fileprivate var failureTexts: [String] {
        var known: Set<String> = []
        return endpoints.flatMap { endpoint in
            endpoint.failures.map { failure in
                guard let api = endpoint.api, failure.isAuthentication else { return failure.description }
                return "\(api): \(failure)"
            }
        }.filter { known.insert($0).inserted }
    }
}
