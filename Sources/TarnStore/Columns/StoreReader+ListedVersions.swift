// The versions of listed records, by which observers detect changes without decoding rows.

extension StoreReader {
    /// Returns the commit of the last change of each listed record; nil for one that is not stored.
    package func versions(of listed: [ListedRecord]) throws -> [UInt64?] {
        var versions: [UInt64?] = []
        versions.reserveCapacity(listed.count)
        for one in listed {
            guard let entity = access.catalog.entity(id: one.entity) else {
                versions.append(nil)
                continue
            }
            versions.append(
                try access.lending {
                    try one.storageKey.withUnsafeBytes { try access.records.row(entity, $0)?.version }
                })
        }
        return versions
    }
}
