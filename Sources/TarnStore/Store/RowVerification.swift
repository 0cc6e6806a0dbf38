/// The kinds of reads that verify the checksum of a row.
struct RowVerification: Sendable, Equatable {
    var copied = true, borrowed = false

    static let all = RowVerification(copied: true, borrowed: true)

    init(copied: Bool = true, borrowed: Bool = false) { (self.copied, self.borrowed) = (copied, borrowed) }

    init(_ options: Store.Options) { self.init(copied: options.verifiesRows, borrowed: options.verifiesBorrowedRows) }
}
