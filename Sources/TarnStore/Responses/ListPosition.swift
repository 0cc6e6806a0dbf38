/// The position of a page in its list.
package struct ListPosition: Sendable, Hashable {
    /// The number of the page, from 1.
    package var page: Int
    /// The number of records that the previous pages list.
    package var recordsBefore: Int

    /// Creates the position of a page.
    package init(page: Int, recordsBefore: Int) {
        self.page = page
        self.recordsBefore = recordsBefore
    }

    /// Decodes the position of an entry; nil if it is absent or out of range.
    init?(_ row: EncodedRow) {
        guard let page = row.number(ResponseEntry.ID.pageNumber),
            let recordsBefore = row.number(ResponseEntry.ID.recordsBefore),
            (1...Int(Int32.max)).contains(page), (0...1 << 53).contains(recordsBefore)
        else { return nil }
        self.init(page: page, recordsBefore: recordsBefore)
    }
}
