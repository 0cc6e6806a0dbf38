import LMDBPages

/// The bytes of a page that was read from a file.
struct PageBytes {
    private let bytes: [UInt8]

    /// Creates a page; nil if the bytes are too short for a header.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= PageLayout.headerSize else { return nil }
        self.bytes = bytes
    }

    /// Runs the closure with a view of the page, which is valid until it returns.
    func withView<Result>(_ body: (PageView) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { bytes in
            guard let page = PageView(bytes) else { preconditionFailure("the size was checked") }
            return try body(page)
        }
    }
}
