/// The result of a salvage: the contents of the new store, and the losses.
public struct SalvageReport: Sendable {
    /// The number of records of the new store by entity, in catalog order.
    public internal(set) var records: [(entity: String, count: Int)] = []
    /// The number of records that were found on pages outside all trees, by their checksums.
    public internal(set) var found = 0
    /// Whether found records may be outdated or deleted.
    ///
    /// Old pages cannot be distinguished without a readable free list, or if an old page has
    /// overwritten another one.
    public internal(set) var mayBeOld = false
    /// Whether both meta pages are unreadable, and the trees were searched for.
    package internal(set) var hasFoundTrees = false
    /// The unreadable rows and pages, at most the first thousand.
    public internal(set) var lost: [StoreInspector.Damage] = []
    /// The total number of unreadable rows and pages.
    public internal(set) var lostCount = 0
    /// The numbers of records that the damaged store had and the new one lacks, by root entity.
    ///
    /// They include lost records that no page names any more.
    package internal(set) var missing: [(entity: String, count: Int, of: Int)] = []
    /// Whether the new store has the responses and the progress of mirrors.
    ///
    /// They are copied only if nothing was lost. Otherwise the next sync fetches everything again
    /// and restores what is missing. What scans with an orphan rule have listed is always copied.
    public internal(set) var hasProgress = false
    /// The settings that the new store does not have, with the consequences.
    ///
    /// They are no losses in the sense of ``lostCount``: a sync does not bring them back.
    package internal(set) var lostSettings: [(name: String, consequence: String)] = []
    /// The number of stored responses in the new store.
    public internal(set) var responses = 0
    /// The number of marks of records that were changed locally and not yet sent to the server.
    public internal(set) var localChanges = 0
    /// The number of operations of the outbox: local changes that wait to be sent.
    public internal(set) var operations = 0
    /// Whether marks or operations may be among the losses: their tables are missing or incomplete.
    ///
    /// A sync overwrites local changes without a mark and an operation with the server's values.
    public internal(set) var mayLackLocalChanges = false
    /// The lost records that were changed locally, with the changed fields; the changes were not
    /// sent, or the server has not confirmed them.
    public internal(set) var lostLocalChanges: [String] = []
    /// The table of entries whose own table is not known; nil for a store. The other file is then
    /// one of another program, and ``records`` has its tables.
    package internal(set) var lostAndFound: String?
    /// The reason why no read transaction held the damaged file; nil if one did.
    public internal(set) var aloneBecause: String?
    /// The commit sequence of the new store.
    public internal(set) var sequence: UInt64 = 0

    mutating func lose(_ place: String, _ reason: String, isOfPages: Bool = false, count: Int = 1) {
        lostCount += count
        if lost.count < 1000 { lost.append(StoreInspector.Damage(place: place, reason: reason, isOfPages: isOfPages)) }
    }
}
