internal import TarnStore

/// The state of the merge of a unit's drafts.
struct UnitMerge: ~Copyable {
    var report = ImportReport()
    var tally: ImportTally
    /// The drafts of deleted records.
    var deletions: [Int] = []
    /// The records whose lists do not count, by root entity and key: their response is older than
    /// the store, or a hook leaves them out.
    var withoutLists: Set<[UInt8]> = []
    /// The body of the current draft as a hook edited it.
    var editedBody = ByteWriter()
    /// The part of the current draft that does not contradict local changes.
    var localBody = ByteWriter()
    /// Whether the store has local changes.
    let hasLocal: Bool
}
