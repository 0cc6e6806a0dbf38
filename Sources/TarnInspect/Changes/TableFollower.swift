import LMDBPages
import TarnStore

/// A follower of the tables of a file of another program: which of them a commit has changed.
///
/// It holds no snapshot between two steps, so it delays neither writers nor the reuse of pages.
/// Commits between two steps are seen as one.
package struct TableFollower {
    /// A table that has changed.
    package struct Change: Sendable {
        package enum Kind: String, Sendable { case created, changed, removed }

        /// The transaction of the newest commit, and the number of commits since the last step.
        package var transaction: UInt64, commits: UInt64
        /// The name of the table; nil for the table without a name.
        package var table: String?
        package var kind: Kind
        /// The number of entries, and how many more these are than before.
        package var entries: Int, difference: Int
    }

    private struct State {
        var transaction: UInt64
        var names: [String]
        var tables: TableValues<TableRecord>
        var main: TableRecord
        var ownEntries: Int
    }

    private let inspector: StoreInspector
    /// The tables to report; empty for all.
    private let wanted: [String]
    private var state: State
    /// The file of the last step: another one may have the same number of transactions.
    private var file: HeldFile?
    /// The reason why no read transaction held the state at the last step; nil if one did.
    package private(set) var aloneBecause: String?

    /// Creates a follower that begins after the newest commit.
    ///
    /// - Parameter tables: The tables whose changes are reported, `(main)` for the one without a
    ///   name; empty for all. They need not exist yet.
    /// - Throws: As ``StoreInspector/statistics()``.
    package init(_ inspector: StoreInspector, of tables: [String]) throws {
        (self.inspector, wanted) = (inspector, tables)
        file = TableFollower.heldFile(inspector)
        (state, aloneBecause) = try TableFollower.newest(inspector)
    }

    /// Reads the newest state. Without locks, commits may overtake a read, which is then repeated.
    private static func newest(_ inspector: StoreInspector) throws -> (State, String?) {
        for _ in 0..<10 {
            do {
                return try inspector.open { (TableFollower.state($0), $0.aloneBecause) }
            } catch StoreMaintenanceError.changedMeanwhile {
                continue
            }
        }
        return try inspector.open { (TableFollower.state($0), $0.aloneBecause) }
    }

    private static func heldFile(_ inspector: StoreInspector) -> HeldFile? {
        (try? PageFile(opening: inspector.path)).flatMap { HeldFile(path: $0.path) }
    }

    private static func state(_ file: StoreFile) -> State {
        let snapshot = file.snapshot
        return State(
            transaction: snapshot.meta.transaction, names: snapshot.names, tables: snapshot.tables,
            main: snapshot.meta.main, ownEntries: snapshot.ownEntries)
    }

    /// Compares the tables with those of the last step; without a commit, reads only the head.
    ///
    /// - Parameter replaced: A closure that is called if the file was replaced by another one.
    /// - Throws: The error of `change`; otherwise as the initialiser.
    package mutating func step(replaced: () -> Void, change: (Change) throws -> Void) throws {
        let opened = try? PageFile(opening: inspector.path)
        let newest = try? opened.map { try FileSnapshot.meta(of: $0).0.transaction }
        let now = opened.flatMap { HeldFile(path: $0.path) }
        let isSame = if let now, let file { now.isSame(as: file) } else { false }
        if isSame, newest == state.transaction { return }
        let (next, reason) = try TableFollower.newest(inspector)
        if !isSame || next.transaction < state.transaction { replaced() }
        let former = state
        (state, file, aloneBecause) = (next, now, reason)
        let commits = next.transaction > former.transaction ? next.transaction - former.transaction : 0
        var count = 0
        func report(_ table: String?, _ before: Int?, _ after: Int?) throws {
            count += 1
            guard wanted.isEmpty || wanted.contains(table ?? StoreInspector.mainTable) else { return }
            let (difference, _) = (after ?? 0).subtractingReportingOverflow(before ?? 0)
            try change(
                Change(
                    transaction: next.transaction, commits: commits, table: table,
                    kind: before == nil ? .created : after == nil ? .removed : .changed, entries: after ?? 0,
                    difference: difference))
        }
        for name in next.names {
            let before = former.tables[name], after = next.tables[name]
            guard before != after else { continue }
            try report(name, before.map { Int(clamping: $0.entries) }, after.map { Int(clamping: $0.entries) })
        }
        for name in former.names where next.tables[name] == nil {
            try report(name, former.tables[name].map { Int(clamping: $0.entries) }, nil)
        }
        // A change of any table changes the one without a name, too.
        guard former.ownEntries != next.ownEntries || count == 0 && former.main != next.main else { return }
        try report(nil, former.ownEntries, next.ownEntries)
    }
}
