// The content of `meta`: format, catalog, dictionaries, marks of indexes.

import TarnStore

extension StoreFile {
    func readSettings() {
        // Without findings at first: another program may have a table of this name.
        if let meta = snapshot.tables[TableName.meta], meta.flags == 0,
            let format = Array("\(MetaKey.format)".utf8).withUnsafeBytes({ snapshot.value($0, in: meta) })
        {
            isStore = format.withUnsafeBytes { StoreFormatVersion.read($0) } != nil
        }
        // Where the version is unreachable, the table names decide.
        isStore = isStore || snapshot.names.count { TableName.all.contains($0) } > 2
        if isStore, snapshot.meta.main.flags != 0 {
            findings.add(
                .tableRecord, "the table of tables",
                "it has the options \(snapshot.meta.main.flags), and a store's has none")
        }
        if isStore { for key in snapshot.ownKeys { findings.add(.tableRecord, key, "it is no table") } }
        var stored: [(key: [UInt8], value: [UInt8])] = []
        forEach(in: TableName.meta, asStored: true) { key, value in stored.append((Array(key), Array(value))) }
        let version = stored.first { String(decoding: $0.key, as: UTF8.self) == "\(MetaKey.format)" }?.value
        foundFormat = version.flatMap { $0.withUnsafeBytes { StoreFormatVersion.read($0) } }
        for (key, value) in stored {
            let name = String(decoding: key, as: UTF8.self)
            let content = key.withUnsafeBytes { key in
                value.withUnsafeBytes { self.content($0, TableName.meta, key).map { Array($0) } }
            }
            guard let content else {
                findings.add(.setting, "meta \(name)", "the checksum is wrong")
                damagedSettings.append(name)
                continue
            }
            settings[name] = content
        }
        takeSettings()
    }

    func takeSettings() {
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            if name.hasPrefix(MetaKey.dictionaryPrefix) {
                let id = UInt16(name.dropFirst(MetaKey.dictionaryPrefix.count)) ?? 0
                if id == 0 || value.count <= 2 || !decoder.add(dictionary: id, Array(value.dropFirst(2))) {
                    findings.add(.dictionary, name, "zstd cannot use it")
                }
            } else if name.hasPrefix(MetaKey.indexPrefix) {
                guard let id = UInt32(name.dropFirst(MetaKey.indexPrefix.count)),
                    let mark = value.withUnsafeBytes({ IndexMark($0) })
                else {
                    findings.add(.setting, name, "it does not say how far the index is")
                    continue
                }
                marks[id] = mark
            }
        }
        guard let text = settings["\(MetaKey.catalog)"] else { return }
        guard let read = text.withUnsafeBytes(StoredCatalog.init) else {
            return findings.add(.catalog, "meta", "the catalog is not the JSON that is expected")
        }
        guard read.isSound || isCatalogDoubtful else {
            return findings.add(.catalog, "meta", "the checksum of the catalog is wrong")
        }
        catalog = read.catalog
        (hasCatalog, isStore) = (true, true)
        for entity in catalog.entities { rules[entity.id] = EntityRules(entity, catalog) }
    }

    /// Returns a number of `meta`; nil if it does not exist or is malformed.
    func number(_ key: StaticString) -> UInt64? {
        guard let value = settings["\(key)"], value.count == 8 else { return nil }
        return value.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func text(_ key: StaticString) -> String? { settings["\(key)"].map { String(decoding: $0, as: UTF8.self) } }

    /// The format version; the newest one if it is unreadable.
    var format: Int { foundFormat ?? Store.format }

    /// Returns the content of a value, without the checksum that some tables store behind it.
    ///
    /// Nil if the value is damaged.
    func content(_ stored: Bytes, _ table: String, _ key: Bytes) -> Bytes? {
        guard let name = checksumName(of: table) else { return stored }
        return ValueChecksum.content(stored, table: name, key: key)
    }

    /// Returns the name of a table in the checksums behind its values; nil if they have none.
    func checksumName(of table: String) -> StaticString? {
        isStore && format >= ChecksummedTable.firstFormat ? StoreFile.checksummed[table] : nil
    }

    /// Whether the values of a table have a checksum behind them since format 3.
    static func isChecksummed(_ table: String) -> Bool { checksummed[table] != nil }

    static let checksummed: [String: StaticString] = [
        TableName.meta: "meta", TableName.requests: "requests", TableName.changes: "changes", TableName.edges: "edges",
        TableName.scans: "scans", TableName.bodies: "bodies",
    ]

    /// A feature of the store that this version of Tarn does not know.
    private var unknownFeature: String? {
        settings["\(MetaKey.features)"]?.withUnsafeBytes { StoreFeature.unknown(in: $0) }.first
    }

    /// The error of a store that a newer version of Tarn has written.
    func newerFormat(_ path: String) -> StoreOpenError {
        guard format <= Store.format, let feature = unknownFeature else {
            return .newerFormat(path: path, found: format, known: Store.format)
        }
        return .unknownFeature(path: path, feature: feature)
    }

    /// The fault of the format version or the catalog; nil if this version of Tarn can read both.
    var formatProblem: Finding? {
        guard snapshot.tables[TableName.meta] != nil else {
            return Finding(
                .noStore, snapshot.file.path,
                "it is a data file of LMDB without the table \(TableName.meta): no store of Tarn")
        }
        guard foundFormat != nil else {
            return Finding(.noStore, "meta", "there is no format version of Tarn, or it is damaged")
        }
        guard format <= Store.format else {
            return Finding(
                .newerFormat, "meta",
                "the store has format \(format) and this version reads up to \(Store.format); use a newer version")
        }
        if let feature = unknownFeature {
            return Finding(
                .newerFormat, "meta",
                "the store uses `\(feature)`, which this version does not know; use a newer version")
        }
        return hasCatalog ? nil : Finding(.catalog, "meta", "there is no catalog that can be read")
    }
}
