// The progress of requests on standard error: an updated line on a terminal, or the pauses only.

import Foundation
import Locking
import Tarn

final class ProgressLine: Sendable {
    enum Form {
        case none
        /// For pipes and logs: one line for each pause.
        case waitsOnly
        /// For a terminal: pages, records and a countdown of pauses.
        case line
    }

    private struct State: @unchecked Sendable {
        var endpoint = ""
        var isOpen = false
        var wait: RequestWait?
        /// The timer of the countdown, once a second.
        var timer: (any DispatchSourceTimer)?
    }

    private let form: Form
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "tarn.progress")

    init(_ form: Form) {
        self.form = form
    }

    func update(_ progress: SyncProgress) {
        guard case .line = form else { return }
        state.withLock { state in
            if state.isOpen, state.endpoint != progress.endpoint { Output.keepProgress() }
            state.endpoint = progress.endpoint
            state.isOpen = true
            var text = "\(progress.endpoint): \(countText(progress.pages, "page"))"
            if progress.notModified > 0 { text += " (\(progress.notModified) not modified)" }
            text += ", \(countText(progress.listed, "record"))"
            if let url = progress.requesting { text += "  … \(url)" }
            Output.progress(text)
        }
    }

    /// Shows a pause before a request; short ones are ignored.
    @Sendable func wait(_ wait: RequestWait) {
        let seconds = wait.until.timeIntervalSinceNow
        guard seconds > (wait.reason == .limit ? 1 : 5) else { return }
        state.withLock { state in
            // Several requests may wait for one limit.
            if let known = state.wait, known.origin == wait.origin, abs(known.until.timeIntervalSince(wait.until)) < 2 {
                return
            }
            state.wait = wait
            switch form {
            case .none: break
            case .waitsOnly:
                Output.note("waiting \(Int(seconds.rounded(.up))) s, until \(HTTPDate.text(wait.until)): \(wait.text)")
            case .line:
                if state.timer == nil { state.timer = countdown() }
                show(wait)
                state.isOpen = true
            }
        }
    }

    private func show(_ wait: RequestWait) {
        Output.progress("waiting \(max(1, Int(wait.until.timeIntervalSinceNow.rounded(.up)))) s: \(wait.text)")
    }

    private func countdown() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 1, repeating: 1)
        timer.setEventHandler { [weak self] in
            self?.state.withLock { state in
                guard let wait = state.wait, wait.until.timeIntervalSinceNow > 0 else {
                    state.timer?.cancel()
                    state.timer = nil
                    return
                }
                self?.show(wait)
            }
        }
        timer.resume()
        return timer
    }

    /// Clears the line, so that other output begins on a new one.
    func clear() {
        state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
            if state.isOpen { Output.progress("") }
            state.isOpen = false
        }
    }
}

extension RequestWait {
    fileprivate var text: String {
        switch reason {
        case .limit: "the rate limit of \(origin) is used up"
        case .pace: "the request pace for \(origin)"
        case .retry: "next attempt at \(origin)"
        }
    }
}
