import TarnInspect

/// The numbers of a store.
struct OverviewAnswer: Encodable {
    struct Entity: Encodable { var name: String, records: Int, parent: String? }
    struct Table: Encodable { var name: String, meaning: String, entries: Int, depth: Int, pages: Int, bytes: Int }

    var path: String, incarnation: String, sequence: String
    var fileBytes: Int, pageSize: Int, lastPage: Int, freePages: Int, lastTransaction: Int
    var responses: Int, readers: Int?
    var entities: [Entity], tables: [Table]
    var findings: [String]
    var readWithoutLocks: String?

    init(_ statistics: StoreStatistics) {
        path = statistics.path
        incarnation = statistics.incarnation
        sequence = String(statistics.sequence)
        (fileBytes, pageSize) = (statistics.fileBytes, statistics.pageSize)
        (lastPage, freePages) = (statistics.lastPage, statistics.freePages)
        lastTransaction = statistics.lastTransaction
        (responses, readers) = (statistics.responses, statistics.readers?.used)
        entities = statistics.entities.map { Entity(name: $0.name, records: $0.records, parent: $0.parent) }
        tables = statistics.tables.map {
            Table(
                name: $0.name, meaning: $0.meaning, entries: $0.entries, depth: $0.depth, pages: $0.pages,
                bytes: $0.bytes)
        }
        findings = statistics.findings.map { "\($0.place): \($0.detail)" }
        readWithoutLocks = statistics.aloneBecause
    }
}
