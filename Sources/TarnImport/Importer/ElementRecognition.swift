// The elements of a list: recognised by their digests, or noted so that they are recognised later.

internal import TarnStore

/// An element of a list: the digest and the length of its text.
struct ListedElement {
    var digest: UInt64
    var length: Int
}

/// The elements of one body's list, while the body is drafted.
final class ElementRecognition {
    /// The size of a list's elements on average from which each has a digest.
    ///
    /// It takes some 20 bytes, and saves more the larger the element is.
    static let smallestElement = 1024

    /// The elements; nil if they are not recognised one by one.
    private var listed: [ListedElement]?
    private let known: KnownElements?
    private var nested = NestedRecords()
    private var elements = ByteWriter(capacity: 0), lengths = ByteWriter(capacity: 0)
    /// The positions of the recognised elements in the stored entry.
    private(set) var recognized: [Int32] = []

    /// Whether the document that is drafted has only the elements that are not known.
    var isReduced = false
    /// For each element its position in the stored entry; -1 if it is not known.
    let found: [Int32]
    /// The number of elements that the stored entry has.
    let knownCount: Int

    /// - Parameters:
    ///   - listed: the elements; nil if they are not recognised one by one.
    ///   - known: those of the stored entry of the request.
    init(_ listed: [ListedElement]?, _ known: KnownElements?) {
        self.listed = listed
        self.known = listed == nil ? nil : known
        var found: [Int32] = [], count = 0
        if let known, let listed {
            found.reserveCapacity(listed.count)
            for (index, element) in listed.enumerated() {
                let position = known.position(of: element.digest, near: index)
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
        appendLength(of: index)
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
        guard let all = self.listed, all.indices.contains(index) else { return }
        appendLength(of: index)
        // More records than the form allows: the body is recognised as a whole only.
        if !BodyElements.append(all[index].digest, nested: positions, to: &elements) { self.listed = nil }
    }

    private func appendLength(of index: Int) {
        guard let listed, listed.indices.contains(index) else { return }
        lengths.appendLittleEndian(UInt32(clamping: listed[index].length))
    }

    /// Returns the body for the entry.
    func imported(_ digest: [UInt8]) -> ImportedBody {
        ImportedBody(
            digest: digest, nested: Array(nested.bytes.bytes), elements: listed == nil ? [] : Array(elements.bytes),
            lengths: listed == nil ? [] : Array(lengths.bytes))
    }
}
