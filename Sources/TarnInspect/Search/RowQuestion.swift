import TarnStore

/// The question which rows have a text, to pass over leaves without one.
struct RowQuestion: LeafQuestion {
    private let file: StoreFile
    private let entity: Catalog.Entity
    private let pattern: TextPattern
    private let rows: RowSearch
    private let hasReferences: Bool
    private let checksums: RowChecksums
    /// Whether an uncompressed row of the leaf may have the text.
    private var mayOccur = true

    /// Creates a question.
    ///
    /// - Parameters:
    ///   - file: The file that decodes the rows.
    ///   - hasReferences: Whether rows of the table may have references.
    init(_ file: StoreFile, _ entity: Catalog.Entity, _ pattern: TextPattern, hasReferences: Bool) {
        (self.file, self.entity, self.pattern, self.hasReferences) = (file, entity, pattern, hasReferences)
        rows = RowSearch(pattern)
        checksums = RowChecksums(table: UInt32(entity.root))
    }

    mutating func begin(_ leaf: Bytes) {
        mayOccur = rows.mayOccur(in: leaf, hasReferences: hasReferences)
        checksums.removeAll()
    }

    func mayPass(_ key: Bytes, _ row: Bytes) -> Bool {
        guard file.isWanted(row, of: entity) else { return true }
        if !mayOccur, checksums.add(row, key: key) { return true }
        guard EncodedRow.hasValidChecksum(row, table: UInt32(entity.root), key: key) else { return false }
        return file.decoder.lending {
            guard let decoded = try? file.decoder.view(row) else { return false }
            return (try? mayMatch(decoded)) == false
        }
    }

    func end() -> Bool { checksums.check() }

    /// Returns whether a field of a decoded row may have the text.
    func mayMatch(_ decoded: EncodedRow) throws -> Bool {
        let body = decoded.body
        return try rows.mayMatch(body, hasReferences: hasReferences) { index, value in
            let concrete = file.catalog.entity(id: decoded.entity) ?? entity
            // An undecodable value does not match: it is reported when the whole row is decoded.
            return try file.decoded(value, of: concrete.field(id: body.id(at: index)))?.firstMatch(pattern) != nil
        }
    }
}
