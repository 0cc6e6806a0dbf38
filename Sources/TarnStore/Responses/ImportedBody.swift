/// The body from which the records of a response were imported, to recognise it when it comes
/// again.
///
/// If the same body comes again, and no record that it has was changed since, then its import would
/// change nothing. The same holds for each element of its list.
package struct ImportedBody: Sendable, Hashable {
    /// The digest of the body and of everything else that determines its import.
    ///
    /// Its key contains the incarnation of the store: a copy does not recognise the body.
    package var digest: [UInt8]
    /// The commit sequence up to which the records are known to be as the body has them.
    ///
    /// 0 if the commit that stores the entry determines it.
    package var sequence: UInt64
    /// The records that the body has besides the listed ones, in the form of `ListedRecord.append`.
    package var nested: [UInt8]
    /// The elements of the list, in the form of ``BodyElements``; empty if they are not known.
    package var elements: [UInt8]
    /// The length of each element's text: u32 each. Empty if they are not known.
    package var lengths: [UInt8]

    package init(
        digest: [UInt8], sequence: UInt64 = 0, nested: [UInt8], elements: [UInt8] = [], lengths: [UInt8] = []
    ) {
        self.digest = digest
        self.sequence = sequence
        self.nested = nested
        self.elements = elements
        self.lengths = lengths
    }
}

extension ListedRecord {
    /// Appends a record to a list: u16 root entity, u8 length, storage key.
    package static func append(_ root: UInt16, _ key: Bytes, to writer: inout ByteWriter) {
        writer.appendLittleEndian(root)
        writer.append(UInt8(key.count))
        writer.append(key)
    }
}

/// The elements of a body's list. For each: u64 digest, u16 count, and the u16 positions of its
/// nested records among those of the body.
package enum BodyElements {
    /// Appends an element.
    ///
    /// - Returns: false if it has more records than the form allows; nothing is appended.
    package static func append(_ digest: UInt64, nested: [Int32], to writer: inout ByteWriter) -> Bool {
        guard nested.count <= UInt16.max, nested.allSatisfy({ UInt16(exactly: $0) != nil }) else { return false }
        writer.appendLittleEndian(digest)
        writer.appendLittleEndian(UInt16(nested.count))
        for position in nested { writer.appendLittleEndian(UInt16(truncatingIfNeeded: position)) }
        return true
    }

    /// Calls the closure with the digest of each element, and the bytes of its positions.
    package static func forEach(in bytes: Bytes, _ body: (UInt64, Bytes) -> Void) {
        var offset = 0
        while offset + 10 <= bytes.count {
            let end = offset + 10 + 2 * Int(bytes.load(offset + 8, UInt16.self))
            guard end <= bytes.count else { return }
            body(bytes.load(offset, UInt64.self), bytes.slice(offset + 10..<end))
            offset = end
        }
    }

    /// Calls the closure with each of an element's positions.
    package static func forEachPosition(in bytes: Bytes, _ body: (Int) -> Void) {
        for offset in stride(from: 0, to: bytes.count - 1, by: 2) { body(Int(bytes.load(offset, UInt16.self))) }
    }
}
