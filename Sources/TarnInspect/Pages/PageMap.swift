// Who has which page: a small number for each, without believing how many there are.

/// A number for each page; 0 for those that nobody has.
struct PageMap {
    private var chunks: [UInt64: [UInt16]] = [:]
    private static let chunkSize: UInt64 = 1024

    /// The last page of the chunk around one, if nobody has any page of it.
    func emptyChunk(around page: UInt64) -> UInt64? {
        chunks[page / PageMap.chunkSize] == nil ? page | (PageMap.chunkSize - 1) : nil
    }

    subscript(page: UInt64) -> UInt16 {
        get { chunks[page / PageMap.chunkSize]?[Int(page % PageMap.chunkSize)] ?? 0 }
        set {
            chunks[page / PageMap.chunkSize, default: Array(repeating: 0, count: Int(PageMap.chunkSize))][
                Int(page % PageMap.chunkSize)] = newValue
        }
    }

    /// Gives a page to somebody.
    ///
    /// - Returns: who has it already; nil if nobody had.
    mutating func claim(_ page: UInt64, for owner: UInt16) -> UInt16? {
        let holder = self[page]
        guard holder == 0 else { return holder }
        self[page] = owner
        return nil
    }
}
