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
        help: ArgumentHelp(
            "Sync again TIME after the end of each sync, until interrupted: 30s, 15m, 2h, 1d.", valueName: "time"))
    var watch: SyncInterval?
    @Option(help: ArgumentHelp("Requests in progress at once (default: from the description).", valueName: "n"))
    var concurrent: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if let concurrent, concurrent < 1 { throw ValidationError("--concurrent must be at least 1") }
        if full, since != nil { throw ValidationError("--full and --since exclude each other") }
        if since?.isEmpty == true { throw ValidationError("--since needs a value; --full requests everything") }
        if offline, dryRun || missing || watch != nil {
            throw ValidationError("--offline requests nothing: it excludes --dry-run, --missing and --watch")
        }
        if dryRun, watch != nil { throw ValidationError("--dry-run and --watch exclude each other") }
    }

    func apply(to options: inout APIMirror.Options) {
        options.isFull = full
        options.since = since
        options.limit = limit
        options.isDryRun = dryRun
    }

    /// The directory of the store: for a dry run without a store, a temporary one.
    func place(of path: String) throws -> StorePlace {
        let files = FileManager.default
        guard dryRun, !files.fileExists(atPath: path + "/data.mdb") else { return StorePlace(path: path, folder: nil) }
        let folder = files.temporaryDirectory.path + "/tarn-dry-run-\(UUID().uuidString)"
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return StorePlace(path: folder + "/store.tarn", folder: folder)
    }

    /// A store's directory, in a folder that is removed at the end, or elsewhere.
    struct StorePlace {
        let path: String
        fileprivate let folder: String?

        func remove() {
            if let folder { try? FileManager.default.removeItem(atPath: folder) }
        }
    }

    /// Runs a sync once or, with `--watch`, again and again until it is interrupted.
    ///
    /// Failures that may be over by the next time are reported, and the next sync begins as usual.
    func repeating(_ sync: @escaping () async throws -> Void) async throws {
        guard let watch else { return try await sync() }
        try await FollowedTask.run {
            while !Task.isCancelled {
                do { try await sync() } catch let failure as Failure {
                    guard watch.outlasts(failure.code) else { throw failure }
                    if !failure.message.isEmpty { failure.show() }
                }
                Output.flush()
                do { try await Task.sleep(for: watch.duration) } catch { return }
            }
        }
    }
}

/// A time between two syncs.
struct SyncInterval: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let count = Int(argument.dropLast()), count > 0,
            case let (seconds, overflow) = count.multipliedReportingOverflow(by: unit), !overflow,
            seconds <= 366 * 86_400
        else { return nil }
        duration = .seconds(seconds)
    }

    /// Whether another sync may succeed after a failure without a change of the arguments.
    fileprivate func outlasts(_ code: Failure.Code) -> Bool {
        switch code {
        case .failed, .partly, .noNetwork, .limited, .busy: true
        case .usage, .credentials, .store, .changed, .interrupted: false
        }
    }
}
