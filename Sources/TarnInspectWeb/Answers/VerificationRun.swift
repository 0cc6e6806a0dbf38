// A check of the whole store, which a request starts and others ask about.

import Foundation
import Locking
import TarnInspect

/// At most one verification at a time, on a thread of its own.
final class VerificationRun: Sendable {
    /// The progress and the result of the last verification.
    struct State: Encodable, Sendable {
        /// `idle`, `running`, `done` or `failed`.
        var phase = "idle"
        var pages = 0
        var total = 0
        var seconds = 0.0
        var isSound: Bool?
        var findings: [String] = []
        var findingCount = 0
        var records: [String: Int] = [:]
        var failure: String?
    }

    /// The most findings that are shown.
    private static let findings = 500
    private let inspector: StoreInspector
    private let current = Guarded(State())

    init(_ inspector: StoreInspector) { self.inspector = inspector }

    /// Returns the state, after it has started a check if that is wanted and none is running.
    func state(starting: Bool) -> State {
        let (state, starts) = current.withLock { state -> (State, Bool) in
            guard starting, state.phase != "running" else { return (state, false) }
            state = State(phase: "running")
            return (state, true)
        }
        if starts { Thread.detachNewThread { [self] in run() } }
        return state
    }

    private func run() {
        let started = ContinuousClock.now
        do {
            let report = try inspector.verification { [current] progress in
                current.withLock { ($0.pages, $0.total) = (progress.pages, progress.total) }
            }
            current.withLock { state in
                state.phase = "done"
                state.isSound = report.isSound
                state.findings = report.findings.prefix(Self.findings).map {
                    "\($0.code.rawValue) \($0.place): \($0.detail)"
                }
                state.findingCount = report.total
                state.records = Dictionary(report.records.map { ($0.entity, $0.count) }) { first, _ in first }
                state.seconds = (ContinuousClock.now - started) / .seconds(1)
            }
        } catch {
            current.withLock { ($0.phase, $0.failure) = ("failed", "\(error)") }
        }
    }
}
