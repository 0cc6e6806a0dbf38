// Record types of the same shape for several tables: GRDB asks a type for its table, not a record.

import GRDB

/// A record of the table with that number among all entities of all shapes.
private struct PeerTableRecord<let number: Int, Values: Encodable>: Encodable, PersistableRecord {
    static var databaseTableName: String { PeerTable.names[number] }
    let values: Values

    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}

enum PeerTable {
    fileprivate static let names = Shape.wide.entities + Shape.deep.entities + Shape.small.entities

    /// `record.upsert(db)` of records of a table.
    static func upsert<Values: Encodable>(_ type: Values.Type, into table: String) throws -> (Values, Database) throws -> Void {
        func of<let number: Int>(_ type: PeerTableRecord<number, Values>.Type) -> (Values, Database) throws -> Void {
            { try PeerTableRecord<number, Values>(values: $0).upsert($1) }
        }
        let all = [
            of(PeerTableRecord<0, Values>.self), of(PeerTableRecord<1, Values>.self), of(PeerTableRecord<2, Values>.self),
            of(PeerTableRecord<3, Values>.self), of(PeerTableRecord<4, Values>.self), of(PeerTableRecord<5, Values>.self),
            of(PeerTableRecord<6, Values>.self), of(PeerTableRecord<7, Values>.self), of(PeerTableRecord<8, Values>.self),
            of(PeerTableRecord<9, Values>.self), of(PeerTableRecord<10, Values>.self), of(PeerTableRecord<11, Values>.self),
            of(PeerTableRecord<12, Values>.self), of(PeerTableRecord<13, Values>.self), of(PeerTableRecord<14, Values>.self),
            of(PeerTableRecord<15, Values>.self), of(PeerTableRecord<16, Values>.self), of(PeerTableRecord<17, Values>.self),
            of(PeerTableRecord<18, Values>.self), of(PeerTableRecord<19, Values>.self), of(PeerTableRecord<20, Values>.self),
            of(PeerTableRecord<21, Values>.self), of(PeerTableRecord<22, Values>.self), of(PeerTableRecord<23, Values>.self),
            of(PeerTableRecord<24, Values>.self), of(PeerTableRecord<25, Values>.self), of(PeerTableRecord<26, Values>.self),
            of(PeerTableRecord<27, Values>.self), of(PeerTableRecord<28, Values>.self),
        ]
        guard let place = names.firstIndex(of: table), place < all.count else { throw BenchmarkError("there is no table \(table)") }
        return all[place]
    }
}

/// A record of `import.deep` and `import.small` as it is stored.
struct PeerTreeRow: Encodable {
    let record: PeerTreeRecord
    let parent: Int64?

    init(_ record: PeerTreeRecord, parent: Int64?) {
        self.record = record
        self.parent = parent
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, description, url, state, position, score
        case isArchived = "is_archived"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case parent = "parent_id"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(record.id, forKey: .id)
        try values.encode(record.name, forKey: .name)
        try values.encode(record.description, forKey: .description)
        try values.encode(record.url, forKey: .url)
        try values.encode(record.state, forKey: .state)
        try values.encode(record.position, forKey: .position)
        try values.encode(record.score, forKey: .score)
        try values.encode(record.isArchived, forKey: .isArchived)
        try values.encode(record.createdAt, forKey: .createdAt)
        try values.encode(record.updatedAt, forKey: .updatedAt)
        try values.encode(parent, forKey: .parent)
    }
}
