// The use of all pages.

import TarnInspect

struct PageUseState: BackgroundState {
    struct Table: Encodable, Sendable {
        var name: String, meaning: String, pages: Int
        var fill: Double, fragmentation: Double
    }

    var phase = "idle"
    var pages = 0
    var total = 0
    var pageSize = 0
    /// The LMDB transaction whose state was read, and the incarnation of the store.
    var transaction = 0, incarnation = ""
    var freePages = 0
    var reusablePages = 0
    var tables: [Table] = []
    /// The table of each part of the file, `(pages)` for free pages, null for pages of nobody.
    var map: [String?] = []
    var pagesPerCell = 1
    var findings: [String] = []
    /// The number of all findings: not all are listed.
    var findingCount = 0
    var failure: String?

    /// The most parts of the map, and the most findings that are shown.
    private static let cells = 2000, findings = 500

    static func scan(_ inspector: StoreInspector, progress: @escaping (Int, Int) -> Void) throws -> PageUseState {
        let use = try inspector.pageUse(cells: cells) { progress($0.pages, $0.total) }
        var state = PageUseState()
        (state.pageSize, state.total) = (use.pageSize, use.usedRange)
        (state.transaction, state.incarnation) = (Int(clamping: use.transaction), use.incarnation)
        (state.freePages, state.reusablePages) = (use.free.pages, use.free.reusable)
        state.tables = use.tables.map {
            Table(
                name: $0.name, meaning: $0.meaning, pages: $0.pages, fill: $0.fill(pageSize: use.pageSize),
                fragmentation: $0.fragmentation)
        }
        (state.map, state.pagesPerCell) = (use.map, use.pagesPerCell)
        state.findingCount = use.findingCount
        state.findings = use.findings.prefix(findings).map { "\($0.place): \($0.detail)" }
        return state
    }
}
