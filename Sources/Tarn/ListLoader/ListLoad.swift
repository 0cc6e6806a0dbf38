public import TarnImport

/// A load of a list.
public enum ListLoad: Sendable, Hashable {
    /// The first page, which replaces the list.
    case first
    /// The page after the list.
    case next
    /// The page before the list.
    case previous
    /// All pages that the list has, which replace it together.
    case refresh
}

/// The result of a load.
public enum ListLoadResult: Sendable {
    /// Pages were loaded, with the reports of their imports, and the findings about records that a
    /// complete list lacks, if this load has fetched all of its pages.
    case loaded([ImportReport], orphans: OrphanReport?)
    /// The list has no such page.
    case noPage
    /// Nothing was loaded: the rule prefers another load, or another process has changed the list.
    case skipped
}
