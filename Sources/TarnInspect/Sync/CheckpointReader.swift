// The checkpoints of a file of unknown health.

import TarnStore

/// A reader of checkpoints. Faults become findings of the file.
///
/// The name of a list begins with that of its endpoint, which a space or the end follows. Names of
/// syncs begin with `*`, those of failures with `!` or `?`.
struct CheckpointReader {
    let file: StoreFile

    /// Whether a key is that of a list of an endpoint.
    static func isList(_ key: [UInt8]) -> Bool {
        key.count > 1 && !"*!?".utf8.contains(key[1])
    }

    /// The part of a key up to the end of the endpoint's name.
    static func endpoint(of key: [UInt8]) -> [UInt8] {
        let end = key.dropFirst().firstIndex { $0 == 0 || $0 == UInt8(ascii: " ") } ?? key.endIndex
        return Array(key[..<min(end, StorageKey.longest)])
    }

    /// The interval of the keys of an endpoint's lists.
    ///
    /// - Parameter endpoint: The part of the keys up to the end of the endpoint's name.
    static func lists(of endpoint: [UInt8]) -> KeyInterval {
        // A digest follows a name that is cut.
        guard endpoint.count < StorageKey.longest else { return KeyInterval(prefix: endpoint) }
        return KeyInterval(from: endpoint, below: endpoint + [UInt8(ascii: " ") + 1])
    }

    /// The name that a key has, and whether it is only the beginning of one.
    static func name(_ key: [UInt8]) -> (text: String, isCut: Bool) {
        let name = key.withUnsafeBytes { RecordKey(storageKey: $0) }
        if let name { return (name.description, false) }
        // The code of a text comes before it.
        return (String(decoding: key.dropFirst().prefix(StorageKey.longest - 1), as: UTF8.self), true)
    }

    /// Returns the checkpoint of the current entry; nil after a finding.
    func checkpoint(_ cursor: TableCursor) -> ListProgress? {
        let found = cursor.withEntry { key, value -> ListProgress? in
            let (name, isCut) = CheckpointReader.name(Array(key))
            guard let checkpoint = FileOutbox.row(key, value).flatMap({ Checkpoint($0) }) else {
                file.note(.checkpoint, "checkpoint \(name)", FileOutbox.unreadable)
                return nil
            }
            return ListProgress(name: name, isNameCut: isCut, checkpoint: checkpoint)
        }
        return found ?? nil
    }

    /// Counts the records that the scans of a list have noted.
    func countMembers(of list: inout ListProgress, most: Int) {
        guard let identity = list.checkpoint.members else { return }
        let cursor = TableCursor(file, TableName.scans, in: KeyInterval(prefix: ScanMember.prefix(identity)))
        var count = 0
        while count < most, cursor.next() { count += 1 }
        list.areMembersWhole = count < most && cursor.isWhole
        list.members = count
    }
}
