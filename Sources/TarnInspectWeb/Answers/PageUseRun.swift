// A scan of all pages, which a request starts and others ask about.

import Foundation
import Locking
import TarnInspect

/// At most one scan of the pages at a time, on a thread of its own.
final class PageUseRun: Sendable {
    struct Table: Encodable, Sendable {
        var name: String, meaning: String, pages: Int
        var fill: Double, fragmentation: Double
    }

    /// The progress and the result of the last scan.
    struct State: Encodable, Sendable {
        /// `idle`, `running`, `done` or `failed`.
        var phase = "idle"
        var pages = 0
        var total = 0
        var pageSize = 0
        /// The LMDB transaction whose state was read.
        var transaction = 0
        var freePages = 0
        var reusablePages = 0
        var tables: [Table] = []
        /// The table of each part of the file, `(pages)` for free pages, null for pages of nobody.
        var map: [String?] = []
        var pagesPerCell = 1
        var findings: [String] = []
        var failure: String?
    }

    /// The most parts of the map.
    private static let cells = 2000
    private let inspector: StoreInspector
    private let current = Guarded(State())

    init(_ inspector: StoreInspector) { self.inspector = inspector }

    /// Returns the state, after it has started a scan if that is wanted and none is running.
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
        do {
            let use = try inspector.pageUse(cells: Self.cells) { [current] progress in
                current.withLock { ($0.pages, $0.total) = (progress.pages, progress.total) }
            }
            current.withLock { state in
                state.phase = "done"
                (state.pageSize, state.total) = (use.pageSize, use.usedRange)
                state.transaction = Int(clamping: use.transaction)
                (state.freePages, state.reusablePages) = (use.free.pages, use.free.reusable)
                state.tables = use.tables.map {
                    Table(
                        name: $0.name, meaning: $0.meaning, pages: $0.pages, fill: $0.fill(pageSize: use.pageSize),
                        fragmentation: $0.fragmentation)
                }
                (state.map, state.pagesPerCell) = (use.map, use.pagesPerCell)
                state.findings = use.findings.prefix(500).map { "\($0.place): \($0.detail)" }
            }
        } catch {
            current.withLock { ($0.phase, $0.failure) = ("failed", "\(error)") }
        }
    }
}
