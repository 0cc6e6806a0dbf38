// The options of `tarn sync` that decide what is requested, and how often.

import ArgumentParser
import Foundation
import Tarn

struct SyncScopeOptions: ParsableArguments {
    @Flag(help: "List everything, also where the description requests only what has changed (`since`).")
    var full = false
    @Option(
        help: ArgumentHelp(
            "Request what has changed since VALUE, instead of since the last sync.", valueName: "value"))
    var since: String?
    @Option(
        help: ArgumentHelp(
            "Stop each list after N records, and each endpoint after N lists; the next sync continues.",
            valueName: "n"))
    var limit: Int?
    @Flag(help: "Request the first page of each endpoint, report what a sync would do, and change nothing.")
    var dryRun = false
    @Flag(help: "Fetch only the records that stored references lead to and that are not in the store.")
    var missing = false
    @Flag(help: "Request nothing: report how complete and how old each endpoint is in the store.")
    var offline = false
    @Option(
        defaultAsFlag: SyncInterval.scheduled, parsing: .next,
        help: ArgumentHelp(
            "Sync each endpoint when it is due, until interrupted: by its schedule, else TIME (30s, 15m, 2h, 1d) after its last complete scan, else when its response is no longer fresh.",
            valueName: "time"))
    var watch: SyncInterval?
    @Option(help: ArgumentHelp("Requests in progress at once (default: from the description).", valueName: "n"))
    var concurrent: Int?

    func validate() throws {
        if let text = watch?.unknown, !SyncInterval.isName(text) {
            throw ValidationError("--watch \(text): \(SyncInterval.expectation)")
        }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if let concurrent, concurrent < 1 { throw ValidationError("--concurrent must be at least 1") }
        if full, since != nil { throw ValidationError("--full and --since exclude each other") }
        if since?.isEmpty == true { throw ValidationError("--since needs a value; --full requests everything") }
        if offline, dryRun || missing || watch != nil {
            throw ValidationError("--offline requests nothing: it excludes --dry-run, --missing and --watch")
        }
        if missing, let watch, watch.seconds == nil {
            throw ValidationError("--missing has no schedule: write a time, as in --watch 15m")
        }
        if dryRun, watch != nil { throw ValidationError("--dry-run and --watch exclude each other") }
    }

    func apply(to options: inout APIMirror.Options) {
        options.isFull = full
        options.since = since
        options.limit = limit
        options.isDryRun = dryRun
        options.isScheduled = watch != nil
    }

    /// The directory of the store: for a dry or offline run without a store, a temporary one.
    func place(of path: String) throws -> StorePlace {
        let files = FileManager.default
        // A store that may not be read is an error.
        let isMissing = access(path + "/data.mdb", F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
        guard dryRun || offline, isMissing else { return StorePlace(path: path, folder: nil) }
        let folder = files.temporaryDirectory.path + "/tarn-dry-run-\(UUID().uuidString)"
        // The directory of temporary files itself is not created: nobody would remove it.
        try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
        LeftFolders.add(folder)
        return StorePlace(path: folder + "/store.tarn", folder: folder)
    }

    /// A store's directory, in a folder that is removed at the end, or elsewhere.
    struct StorePlace {
        let path: String
        fileprivate let folder: String?

        func remove() {
            if let folder { LeftFolders.remove(folder) }
        }
    }

    /// Runs a sync once or, with `--watch`, when endpoints are due, until it is interrupted.
    ///
    /// Failures that may be over by the next time are reported, and the next sync begins as usual.
    /// Endpoints and schedules are those of the description as it is then: a watch looks for
    /// changes of it before each sync.
    ///
    /// - Parameters:
    ///   - description: returns the description as it is now, or was a moment ago; in any case as
    ///     it is now if the argument is true.
    ///   - display: the display of the syncs' progress.
    ///   - status: returns the source of the status of watched endpoints; nil stands for all.
    ///   - sync: syncs endpoints of a description; nil stands for those of the command line.
    func repeating(
        _ description: @escaping (_ anew: Bool) throws -> Description, isQuiet: Bool, display: SyncDisplay,
        status: @escaping () throws -> (Set<String>?) async throws -> [EndpointStatus],
        sync: @escaping (Set<String>?, Description) async throws -> Void
    ) async throws {
        guard let watch else { return try await sync(nil, try description(false)) }
        var timing = SyncTiming()
        timing.interval = watch.seconds
        let isMissing = missing
        try await FollowedTask.run {
            func attempt(_ names: Set<String>?, _ watched: Description?) async throws {
                // A description that is wrong by now ends the watch.
                let current = try description(false)
                // Until the watch has ended after a change, all syncs are of one description.
                let used = watched ?? current
                do { try await sync(names, used) } catch {
                    let failure = Failure(error)
                    // Another process may have changed the schema as a new description declares.
                    let hasChanged = !Task.isCancelled && ((try? description(true)).map { $0 != used } ?? false)
                    guard hasChanged || error is Failure && watch.outlasts(failure.code) else { throw error }
                    if !failure.message.isEmpty { display.write { failure.show() } }
                }
                Output.flush()
            }
            guard !isMissing else {
                // References have no schedule of their own.
                while !Task.isCancelled {
                    try await attempt(nil, nil)
                    do { try await Task.sleep(for: .seconds(watch.seconds ?? timing.floor)) } catch { return }
                }
                return
            }
            var hasChanged = true
            while hasChanged, !Task.isCancelled {
                let known = try description(false)
                hasChanged = try await SyncWatch(known, timing: timing).run(
                    status: try status(), sync: { try await attempt($0, known) },
                    // While it is edited, the file may be invalid. The next sync reports it.
                    isOutdated: { (try? description(false)).map { $0 != known } ?? false }
                ) { until, names in
                    guard !isQuiet else { return }
                    display.write {
                        Output.note("next: \(names.joined(separator: ", ")) at \(until.wholeSeconds(isLocal: false))")
                    }
                    Output.flush()
                }
            }
        }
    }
}

/// The time between two syncs; or none, if schedules and freshness determine it.
struct SyncInterval: ExpressibleByArgument, CustomStringConvertible {
    let seconds: Int?
    /// The text that is no time; nil for a time and for none.
    ///
    /// It is kept, as a text that is refused counts as no value: `--watch=15x` would be `--watch`.
    private(set) var unknown: String?

    /// The forms that are expected instead of a wrong time.
    static let expectation = "expected a time such as 30s, 15m, 2h or 1d, or no value"

    /// By schedules and freshness.
    static let scheduled = SyncInterval(seconds: nil)

    private init(seconds: Int?) { self.seconds = seconds }

    init(argument: String) {
        seconds = DurationText.seconds(argument)
        if seconds == nil { unknown = argument }
    }

    /// Whether a text behind `--watch` may be the name of an endpoint.
    static func isName(_ text: String) -> Bool { text.first.map { !$0.isNumber && $0 != "-" } ?? false }

    var description: String { seconds.map { "\($0)s" } ?? "by schedule and freshness" }

    /// Whether another sync may succeed after a failure without a change of the arguments.
    fileprivate func outlasts(_ code: Failure.Code) -> Bool {
        switch code {
        case .failed, .partly, .noNetwork, .limited, .busy: true
        case .usage, .credentials, .store, .changed, .interrupted: false
        }
    }
}
