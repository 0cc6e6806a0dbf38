internal import TarnStore

/// The elements of a stored entry.
final class KnownElements {
    let listed: [ListedRecord]
    private let imported: ImportedBody
    /// For each element, its digest and the positions of its nested records.
    private let digests: [UInt64], positions: [Range<Int>]
    /// The length of each element's text; empty if the entry does not have them.
    private let lengths: [UInt32]
    /// The nested records: u16 root entity and storage key.
    private let nested: [(root: UInt16, key: Range<Int>)]
    /// The position of an element by its digest. Built for the first element that has moved.
    private var byDigest: [UInt64: Int32]?
    /// The positions of nested records in the new entry; -1 for those it does not have yet.
    private var mapped: [Int32]

    init?(_ entry: ResponseEntry) {
        guard let imported = entry.imported, !imported.elements.isEmpty else { return nil }
        var digests: [UInt64] = [], positions: [Range<Int>] = []
        imported.elements.withUnsafeBytes { bytes in
            var offset = 0
            BodyElements.forEach(in: bytes) {
                digests.append($0)
                positions.append(offset + 10..<offset + 10 + $1.count)
                offset += 10 + $1.count
            }
        }
        guard digests.count == entry.listing.listed.count, entry.listing.count == digests.count else { return nil }
        var nested: [(root: UInt16, key: Range<Int>)] = []
        imported.nested.withUnsafeBytes { bytes in
            var offset = 0
            ResponseEntry.forEachListed(in: bytes) {
                nested.append(($0, offset + 3..<offset + 3 + $1.count))
                offset += 3 + $1.count
                return true
            }
        }
        var last = -1
        imported.elements.withUnsafeBytes { bytes in
            for range in positions { BodyElements.forEachPosition(in: bytes.slice(range)) { last = max(last, $0) } }
        }
        // So that positions in the new entry fit their form, too.
        guard last < nested.count, nested.count < 1 << 14 else { return nil }
        listed = entry.listing.listed
        (self.imported, self.digests, self.positions, self.nested) = (imported, digests, positions, nested)
        mapped = Array(repeating: -1, count: nested.count)
        let lengths = imported.lengths
        self.lengths = lengths.withUnsafeBytes { bytes in
            guard bytes.count == 4 * digests.count else { return [] }
            return digests.indices.map { bytes.load(4 * $0, UInt32.self) }
        }
    }

    /// Whether the lengths of the elements are known.
    var hasLengths: Bool { !lengths.isEmpty }

    /// Returns the length and the digest of an element; nil behind the last one.
    func element(_ index: Int) -> ListedElement? {
        lengths.indices.contains(index)
            ? ListedElement(digest: digests[index], length: Int(lengths[index])) : nil
    }

    /// Returns the position of an element with a digest, which is likely at the same position.
    func position(of digest: UInt64, near index: Int) -> Int? {
        if index < digests.count, digests[index] == digest { return index }
        let all =
            byDigest
            ?? Dictionary(digests.enumerated().map { ($1, Int32($0)) }, uniquingKeysWith: { first, _ in first })
        byDigest = all
        return all[digest].map(Int.init)
    }

    /// Appends an element, with the positions of its nested records in the new entry.
    func append(_ element: Int, _ records: inout NestedRecords, to writer: inout ByteWriter) {
        imported.elements.withUnsafeBytes { bytes in
            let places = bytes.slice(positions[element])
            writer.appendLittleEndian(digests[element])
            writer.appendLittleEndian(UInt16(truncatingIfNeeded: places.count / 2))
            BodyElements.forEachPosition(in: places) { position in
                writer.appendLittleEndian(UInt16(truncatingIfNeeded: self.position(of: position, &records)))
            }
        }
    }

    private func position(of nested: Int, _ records: inout NestedRecords) -> Int32 {
        if mapped[nested] < 0 {
            mapped[nested] = imported.nested.withUnsafeBytes {
                records.position(of: self.nested[nested].root, $0.slice(self.nested[nested].key))
            }
        }
        return mapped[nested]
    }
}
