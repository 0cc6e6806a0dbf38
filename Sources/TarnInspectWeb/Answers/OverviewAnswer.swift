import TarnInspect
import TarnStore

/// The numbers of a store.
struct OverviewAnswer: Encodable {
    struct Table: Encodable { var name: String, meaning: String, entries: Int, depth: Int, pages: Int, bytes: Int }

    var path: String, incarnation: String, sequence: String
    var fileBytes: Int, pageSize: Int, lastPage: Int, freePages: Int, lastTransaction: Int
    var responses: Int, readers: Int?
    /// The numbers of operations in the outbox; nil if they are unreadable, or if there is none.
    var outbox: OutboxNumbers?, hasOutbox: Bool
    var entities: [EntitySize], tables: [Table]
    var findings: [String]
    var readWithoutLocks: String?

    init(_ statistics: StoreStatistics, _ catalog: Catalog) {
        path = statistics.path
        incarnation = statistics.incarnation
        sequence = String(statistics.sequence)
        (fileBytes, pageSize) = (statistics.fileBytes, statistics.pageSize)
        (lastPage, freePages) = (statistics.lastPage, statistics.freePages)
        lastTransaction = statistics.lastTransaction
        (responses, readers) = (statistics.responses, statistics.readers?.used)
        outbox = statistics.outbox.map(OutboxNumbers.init)
        // A table of this name in a file of another program is none.
        hasOutbox = !statistics.incarnation.isEmpty && statistics.tables.contains { $0.name == TableName.outbox }
        entities = EntitySize.all(statistics, catalog)
        tables = statistics.tables.map {
            Table(
                name: $0.name, meaning: $0.meaning, entries: $0.entries, depth: $0.depth, pages: $0.pages,
                bytes: $0.bytes)
        }
        findings = statistics.findings.map { "\($0.place): \($0.detail)" }
        readWithoutLocks = statistics.aloneBecause
    }
}
