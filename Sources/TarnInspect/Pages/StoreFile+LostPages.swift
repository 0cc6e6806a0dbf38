// Pages that no tree leads to: their entries, and a lost catalog.

import LMDBPages
import TarnStore

/// The pages that no scanned tree contains and that are not free.
struct LostPages {
    private let trees: PageMap
    private let free: PageMap
    private let ranges: [Range<UInt64>]
    /// Whether the free list is whole; otherwise some of the pages may be old.
    let isCertain: Bool

    init(_ file: StoreFile) {
        var scan = file.scan, free = PageMap()
        let list = file.snapshot.forEachFreePage(&scan) { _, number in free[number] = 1 }
        (trees, self.free, ranges) = (scan.pages, free, file.snapshot.file.pagesWithData)
        isCertain = list.isWhole && (file.snapshot.meta.freeList.root != nil || !file.snapshot.isFound)
    }

    /// Visits the numbers of the pages.
    func forEach(_ body: (UInt64) throws -> Void) rethrows {
        for number in ranges.joined() where trees[number] == 0 && free[number] == 0 { try body(number) }
    }
}

extension StoreFile {
    /// Visits each node of a page that may be a leaf, whatever its header declares.
    ///
    /// - Parameter body: A closure that is called with the key and the value; nil if the value is
    ///   unreadable.
    func forEachLostNode(of number: UInt64, _ body: (_ key: Bytes, _ value: Bytes?) throws -> Void) rethrows {
        guard let page = snapshot.file.page(number) else { return }
        try page.withView { page in
            guard page.kind == .leaf || page.kind == .other else { return }
            for index in 0..<page.count {
                guard let key = page.key(index), !key.isEmpty else { continue }
                guard let node = page.leafNode(index), let value = snapshot.value(of: node) else {
                    try body(key, nil)
                    continue
                }
                try value.withUnsafeBytes { try body(key, $0) }
            }
        }
    }

    /// Visits each readable entry of a leaf; none if the page is not a leaf.
    private func forEachNode(ofLeaf number: UInt64, _ body: (_ key: Bytes, _ value: Bytes) throws -> Void) rethrows {
        guard let page = snapshot.file.page(number), page.withView(\.isLeaf) else { return }
        try forEachLostNode(of: number) { key, value in if let value { try body(key, value) } }
    }

    /// Searches all pages of the file for the catalog and the dictionaries.
    ///
    /// Overwritten pages keep old content for a while. A catalog with a wrong checksum is better
    /// than none.
    func lookForSettings() {
        var best = settings["\(MetaKey.catalog)"].flatMap { text in
            text.withUnsafeBytes(StoredCatalog.init).map {
                (rank: StoreFile.rank(of: $0), isSound: $0.isSound, text: text)
            }
        }
        var hasChecksum = false
        for number in snapshot.file.pagesWithData.joined() {
            forEachNode(ofLeaf: number) { key, value in
                let name = String(decoding: key, as: UTF8.self)
                let isCatalog = name == "\(MetaKey.catalog)"
                guard isCatalog || name.hasPrefix(MetaKey.dictionaryPrefix) else { return }
                let sound = ValueChecksum.content(value, table: "meta", key: key)
                if isCatalog {
                    // Formats 1 and 2 have no checksum behind the value; in format 3, it has four
                    // bytes.
                    let texts = [sound, value, value.slice(0..<max(0, value.count - ValueChecksum.size))].compactMap(
                        \.self)
                    let readable = texts.lazy.compactMap { text in StoredCatalog(text).map { (bytes: text, stored: $0) }
                    }
                    guard let (text, found) = readable.first else { return }
                    let rank = StoreFile.rank(of: found)
                    if let best, best.rank > rank { return }
                    best = (rank, found.isSound, Array(text))
                    hasChecksum = sound != nil
                } else if let sound, sound.count > 2 {
                    if settings[name] == nil { settings[name] = Array(sound) }
                } else if format < ChecksummedTable.firstFormat, settings[name] == nil, value.count > 2 {
                    settings[name] = Array(value)
                }
            }
        }
        if let best {
            settings["\(MetaKey.catalog)"] = best.text
            isCatalogDoubtful = !best.isSound
            if foundFormat == nil { foundFormat = hasChecksum ? Store.format : ChecksummedTable.firstFormat - 1 }
        }
        takeSettings()
    }

    /// Returns the rank of a catalog: a sound one first, then the newest.
    ///
    /// Ids are never reused, so the newest catalog has the highest ids.
    private static func rank(of stored: StoredCatalog) -> (Int, Int) {
        let catalog = stored.catalog
        let age =
            Int(catalog.nextEntity) + Int(catalog.nextIndex)
            + catalog.entities.reduce(0) { $0 + Int($1.nextField) + $1.fields.count }
        return (stored.isSound ? 1 : 0, age)
    }
}
