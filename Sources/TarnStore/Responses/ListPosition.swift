internal import LMDB

/// Where a page is in its list.
public struct ListPosition: Sendable, Hashable {
    /// From 1.
    public var page: Int
    /// How many records the pages before it list.
    public var recordsBefore: Int

    /// A page by its number.
    public init(page: Int, recordsBefore: Int) {
        self.page = page
        self.recordsBefore = recordsBefore
    }

    /// Nil if the row says nothing, or what no page can have.
    init?(_ row: RowView) {
        guard let page = row.number(ResponseEntry.ID.pageNumber),
            let recordsBefore = row.number(ResponseEntry.ID.recordsBefore),
            (1...Int(Int32.max)).contains(page), (0...1 << 53).contains(recordsBefore)
        else { return nil }
        self.init(page: page, recordsBefore: recordsBefore)
    }
}
