/// A text that is compared by its UTF-8 bytes, never by canonical equivalence.
///
/// Keys of records, and names that contain them, are such texts: of two that differ only in the
/// form of a letter ("é" composed and decomposed), a dictionary of `String` would keep one.
package struct ExactText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    /// Compares the bytes as a whole: the texts may be long.
    package static func == (a: ExactText, b: ExactText) -> Bool {
        let a = a.text.utf8, b = b.text.utf8
        guard a.count == b.count else { return false }
        let isSame = a.withContiguousStorageIfAvailable { first in
            b.withContiguousStorageIfAvailable { Bytes.equal(Bytes(first), Bytes($0)) }
        }
        return (isSame ?? nil) ?? a.elementsEqual(b)
    }

    package static func < (a: ExactText, b: ExactText) -> Bool {
        a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No UTF-8 has this byte: it ends the text.
        hasher.combine(UInt8.max)
    }
}
