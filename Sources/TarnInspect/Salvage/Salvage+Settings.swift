// The settings of a store: those that a new store keeps are copied, or reported.

import TarnStore

extension Salvage {
    /// The incarnation that the scopes of responses are hashed with; nil if it is unreadable.
    static func responseOrigin(_ file: StoreFile) -> [UInt8]? {
        let origin = "\(MetaKey.responseOrigin)"
        if file.damagedSettings.contains(origin) { return nil }
        return file.settings[origin] ?? file.settings["\(MetaKey.incarnation)"]
    }

    /// Reports the settings that the new store would keep, but that are unreadable.
    func noteLostSettings() {
        let kept: [(key: StaticString, consequence: String)] = [
            (MetaKey.changeRetention, "the new store has the default retention of changes"),
            (MetaKey.changeValues, "the change log of the new store keeps no values"),
        ]
        func lose(_ key: StaticString, _ consequence: String) {
            report.lostSettings.append(("\(key)", "unreadable: " + consequence))
        }
        // Every store of the newest format has a quota, perhaps of 0.
        let hasQuota = file.settings["\(MetaKey.quota)"] != nil || file.format < ChecksummedTable.firstFormat
        if !hasQuota { lose(MetaKey.quota, "the new store has none") }
        for (key, consequence) in kept where file.damagedSettings.contains("\(key)") { lose(key, consequence) }
        if Salvage.responseOrigin(file) == nil {
            lose(MetaKey.incarnation, "the next sync requests again what was requested with credentials")
        }
        for name in file.damagedSettings where name.hasPrefix(MetaKey.positionPrefix) {
            losePosition(Array(name.utf8), "unreadable")
        }
    }

    /// Copies the positions in the changes of other stores if every record was copied.
    ///
    /// Otherwise their next changes might be of records that the new store lacks.
    func takePositions() throws {
        let prefix = Array(MetaKey.positionPrefix.utf8)
        var positions: [(key: [UInt8], value: [UInt8])] = []
        file.again(TableName.meta) { key, value in
            if key.starts(with: prefix) { positions.append((Array(key), Array(value))) }
        }
        guard report.lostCount == 0 else {
            for (key, _) in positions { losePosition(key, "records are missing") }
            return
        }
        guard !positions.isEmpty else { return }
        try store.write { writer in
            for (key, value) in positions {
                try key.withUnsafeBytes { key in
                    try value.withUnsafeBytes { try writer.restore(TableName.meta, key, $0) }
                }
            }
        }
    }

    private func losePosition(_ key: [UInt8], _ reason: String) {
        let name = key.dropFirst(MetaKey.positionPrefix.utf8.count)
        report.lostSettings.append(
            (
                MetaKey.positionPrefix + Array(name).withUnsafeBytes { RecordKey.describe(storageKey: $0) },
                "\(reason): the new store has no position in the changes of that store"
            ))
    }
}
