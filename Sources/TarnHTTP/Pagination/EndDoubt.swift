/// The reason why a list may go on behind the page at which its scan has ended.
package enum EndDoubt: Sendable, Hashable {
    /// The last page has no records, although the page before names it.
    ///
    /// The last page of some lists is empty. Another one may have been lost.
    case emptyPage
    /// The server refuses the page behind a full one, with a status that a rule takes for the end.
    case refusal(status: Int)
    /// A rule for responses passes over the page behind a full one, or one that the pages before
    /// show the list to have.
    case ignored(status: Int)
    /// The list ends at a declared total that may be the most that the server counts: a round one,
    /// at a full page, or one that is declared a lower limit.
    case cappedTotal(name: String, count: Int)
    /// The pages have as many records as the list declares, and fewer different ones: records have
    /// moved between pages, or share their keys.
    case repeatedRecords(name: String, total: Int, different: Int)
    /// The declared total has become smaller during the scan of a list whose pages are counted:
    /// behind a record that was deleted, others have moved, perhaps to pages that were read before.
    case smallerTotal(name: String, before: Int, total: Int)
    /// Only the end of the connection ends the lines of a response: it may have ended too early,
    /// between two lines.
    case openEnd

    /// Whether the end counts if the next scan finds it again: some lists always have an empty page
    /// behind them, or a record twice. A limit of the server is found again, too.
    package var countsIfRepeated: Bool {
        switch self {
        case .emptyPage, .repeatedRecords, .smallerTotal: true
        case .refusal, .ignored, .cappedTotal, .openEnd: false
        }
    }

    /// The finding, as a clause.
    package var finding: String {
        switch self {
        case .emptyPage: "the last page has no records, although the page before names it"
        case .refusal(let status):
            "the server refuses what is behind a full page (\(status)), and `then: stop` takes that for the end of the list"
        case .ignored(let status):
            "`then: ignore` passes over a page (\(status)) behind one that does not look like the last"
        case .cappedTotal(let name, let count):
            "the list ends at `\(name)`: \(count), which may be the most that the server counts"
        case .repeatedRecords(let name, let total, let different):
            "`\(name)` is \(total), and the pages have \(different) different records"
        case .smallerTotal(let name, let before, let total):
            "`\(name)` has fallen from \(before) to \(total) during the scan: records may have moved to pages that "
                + "were read before"
        case .openEnd: "the lines of the response have no length, and the connection may have ended between two of them"
        }
    }

    /// The way out, as a clause.
    package var wayOut: String {
        switch self {
        case .emptyPage: "if that is usual, write more: ignore"
        case .refusal:
            "if the list ends there, write more: ignore; if the server refuses deep pages, write restart, or request "
                + "smaller lists (partitions)"
        case .ignored:
            "if the list ends there, write then: stop and more: ignore; if not, remove the rule: then the refusal is an error"
        case .cappedTotal(let name, _):
            "if the list has so many records, write more: { ignore: ['\(name)'] }; if not, leave total out under paginate"
        case .repeatedRecords(let name, _, _):
            "if records have moved between pages, sync again; if different records have the same key, add what tells "
                + "them apart to the key of the entity; if the server lists records twice, write "
                + "more: { ignore: ['\(name)'] }"
        case .smallerTotal(let name, _, _):
            "if records were deleted, sync again; if the number is none of the records, write "
                + "more: { ignore: ['\(name)'] }"
        case .openEnd:
            "if its responses are always whole, write more: ignore; the server should send Content-Length, or chunks"
        }
    }
}
