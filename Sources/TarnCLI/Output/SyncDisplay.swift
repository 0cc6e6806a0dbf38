// The progress of requests on standard error: a line for each active endpoint on a terminal, else a
// plain line now and then.

import Foundation
import Locking
import Tarn

final class SyncDisplay: Sendable {
    enum Form {
        case none
        /// For pipes and logs: a line for each endpoint every few seconds, and one for each pause.
        case plain
        /// For a terminal: a line for each active endpoint, drawn over the last ones.
        case lines
    }

    /// The variable with the seconds between plain lines; 0 for none. The default is 5.
    static let intervalVariable = "TARN_PROGRESS_SECONDS"

    /// The least time between two drawings.
    private static let leastInterval = Duration.milliseconds(80)

    private struct State: @unchecked Sendable {
        var rows: [SyncRow] = []
        /// The endpoints whose scans are over: one may be scanned in several rounds.
        var ended: Set<String> = []
        /// The syncs that are under way.
        var syncs = 0
        /// The wait of all requests to an origin.
        var wait: RequestWait?
        var drawn = 0
        var lastDrawing: ContinuousClock.Instant?
        var timer: (any DispatchSourceTimer)?
    }

    private let form: Form
    /// Whether each committed page has a line, too.
    private let isVerbose: Bool
    private let state = Guarded(State())
    private let told = Guarded<Set<String>>([])
    private let queue = DispatchQueue(label: "tarn.progress")

    init(_ form: Form, isVerbose: Bool = false) {
        self.form = form
        self.isVerbose = isVerbose
    }

    /// The form for standard error as it is.
    static func form(isQuiet: Bool) -> Form { isQuiet ? .none : Output.errorIsDrawable ? .lines : .plain }

    /// Returns whether a text was not told before.
    func isFirst(_ text: String) -> Bool { told.withLock { $0.insert(text).inserted } }

    // MARK: Events

    func update(_ progress: SyncProgress) {
        guard form != .none else { return }
        state.withLock { state in
            startTimer(&state)
            state.ended.remove(progress.endpoint)
            if case .end = progress.event {
                state.rows.removeAll { $0.progress.endpoint == progress.endpoint }
                state.ended.insert(progress.endpoint)
            } else if let index = state.rows.firstIndex(where: { $0.progress.endpoint == progress.endpoint }) {
                state.rows[index].update(progress)
            } else {
                state.rows.append(SyncRow(progress))
            }
            if isVerbose, case .page(let page) = progress.event { note(page, of: progress, &state) }
            if form == .lines { draw(&state, isForced: false) }
        }
    }

    /// Writes a line about a page above the lines of the active endpoints.
    private func note(_ page: SyncProgress.Page, of progress: SyncProgress, _ state: inout State) {
        erase(&state)
        Output.note(
            "\(progress.endpoint): page \(progress.pages + progress.resumedPages): \(countText(page.listed, "record")), "
                + (page.isNotModified ? "not modified" : byteText(page.bytes)) + ": \(page.url)")
    }

    /// Shows a pause before a request; short ones are ignored, except for the attempt that follows:
    /// it may take long, too.
    @Sendable func wait(_ wait: RequestWait) {
        let seconds = wait.until.timeIntervalSinceNow
        let least: TimeInterval = [.limit, .process].contains(wait.reason) ? 1 : 5
        guard form != .none, seconds > least || wait.attempt != nil else { return }
        state.withLock { state in
            startTimer(&state)
            let index = state.rows.firstIndex { $0.progress.endpoint == wait.endpoint }
            let known = index.map { state.rows[$0].wait } ?? state.wait
            // Several requests may wait for one limit.
            let isKnown = known.map {
                $0.origin == wait.origin && $0.attempt == wait.attempt
                    && abs($0.until.timeIntervalSince(wait.until)) < 2
            }
            guard isKnown != true else { return }
            if let index { state.rows[index].wait = wait } else { state.wait = wait }
            switch form {
            case .none: break
            case .plain: if seconds > least { Output.note(wait.line(seconds: seconds)) }
            case .lines: draw(&state, isForced: true)
            }
        }
    }

    /// Notes the beginning of a sync.
    func begin() { state.withLock { $0.syncs += 1 } }

    /// Notes the end of a sync, and erases the lines, so that other output begins on a new one.
    func clear() {
        state.withLock { state in
            erase(&state)
            state.syncs = max(0, state.syncs - 1)
            // The lines of another sync appear again.
            guard state.syncs == 0 else { return }
            state.timer?.cancel()
            state.timer = nil
            (state.rows, state.ended, state.wait) = ([], [], nil)
        }
    }

    /// Writes other output, which no line of progress is drawn over.
    func write<Problem: Error>(_ body: () throws(Problem) -> Void) throws(Problem) {
        try state.withLock { (state: inout State) throws(Problem) in
            erase(&state)
            try body()
        }
    }

    private func erase(_ state: inout State) {
        if state.drawn > 0 { Output.draw([], over: state.drawn) }
        state.drawn = 0
        state.lastDrawing = nil
    }

    // MARK: Drawing

    private func startTimer(_ state: inout State) {
        guard state.timer == nil else { return }
        let seconds = ProcessInfo.processInfo.environment[SyncDisplay.intervalVariable].flatMap { Double($0) } ?? 5
        let interval = form == .plain ? min(seconds, 86_400) : 1
        guard interval > 0 else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { [weak self] in self?.tick() }
        state.timer = timer
        timer.resume()
    }

    private func tick() {
        state.withLock { state in
            guard state.timer != nil else { return }
            if form == .lines { return draw(&state, isForced: true) }
            for row in state.rows { Output.note(row.plainLine) }
        }
    }

    private func draw(_ state: inout State, isForced: Bool) {
        let now = ContinuousClock.now
        if !isForced, let last = state.lastDrawing, now - last < SyncDisplay.leastInterval { return }
        state.lastDrawing = now
        let height = max(3, Output.errorHeight - 1), room = height - 2
        let names = state.rows.prefix(room).map { VisibleText.columns(of: VisibleText.line($0.progress.endpoint)) }
        let width = min(24, names.max() ?? 0)
        var lines = state.rows.prefix(room).map { $0.line(nameColumns: width) }
        if state.rows.count > room {
            lines.append(StyledText("… and \(countText(state.rows.count - room, "more active endpoint"))", .faint))
        }
        if let wait = state.wait {
            let seconds = wait.until.timeIntervalSinceNow
            if seconds > 0 {
                lines.append(StyledText(wait.countdown(seconds: seconds), .yellow))
            } else {
                state.wait = nil
            }
        }
        if !state.ended.isEmpty {
            lines.append(StyledText("\(countText(state.ended.count, "endpoint")) done", .faint))
        }
        guard !lines.isEmpty || state.drawn > 0 else { return }
        Output.draw(lines, over: state.drawn)
        state.drawn = lines.count
    }
}
