// Pages that no tree leads to: their entries, and a lost catalog.

import TarnStore

extension StoreFile {
    /// Returns the pages that no scanned tree contains and that are not free.
    ///
    /// If the free list is unreadable, the result is not certain: some of the pages may be old.
    func pagesOfNobody() -> (pages: [UInt64], isCertain: Bool) {
        var scan = scan, free = PageMap()
        let list = snapshot.forEachFreePage(&scan) { _, number in free[number] = 1 }
        let pages = snapshot.file.pagesWithData.joined().filter { scan.pages[$0] == 0 && free[$0] == 0 }
        return (pages, list.isWhole)
    }

    /// Visits each readable entry of a leaf; none if the page is not a leaf.
    func forEachNode(ofLeaf number: UInt64, _ body: (_ node: Int, _ key: Bytes, _ value: Bytes) throws -> Void) rethrows
    {
        guard let page = snapshot.file.page(number) else { return }
        let count = page.withView { $0.isLeaf ? $0.count : 0 }
        for node in 0..<count { try withNode(node, ofLeaf: number) { try body(node, $0, $1) } }
    }

    func withNode(_ index: Int, ofLeaf number: UInt64, _ body: (Bytes, Bytes) throws -> Void) rethrows {
        guard let page = snapshot.file.page(number) else { return }
        try page.withView { page in
            guard index < page.count, let node = page.leafNode(index), !node.key.isEmpty,
                let value = snapshot.value(of: node)
            else { return }
            try value.withUnsafeBytes { try body(node.key, $0) }
        }
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
            forEachNode(ofLeaf: number) { _, key, value in
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
