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
    }

    func checkChanges() throws {
        let sequence = file.number(MetaKey.sequence) ?? 0, trimmed = file.number(MetaKey.trimmedChanges) ?? 0
        var newest: [Name: Newest] = [:]
        let before = findings.total
        let isWhole = file.forEach(in: TableName.changes) { key, value in
            changeCount += 1
            let place = key.count == ChangeEntry.keySize ? "change \(position(key))" : "changes"
            guard let entry = ChangeEntry(key, value), entry.values?.isWellFormed ?? true else {
                return findings.add(.changeForm, place, "unreadable")
            }
            highestVersion = max(highestVersion, entry.sequence)
            if entry.sequence > sequence {
                findings.add(.changeExtra, place, "the newest commit of the store is \(sequence)")
            }
            // The first remaining commit may be trimmed in part.
            if entry.sequence < trimmed {
                findings.add(.changeExtra, place, "changes up to commit \(trimmed) were trimmed")
            }
            // The entity of the change was removed.
            guard let entity = catalog.entity(id: entry.entity) else { return }
            newest[Name(entity.root, entry.storageKey)] = Newest(
                sequence: entry.sequence, isDeleted: entry.operation == .delete)
        }
        guard isWhole, incompleteRoots.isEmpty, findings.total == before else {
            return notCompared.append("the change log with the rows: some changes or rows are unreadable")
        }
        try compare(newest, trimmed: trimmed)
    }

    private func position(_ key: Bytes) -> String {
        "\(key.loadBigEndian(0, UInt64.self)).\(key.loadBigEndian(8, UInt32.self))"
    }

    private func compare(_ changes: [Name: Newest], trimmed: UInt64) throws {
        var newest = changes
        for root in catalog.entities where root.root == root.id {
            file.again(TableName.records(root.id)) { key, value in
                guard value.count >= RowFormat.headerSize else { return }
                let version = value.load(12, UInt64.self), entity = catalog.entity(id: value.load(6)) ?? root
                func place() -> String { "\(entity.name) \(RecordKey.describe(storageKey: key))" }
                guard let change = newest.removeValue(forKey: Name(root.id, key)) else {
                    if version > trimmed {
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
