import TarnStore

/// A follower of a store's change log, which reads what other processes commit.
///
/// It holds no snapshot between two steps, only a descriptor of the file, so it delays neither
/// writers nor the reuse of pages.
package struct ChangeFollower {
    /// An event besides the changes.
    package enum Notice: Sendable, Hashable, CustomStringConvertible {
        /// Changes were trimmed before they were read: those after a commit, up to another one.
        case trimmed(after: UInt64, upTo: UInt64)
        /// The store was restored or replaced: it has another history, of which the changes after a
        /// commit follow.
        case replaced(at: UInt64)
        /// The store does not have the commit after which the follower continues, but only an
        /// earlier one, of which the changes after it follow.
        case ahead(at: UInt64, newest: UInt64)

        package var description: String {
            switch self {
            case .trimmed(let after, let upTo):
                "changes of the commits \(after + 1) to \(upTo) were trimmed from the log before they were read"
            case .replaced(let sequence):
                "the store was replaced or restored: changes after its commit \(sequence) follow"
            case .ahead(let sequence, let newest):
                "the store has no commit \(sequence): changes after its newest commit \(newest) follow"
            }
        }
    }

    private let inspector: StoreInspector
    private let names: [String]?
    /// The newest commit whose changes were read.
    private(set) var sequence: UInt64
    private var incarnation = ""
    private var transaction: UInt64 = 0
    /// The file of the last step: another store may have the same number of transactions.
    private var file: HeldFile?
    /// The reason why no read transaction held the state at the last step; nil if one did.
    package private(set) var aloneBecause: String?

    /// Creates a follower.
    ///
    /// - Parameters:
    ///   - sequence: The commit after which it begins; nil for the newest one.
    ///   - names: Only changes of these entities and of those below them; nil for all.
    /// - Throws: As ``StoreInspector/changes(since:of:limit:damaged:change:)``.
    package init(_ inspector: StoreInspector, since sequence: UInt64?, of names: [String]?) throws {
        (self.inspector, self.names) = (inspector, names)
        let part = try inspector.changes(since: .max, of: names, damaged: { _ in }, change: { _ in })
        self.sequence = sequence ?? part.sequence
        incarnation = part.incarnation
        aloneBecause = part.aloneBecause
    }

    /// Reads what was committed since the last step; without a commit, only the head of the file.
    ///
    /// - Throws: The errors of the closures; otherwise as the initialiser.
    package mutating func step(
        damaged: (StoreInspector.Damage) -> Void, notice: (Notice) -> Void, change: (Change) throws -> Void
    ) throws {
        // The head may be half written: then the question below decides.
        let opened = try? PageFile(opening: inspector.path), now = opened.flatMap { HeldFile(path: $0.path) }
        let newest = try? opened.map { try FileSnapshot.meta(of: $0).0.transaction }
        if let newest, newest == transaction, let now, let file, now.isSame(as: file) { return }
        let part = try inspector.changes(
            of: names,
            since: { part in
                if part.incarnation != incarnation {
                    notice(.replaced(at: part.sequence))
                    incarnation = part.incarnation
                    return part.sequence
                }
                if sequence > part.sequence {
                    notice(.ahead(at: sequence, newest: part.sequence))
                    return part.sequence
                }
                // A commit may be trimmed in part: what is left of it still follows.
                if part.trimmed > sequence { notice(.trimmed(after: sequence, upTo: part.trimmed)) }
                return sequence
            }, damaged: damaged, change: change)
        sequence = part.sequence
        aloneBecause = part.aloneBecause
        (transaction, file) = (newest ?? 0, now)
    }
}
