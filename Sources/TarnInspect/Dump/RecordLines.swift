import TarnStore

/// The writer of the lines of a dump, from the bytes of rows: no value is copied first.
///
/// Its lines are those of `StoreInspector.json(_:_:)` for the same records.
final class RecordLines {
    /// The parts of a line that all records of an entity have.
    private final class Kind {
        let entity: Catalog.Entity
        let head: [UInt8]
        /// The ids of the fields, in the order of the catalog.
        let ids: [UInt16]
        let fields: [Catalog.Field]
        /// `,"name":` for each field.
        let members: [[UInt8]]
        let removed: Set<UInt16>

        init(_ entity: Catalog.Entity, _ file: StoreFile) {
            self.entity = entity
            var head = "{\"entity\":"
            head.appendJSONString(entity.name)
            self.head = Array((head + ",\"key\":").utf8)
            var fields: [Catalog.Field] = []
            // Only a damaged catalog has two fields of one id: the first one counts.
            for field in entity.fields where !fields.contains(where: { $0.id == field.id }) { fields.append(field) }
            self.fields = fields
            ids = fields.map(\.id)
            members = fields.map { RecordLines.member($0.name) }
            removed = file.removedFields(of: entity.id)
        }
    }

    private let file: StoreFile
    private let root: Catalog.Entity
    private let withVersions: Bool
    private var kinds: [UInt16: Kind] = [:]
    private var last: (id: UInt16, kind: Kind)?
    private var text = JSONText()

    /// Creates a writer of the records in the table of an entity.
    init(_ file: StoreFile, _ entity: Catalog.Entity, withVersions: Bool) {
        (self.file, root, self.withVersions) = (file, entity, withVersions)
    }

    private static func member(_ name: String) -> [UInt8] {
        var text = ","
        text.appendJSONString(name)
        return Array((text + ":").utf8)
    }

    /// Calls the closure with the line of a record, without a line break.
    ///
    /// - Returns: False, without a call, if a value cannot be decoded.
    func write(_ key: Bytes, _ row: EncodedRow, _ line: (Bytes) throws -> Void) rethrows -> Bool {
        let kind = kind(row.entity)
        text.removeAll()
        kind.head.withUnsafeBytes { text.append(json: $0) }
        guard append(key: key, row, kind) else { return false }
        if withVersions {
            text.append(json: ",\"version\":")
            text.append(row.version)
        }
        if row.isPartial { text.append(json: ",\"partial\":true") }
        text.append(json: ",\"fields\":{")
        guard append(fieldsOf: row.body, kind) else { return false }
        text.append(json: "}}")
        try line(text.bytes)
        return true
    }

    private func kind(_ id: UInt16) -> Kind {
        if let last, last.id == id { return last.kind }
        let kind = kinds[id] ?? Kind(id == root.id ? root : file.catalog.entity(id: id) ?? root, file)
        kinds[id] = kind
        last = (id, kind)
        return kind
    }

    private func append(key: Bytes, _ row: EncodedRow, _ kind: Kind) -> Bool {
        if text.append(integerKey: key) { return true }
        guard let known = file.key(kind.entity, key, row) else { return false }
        var json = ""
        known.appendJSON(to: &json)
        text.append(json: json)
        return true
    }

    private func append(fieldsOf body: RowBody, _ kind: Kind) -> Bool {
        // Fields of the row and of the catalog are in the same order.
        var next = 0, isFirst = true
        for index in 0..<body.count {
            let id = body.id(at: index)
            if id == WholeKey.field { continue }
            let found = next < kind.ids.count && kind.ids[next] == id ? next : kind.ids.firstIndex(of: id)
            if found == nil, kind.removed.contains(id) { continue }
            guard let value = body.value(at: index) else { return false }
            if let found {
                next = found + 1
                append(member: kind.members[found], isFirst)
            } else {
                append(member: RecordLines.member("#\(id)"), isFirst)
            }
            isFirst = false
            if text.append(scalar: value) { continue }
            let field = found.map { kind.fields[$0] }
            guard let decoded = (try? file.decoded(value, of: field)) ?? nil else { return false }
            text.append(json: decoded.jsonText)
        }
        return true
    }

    private func append(member: [UInt8], _ isFirst: Bool) {
        member.withUnsafeBytes { text.append(json: Bytes(rebasing: $0[(isFirst ? 1 : 0)...])) }
    }
}
