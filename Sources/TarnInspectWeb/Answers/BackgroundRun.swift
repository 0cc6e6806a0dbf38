// A scan of the whole store, which a request starts and others ask about.

import Foundation
import Locking
import TarnInspect

/// At most one scan of a kind at a time, on a thread of its own.
final class BackgroundRun<State: BackgroundState>: Sendable {
    private let inspector: StoreInspector
    private let current = Guarded(State())

    init(_ inspector: StoreInspector) { self.inspector = inspector }

    /// Returns the state, after it has started a scan if that is wanted and none is running.
    func state(starting: Bool) -> State {
        let (state, starts) = current.withLock { state -> (State, Bool) in
            guard starting, state.phase != "running" else { return (state, false) }
            state = State()
            state.phase = "running"
            return (state, true)
        }
        guard starts, SystemThread.start({ [self] in run() }) != 0 else { return state }
        return current.withLock { state in
            (state.phase, state.failure) = ("failed", SystemThread.refusal)
            return state
        }
    }

    private func run() {
        do {
            var result = try State.scan(inspector) { [current] pages, total in
                current.withLock { ($0.pages, $0.total) = (pages, total) }
            }
            result.phase = "done"
            current.withLock { state in
                result.pages = state.pages
                if result.total == 0 { result.total = state.total }
                state = result
            }
        } catch {
            current.withLock { ($0.phase, $0.failure) = ("failed", "\(error)") }
        }
    }
}

/// The progress and the result of the last scan.
protocol BackgroundState: Encodable, Sendable {
    init()

    /// `idle`, `running`, `done` or `failed`.
    var phase: String { get set }
    var pages: Int { get set }
    var total: Int { get set }
    var failure: String? { get set }

    /// Scans the store.
    ///
    /// - Parameter progress: called with the number of scanned pages, and of all.
    static func scan(_ inspector: StoreInspector, progress: @escaping (Int, Int) -> Void) throws -> Self
}
