internal import LMDB

/// The mark of a local change, as it is stored.
package struct LocalMark {
    package var operation: LocalChange.Operation
    /// The ids of the changed fields, ascending; empty for all fields.
    package var fields: [UInt16]
    var since: Timestamp
    /// The server's values of fields that kept their local value, encoded as in a row's body.
    var server: [(field: UInt16, value: [UInt8])] = []
    package var isGoneAtServer = false
    /// The tuple of the whole key, if the storage key is only its digest.
    var wholeKey: [UInt8]?

    private enum ID {
        static let operation: UInt16 = 1, fields: UInt16 = 2, since: UInt16 = 3, server: UInt16 = 4, isGone: UInt16 = 5
        static let wholeKey: UInt16 = 6, entity: UInt16 = 7
    }

    /// The concrete entity that the caller has named.
    package var entity: UInt16

    init(_ operation: LocalChange.Operation, _ fields: [UInt16], entity: UInt16, since: Timestamp) {
        self.operation = operation
        self.fields = fields
        self.entity = entity
        self.since = since
    }

    package init?(_ row: EncodedRow) {
        guard let operation = row.text(ID.operation).flatMap(LocalChange.Operation.init(rawValue:)),
            let since = row.date(ID.since),
            let entity = row.unsigned(ID.entity).flatMap({ UInt16(exactly: $0) })
        else { return nil }
        self.init(operation, [], entity: entity, since: since)
        if let bytes = row.rawBytes(ID.fields) {
            for offset in stride(from: 0, to: bytes.count - 1, by: 2) { fields.append(bytes.load(offset)) }
        }
        if let bytes = row.rawBytes(ID.server) {
            var offset = 0
            while offset + 6 <= bytes.count {
                let end = offset + 6 + Int(bytes.load(offset + 2, UInt32.self))
                guard end <= bytes.count else { break }
                server.append((bytes.load(offset), Array(bytes.slice(offset + 6..<end))))
                offset = end
            }
        }
        isGoneAtServer = row.number(ID.isGone) == 1
        wholeKey = row.rawBytes(ID.wholeKey).map { Array($0) }
    }

    func store(_ raw: RawTransaction, _ table: Table, _ key: Bytes, sequence: UInt64) throws {
        var row = SystemRowBuilder(), bytes = ByteWriter()
        row.field(ID.operation, operation.rawValue)
        for field in fields { bytes.appendLittleEndian(field) }
        if !fields.isEmpty { row.field(ID.fields, raw: bytes) }
        row.field(ID.since, since)
        bytes.removeAll()
        for (field, value) in server {
            bytes.appendLittleEndian(field)
            bytes.appendLittleEndian(UInt32(value.count))
            bytes.append(value)
        }
        if !server.isEmpty { row.field(ID.server, raw: bytes) }
        if isGoneAtServer { row.field(ID.isGone, 1) }
        if let wholeKey {
            bytes.removeAll()
            bytes.append(wholeKey)
            row.field(ID.wholeKey, raw: bytes)
        }
        row.field(ID.entity, UInt64(entity))
        try row.store(raw, table, key, sequence: sequence)
    }

    /// Returns the names of the fields whose local values a record has; nil if it has none: a
    /// deleted record has no values.
    package func changedFields(_ catalog: Catalog) -> String? {
        guard operation != .delete else { return nil }
        let entity = catalog.entity(id: entity)
        return fields.isEmpty
            ? "all fields" : fields.map { entity?.field(id: $0)?.name ?? "#\($0)" }.joined(separator: ", ")
    }

    /// Returns the change with names and values; nil if the catalog lacks its entity.
    package func change(_ storageKey: Bytes, _ catalog: Catalog) -> LocalChange? {
        guard let entity = catalog.entity(id: entity) else { return nil }
        let key: RecordKey? =
            if let wholeKey { wholeKey.withUnsafeBytes { RecordKey(tuple: $0) } } else {
                RecordKey(reference: storageKey)
            }
        guard let key else { return nil }
        var known: [Record.Field] = []
        for (id, bytes) in server {
            let value = bytes.withUnsafeBytes { EncodedValue($0).decoded() }
            if let value { known.append(Record.Field(entity.field(id: id)?.name ?? "#\(id)", value)) }
        }
        return LocalChange(
            entity: entity.name, key: key, operation: operation,
            fields: fields.map { entity.field(id: $0)?.name ?? "#\($0)" }, since: since, server: known,
            isGoneAtServer: isGoneAtServer)
    }

    /// Whether a field keeps its local value.
    package func covers(_ field: UInt16) -> Bool { fields.isEmpty || fields.contains(field) }

    /// Returns the server's value of a field; nil if no response has brought it since the change.
    func serverValue(of field: UInt16) -> [UInt8]? { server.first { $0.field == field }?.value }

    /// Forgets the server's value of a field.
    ///
    /// - Returns: whether there was one.
    package mutating func forget(_ field: UInt16) -> Bool {
        guard let known = server.firstIndex(where: { $0.field == field }) else { return false }
        server.remove(at: known)
        return true
    }

    /// Stores the server's value of a field.
    ///
    /// - Returns: whether the value is new.
    package mutating func remember(_ field: UInt16, _ value: EncodedValue) -> Bool {
        let bytes = Array(value.bytes)
        guard let known = server.firstIndex(where: { $0.field == field }) else {
            server.append((field, bytes))
            server.sort { $0.field < $1.field }
            return true
        }
        guard server[known].value != bytes else { return false }
        server[known].value = bytes
        return true
    }
}
