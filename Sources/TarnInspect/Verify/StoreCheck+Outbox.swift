// The check of the outbox: every operation is readable and found, and the counters fit.

import TarnStore

extension StoreCheck {
    /// Checks the entries of the outbox.
    func checkOutbox() {
        var audit = OutboxAudit(OutboxSchema(catalog)), isWhole = true
        file.forEach(in: TableName.outbox) { key, value in
            switch audit.add(key, value) {
            case .sound: return
            case .malformed:
                isWhole = false
                findings.add(
                    .outboxForm, "outbox \(OutboxEntryKey.describe(key))", "unreadable, or the checksum is wrong")
            case .unknownEntity(let entity):
                isWhole = false
                findings.add(
                    .outboxForm, "outbox \(OutboxEntryKey.describe(key))",
                    "a record of the entity \(entity), which does not exist")
            }
        }
        guard isWhole else { return notCompared.append("the outbox's operations with their index entries") }
        for key in audit.missing {
            findings.add(.outboxMissing, TableName.outbox, "missing entry \(describe(key))")
        }
        for key in audit.extra {
            findings.add(.outboxExtra, TableName.outbox, "an entry that belongs to no operation: \(describe(key))")
        }
        if !audit.hasSoundCounters {
            findings.add(.outboxMissing, "outbox counters", "missing, or they do not fit the operations")
        }
    }

    private func describe(_ key: [UInt8]) -> String { key.withUnsafeBytes { OutboxEntryKey.describe($0) } }
}
