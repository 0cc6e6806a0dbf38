// Bodies that come again: whether the records that they have are still as they say.

internal import LMDB

/// The bodies of one unit that are recognised by their digests, with the records that they have.
///
/// For one thread at a time.
package final class RepeatedBodies {
    /// A body that is recognised, or some elements of its list.
    package struct Body: Sendable {
        /// The request whose entry has the body.
        package var request: RequestKey
        /// The digest of the entry's body.
        package var digest: [UInt8]
        /// The positions of the recognised elements in the entry; nil for the whole body.
        package var elements: [Int32]?

        package init(request: RequestKey, digest: [UInt8], elements: [Int32]? = nil) {
            self.request = request
            self.digest = digest
            self.elements = elements
        }
    }

    private var records = RecordSet()
    /// The number of unchanged records by concrete entity, each counted once.
    package private(set) var counts: [UInt16: Int] = [:]
    /// Whether a transaction that watches the records has changed one.
    package private(set) var areChanged = false

    package init() {}

    /// Returns whether an import of what is recognised would change nothing.
    ///
    /// This is so if the entry still is of that body, and none of the records was changed or
    /// deleted since. A damaged row counts as changed.
    ///
    /// - Throws: `.damagedEntry`, `.damagedCatalog`.
    package func isUnchanged(_ body: Body, in access: StoreAccess) throws -> Bool {
        guard let row = try access.responses.row(of: body.request), let known = ResponseEntry.importedBody(row),
            body.digest.withUnsafeBytes({ Bytes.equal(known.digest, $0) })
        else { return false }
        let listed = row.rawBytes(ResponseEntry.ID.listed) ?? .empty
        let wanted = body.elements.map { RepeatedBodies.records(of: $0, in: known.elements) }
        for (list, wanted) in [(listed, wanted?.listed), (known.nested, wanted?.nested)] {
            var isSame = true, position = 0
            try ResponseEntry.forEachListed(in: list) { root, key in
                defer { position += 1 }
                if let wanted, position >= wanted.count || !wanted[position] { return true }
                isSame = try isUnchanged(root, key, since: known.sequence, access)
                return isSame
            }
            guard isSame else { return false }
        }
        return true
    }

    /// Returns which listed and which nested records some elements have, by position.
    private static func records(of elements: [Int32], in bytes: Bytes) -> (listed: [Bool], nested: [Bool]) {
        var listed: [Bool] = [], nested: [Bool] = [], all: [Bytes] = []
        BodyElements.forEach(in: bytes) { all.append($1) }
        listed = Array(repeating: false, count: all.count)
        for element in elements where all.indices.contains(Int(element)) {
            listed[Int(element)] = true
            BodyElements.forEachPosition(in: all[Int(element)]) { position in
                while nested.count <= position { nested.append(false) }
                nested[position] = true
            }
        }
        return (listed, nested)
    }

    private func isUnchanged(
        _ root: UInt16, _ key: Bytes, since sequence: UInt64, _ access: StoreAccess
    ) throws -> Bool {
        if let known = records.find(root, key) { return records[known].version <= sequence }
        guard let row = try access.raw.get(access.state.records(of: root), key), row.count >= RowFormat.headerSize,
            EncodedRow.hasValidChecksum(row, table: UInt32(root), key: key)
        else { return false }
        let entity: UInt16 = row.load(6), version: UInt64 = row.load(12)
        records.add(root, key, entity: entity, origin: 0, version: version)
        guard version <= sequence else { return false }
        counts[entity, default: 0] += 1
        return true
    }

    /// Does not count a record: a draft of it is counted.
    package func uncount(_ root: UInt16, _ key: Bytes) {
        guard let known = records.find(root, key) else { return }
        counts[records[known].entity, default: 1] -= 1
    }

    /// Notes that a record was changed.
    func note(_ root: UInt16, _ key: Bytes) { areChanged = areChanged || records.find(root, key) != nil }
}

extension ResponseTable {
    /// Returns the row of a request's entry.
    func row(of request: RequestKey) throws -> EncodedRow? {
        guard let id = try id(of: request.digest) else { return nil }
        return try withUnsafeBytes(of: id.bigEndian) { try raw.systemRow(of: $0, in: state.responses, "responses") }
    }
}
