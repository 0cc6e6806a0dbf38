// One line on a terminal that changes while a sync is under way.

import Synchronization
import Tarn

final class ProgressLine: Sendable {
    private let isShown: Bool
    private let state = Mutex((endpoint: "", isOpen: false))

    init(isShown: Bool) {
        self.isShown = isShown
    }

    func update(_ progress: SyncProgress) {
        guard isShown else { return }
        state.withLock { state in
            if state.isOpen, state.endpoint != progress.endpoint { Output.progress("\n") }
            state.endpoint = progress.endpoint
            state.isOpen = true
            var text = "\(progress.endpoint): \(progress.pages) pages"
            if progress.notModified > 0 { text += " (\(progress.notModified) not modified)" }
            text += ", \(progress.listed) records"
            if let url = progress.requesting { text += "  … \(url)" }
            // Back to the first column, the text, and the rest of the line erased (ECMA-48, EL).
            Output.progress("\r\(text.prefix(Output.errorWidth - 1))\u{1B}[K")
        }
    }

    /// Ends the line, so that other output begins on a new one.
    func clear() {
        guard isShown else { return }
        state.withLock { state in
            if state.isOpen { Output.progress("\r\u{1B}[K") }
            state.isOpen = false
        }
    }
}
