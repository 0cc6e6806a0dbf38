// The check of the change log: form, order, and agreement with the rows.

import TarnStore

extension StoreCheck {
    /// The newest entry of a record.
    private struct Newest {
        var sequence: UInt64
        var isDeleted: Bool
    }

    /// The identity of a record in 16 bytes: two hashes with the random seed of this process.
    private struct Name: Hashable {
        private let first: Int, second: Int

        init(_ root: UInt16, _ key: Bytes) {
            var a = Hasher(), b = Hasher()
            a.combine(root)
            a.combine(bytes: key)
            b.combine(bytes: key)
            b.combine(root)
            b.combine(0x7461_726E)
            (first, second) = (a.finalize(), b.finalize())
        }

        /// Returns whether the name is in one of equal parts of all names.
        func isIn(_ part: Int, of parts: Int) -> Bool { UInt(bitPattern: second) % UInt(parts) == UInt(part) }
    }

    /// The result of reading the change log once.
    struct ChangeScan {
        /// Whether every entry is readable and stands where it belongs.
        var isSound = false
        /// The number of entries of entities that exist.
        var count = 0
        /// The changes behind the trimmed ones.
        var named = VersionSet()
        var hasDeletions = false
        /// Whether the records of the first remaining commit have at least its version.
        var isSimple = true
    }

    func checkChanges() throws {
        let scan = scanChanges()
        guard canCompare(scan), !isEveryRecordChangedOnce(scan) else { return }
        let parts = max(1, (scan.count + comparedNames - 1) / comparedNames)
        try compareChanges(scan, parts: 0..<parts, of: parts)
    }

    /// Checks the form and the order of all entries.
    func scanChanges() -> ChangeScan {
        let sequence = file.number(MetaKey.sequence) ?? 0, trimmed = trimmedChanges
        let roots = Dictionary(catalog.entities.map { ($0.id, $0.root) }) { first, _ in first }
        var result = ChangeScan()
        let before = findings.total
        let isWhole = file.forEach(in: TableName.changes) { key, value in
            guard let group = ChangeGroup(key, value), group.allSatisfy({ $0.values?.isWellFormed ?? true }) else {
                changeCount += 1
                let place = key.count == ChangeEntry.keySize ? "change \(position(key))" : "changes"
                return findings.add(.changeForm, place, "unreadable")
            }
            for entry in group { scan(entry) }
        }
        result.isSound = isWhole && findings.total == before
        return result

        func scan(_ entry: ChangeEntry) {
            changeCount += 1
            highestVersion = max(highestVersion, entry.sequence)
            func place() -> String { "change \(entry.sequence).\(entry.ordinal)" }
            if entry.sequence > sequence {
                findings.add(.changeExtra, place(), "the newest commit of the store is \(sequence)")
            }
            // The first remaining commit may be trimmed in part.
            if entry.sequence < trimmed {
                findings.add(.changeExtra, place(), "changes up to commit \(trimmed) were trimmed")
            }
            // The entity of the change was removed.
            guard let root = roots[entry.entity] else { return }
            result.count += 1
            if entry.operation == .delete { result.hasDeletions = true }
            if entry.sequence > trimmed { return result.named.add(root, entry.storageKey, entry.sequence) }
            // Part of this commit may be trimmed: its rows are compared one by one.
            if result.isSimple { result.isSimple = (version(of: entry.storageKey, root) ?? 0) >= trimmed }
        }
    }

    /// Returns whether the change log can be compared with the rows; notes it if not.
    func canCompare(_ scan: ChangeScan) -> Bool {
        if scan.isSound, incompleteRoots.isEmpty { return true }
        notCompared.append("the change log with the rows: some changes or rows are unreadable")
        return false
    }

    /// Returns whether every record was changed once, as after a first import: there is nothing to
    /// compare then.
    func isEveryRecordChangedOnce(_ scan: ChangeScan) -> Bool {
        scan.isSimple && !scan.hasDeletions && scan.named == versions
    }

    /// Compares the newest change of each record with its row, for some of equal parts of names.
    func compareChanges(_ scan: ChangeScan, parts: some Sequence<Int>, of count: Int) throws {
        let roots = Dictionary(catalog.entities.map { ($0.id, $0.root) }) { first, _ in first }
        var newest: [Name: Newest] = [:]
        newest.reserveCapacity(min(scan.count, comparedNames))
        for part in parts {
            newest.removeAll(keepingCapacity: true)
            file.again(TableName.changes) { key, value in
                guard let group = ChangeGroup(key, value) else { return }
                for entry in group {
                    guard let root = roots[entry.entity] else { continue }
                    let name = Name(root, entry.storageKey)
                    guard name.isIn(part, of: count) else { continue }
                    newest[name] = Newest(sequence: entry.sequence, isDeleted: entry.operation == .delete)
                }
            }
            try compare(&newest, part, of: count)
        }
    }

    /// Returns the version in a row; nil if there is no such row.
    private func version(of key: Bytes, _ root: UInt16) -> UInt64? {
        guard hasRecord(key, root), let leaf = lastLeaves[root] else { return nil }
        return leaf.withView { page in
            guard let node = page.leafNode(for: key) else { return nil }
            guard node.overflowPage != nil else { return StoreCheck.version(of: node.stored) }
            return file.snapshot.value(of: node).flatMap { $0.withUnsafeBytes { StoreCheck.version(of: $0) } }
        }
    }

    private static func version(of row: Bytes) -> UInt64? {
        row.count >= RowFormat.headerSize ? row.load(12, UInt64.self) : nil
    }

    private func position(_ key: Bytes) -> String {
        "\(key.loadBigEndian(0, UInt64.self)).\(key.loadBigEndian(8, UInt32.self))"
    }

    private func compare(_ newest: inout [Name: Newest], _ part: Int, of parts: Int) throws {
        for root in catalog.entities where root.root == root.id {
            file.again(TableName.records(root.id)) { key, value in
                guard value.count >= RowFormat.headerSize else { return }
                let name = Name(root.id, key), version = value.load(12, UInt64.self)
                guard name.isIn(part, of: parts) else { return }
                func place() -> String {
                    let entity = catalog.entity(id: value.load(6)) ?? root
                    return "\(entity.name) \(RecordKey.describe(storageKey: key))"
                }
                guard let change = newest.removeValue(forKey: name) else {
                    if version > trimmedChanges {
                        findings.add(
                            .changeMissing, place(), "commit \(version) changed it, but the log has no such change")
                    }
                    return
                }
                if change.isDeleted {
                    findings.add(.changeExtra, place(), "commit \(change.sequence) deleted it, according to the log")
                } else if change.sequence != version {
                    findings.add(
                        change.sequence < version ? .changeMissing : .changeExtra, place(),
                        "its row is of commit \(version), but its last change in the log is of commit \(change.sequence)"
                    )
                }
            }
        }
        for change in newest.values where !change.isDeleted {
            findings.add(
                .changeExtra, "changes", "commit \(change.sequence) created or changed a record that does not exist")
        }
    }
}
