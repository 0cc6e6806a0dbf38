// The elements of a list: recognised by their digests, or noted so that they are recognised later.

internal import TarnStore

/// The elements of one body's list, while the body is drafted.
final class ElementRecognition {
    /// The size of a list's elements on average from which each has a digest.
    ///
    /// It takes some 20 bytes, and saves more the larger the element is.
    static let smallestElement = 1024

    /// The digest of each element; nil if the elements are not recognised one by one.
    private var digests: [UInt64]?
    private let known: Known?
    private var nested = NestedRecords()
    private var elements = ByteWriter(capacity: 0)
    /// The positions of the recognised elements in the stored entry.
    private(set) var recognized: [Int32] = []

    /// The elements of a stored entry.
    private final class Known {
        let listed: [ListedRecord]
        private let imported: ImportedBody
        /// For each element, its digest and the positions of its nested records.
        private let digests: [UInt64], positions: [Range<Int>]
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

    /// Whether the document that is drafted has only the elements that are not known.
    var isReduced = false
    /// For each element its position in the stored entry; -1 if it is not known.
    let found: [Int32]
    /// The number of elements that the stored entry has.
    let knownCount: Int

    /// - Parameters:
    ///   - digests: the digest of each element; nil if elements are not recognised.
    ///   - entry: the stored entry of the request.
    init(_ digests: [UInt64]?, _ entry: ResponseEntry?) {
        self.digests = digests
        let known = digests == nil ? nil : entry.flatMap { Known($0) }
        self.known = known
        var found: [Int32] = [], count = 0
        if let known, let digests {
            found.reserveCapacity(digests.count)
            for (index, digest) in digests.enumerated() {
                let position = known.position(of: digest, near: index)
                found.append(position.map { Int32($0) } ?? -1)
                if position != nil { count += 1 }
            }
        }
        (self.found, knownCount) = (found, count)
    }

    /// Returns the record of an element that the stored entry has; nil if it must be drafted.
    ///
    /// - Parameter index: the position of the element in the list.
    func recognize(_ index: Int) -> ListedRecord? {
        guard index < found.count, found[index] >= 0, let known else { return nil }
        known.append(Int(found[index]), &nested, to: &elements)
        recognized.append(found[index])
        return known.listed[Int(found[index])]
    }

    /// Notes the records of an element that was drafted.
    func note(_ index: Int, _ list: borrowing DraftList, listed: [UInt8]?) {
        var positions: [Int32] = []
        for noted in list.noted {
            let draft = list.drafts[Int(noted)], root = list.plans[Int(draft.plan)].entity.root, key = list.key(draft)
            // The first one is the listed record, unless it has no key.
            if noted == list.noted.first, let listed, listed.withUnsafeBytes({ Bytes.equal($0, key) }) { continue }
            positions.append(nested.position(of: root, key))
        }
        // More records than the form allows: the body is recognised as a whole only.
        if let digests, index < digests.count, !BodyElements.append(digests[index], nested: positions, to: &elements) {
            self.digests = nil
        }
    }

    /// Returns the body for the entry.
    func imported(_ digest: [UInt8]) -> ImportedBody {
        ImportedBody(
            digest: digest, nested: Array(nested.bytes.bytes), elements: digests == nil ? [] : Array(elements.bytes))
    }
}
