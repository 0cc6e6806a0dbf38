/// A page that a parameter has led to, with new records among more that the first page has, too.
///
/// The list may be a window of the latest records that has moved, or have more pages.
struct MovedRecords: Sendable {
    /// The parameter.
    var parameter: String
    /// The number of records of the page, and of those that the first page does not have.
    var count: Int, new: Int

    /// A sentence about the records that were seen.
    var description: String {
        "`\(YAMLText.comment(parameter, limit: 40))` leads to \(count == 1 ? "1 record" : "\(count) records"), "
            + "\(new) of them new"
    }
}

extension [MovedRecords] {
    /// Adds a page that a parameter has led to, if it has new records.
    mutating func note(_ parameter: String, _ page: Sample.Page, behind first: Sample.Page, _ lists: [FoundList]) {
        let records = PageReader.identities(page, like: lists)
        let new = records.countOfOthers(than: PageReader.identities(first, like: lists))
        if new > 0 { append(MovedRecords(parameter: parameter, count: records.count, new: new)) }
    }
}
