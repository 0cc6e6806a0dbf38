// The owners of pages: a small number for each page, without trust in the declared page count.

/// A map from each page to the number of its owner; 0 for pages without one.
struct PageMap {
    private var chunks: [UInt64: [UInt16]] = [:]
    private static let chunkSize: UInt64 = 1024

    /// Returns the last page of the chunk around a page if no page of the chunk has an owner.
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

    /// Assigns a page to an owner, unless it already has one.
    ///
    /// - Returns: The previous owner; nil if there was none.
    mutating func claim(_ page: UInt64, for owner: UInt16) -> UInt16? {
        let holder = self[page]
        guard holder == 0 else { return holder }
        self[page] = owner
        return nil
    }

    /// Adds the pages of another map; `owner` gives each of its owners a number of this map, 0 to
    /// leave a page out.
    ///
    /// - Returns: Whether no page had an owner in both.
    mutating func merge(_ other: PageMap, owner: (UInt16) -> UInt16) -> Bool {
        var areDisjoint = true
        for (number, pages) in other.chunks {
            var merged = chunks[number] ?? Array(repeating: 0, count: pages.count)
            for index in pages.indices where pages[index] != 0 {
                let new = owner(pages[index])
                guard new != 0 else { continue }
                if merged[index] != 0 { areDisjoint = false }
                merged[index] = new
            }
            chunks[number] = merged
        }
        return areDisjoint
    }
}
