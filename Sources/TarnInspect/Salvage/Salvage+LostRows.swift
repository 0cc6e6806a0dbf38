// Rows on pages that no tree reaches, as a damaged branch leaves them behind.

import TarnStore

extension Salvage {
    /// Salvages the rows of lost pages, identified by their checksums; of two rows of a record, the
    /// newer one. Marks and operations are salvaged, too, if they are certainly of the newest
    /// commit. Then the unreadable rows of these pages are reported.
    func takeRowsOfNoTree() throws {
        let pages = LostPages(file)
        try pages.forEach { page in
            let isCertain = isCertain(page, pages)
            try file.forEachLostNode(of: page) { key, value in
                guard let value, let root = root(ofRow: value, key),
                    EncodedRow.hasValidChecksum(value, table: UInt32(root.id), key: key)
                else { return }
                _ = try take(root, key, value, from: isCertain ? .lostPage : .oldPage)
            }
            try takeOwnRows(ofLostPage: page, isCertain: isCertain)
        }
        try flush()
        if report.found == 0 { report.mayBeOld = false }
        try reportLostRows(of: pages)
    }

    /// Whether a page that no tree reaches has rows of the newest commit only.
    ///
    /// Pages after the last one are of a commit that was not completed. A page with another number
    /// may have been overwritten with an older one.
    private func isCertain(_ page: UInt64, _ pages: LostPages) -> Bool {
        pages.isCertain && !file.snapshot.isFound && page <= file.snapshot.meta.lastPage
            && file.snapshot.file.page(page)?.withView(\.number) == page
    }

    /// Returns the root entity of something that may be a row; nil if it is none.
    private func root(ofRow value: Bytes, _ key: Bytes) -> Catalog.Entity? {
        guard value.count >= RowFormat.headerSize, value[0] == RowFormat.version, !key.isEmpty,
            key.count <= StorageKey.digestLength, let entity = file.catalog.entity(id: value.load(6))
        else { return nil }
        return file.catalog.entity(id: entity.root)
    }

    /// Reports the records of lost pages that the new store does not have.
    private func reportLostRows(of pages: LostPages) throws {
        var suspects: [Suspect] = []
        try pages.forEach { page in
            try collect(page, &suspects)
            if suspects.count > 1000 { try report(&suspects) }
        }
        try report(&suspects)
    }

    /// A row that seems to be unreadable.
    private struct Suspect {
        var record: ListedRecord
        var place: String
        var reason: String
    }

    private func collect(_ page: UInt64, _ suspects: inout [Suspect]) throws {
        // A node does not tell its table: rows beside it do.
        var owner: Catalog.Entity?, bare: [[UInt8]] = [], found: [Suspect] = []
        func suspect(_ root: Catalog.Entity, _ key: Bytes, _ reason: String) {
            found.append(
                Suspect(
                    record: ListedRecord(entity: root.id, storageKey: Array(key)),
                    place: "\(root.name) \(file.describe(key))", reason: "\(reason), on page \(page)"))
        }
        file.forEachLostNode(of: page) { key, value in
            guard let value else { return bare.append(Array(key)) }
            guard let root = root(ofRow: value, key) else { return }
            if EncodedRow.hasValidChecksum(value, table: UInt32(root.id), key: key) {
                owner = root
                suspect(root, key, "undecodable value")
            } else {
                suspect(root, key, "the checksum is wrong")
            }
        }
        if let owner { for key in bare { key.withUnsafeBytes { suspect(owner, $0, "its value is unreadable") } } }
        suspects += found
    }

    private func report(_ suspects: inout [Suspect]) throws {
        guard !suspects.isEmpty else { return }
        let missing = try store.write { writer in try suspects.filter { try !writer.has($0.record) } }
        for suspect in missing { report.lose(suspect.place, suspect.reason) }
        suspects.removeAll(keepingCapacity: true)
    }
}
