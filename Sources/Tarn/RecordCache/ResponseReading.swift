import TarnStore

/// The way to read the records of an answer: in the snapshot in which its response is found, so
/// that they belong together.
struct ResponseReading: Sendable {
    /// Records that were read, with their type.
    struct Records: Sendable {
        var type: ObjectIdentifier
        var values: any Sendable
    }

    /// The type of the records.
    let type: ObjectIdentifier
    private let body: @Sendable ([ListedRecord], StoreReader) throws -> any Sendable

    /// Reads records as structs of a type. Those of other entities are left out.
    init<Value: StoredRecord>(_ type: Value.Type) {
        self.type = ObjectIdentifier(type)
        body = { listed, reader in try reader.records(Value.self, listed: listed) }
    }

    func records(_ listed: [ListedRecord], _ reader: StoreReader) throws -> Records {
        Records(type: type, values: try body(listed, reader))
    }
}
