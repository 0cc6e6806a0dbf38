// Case folding for indexes: Unicode's default caseless matching, by a table that never changes.

/// Unicode's full case folding, without normalisation.
/// The rule is `toCasefold` (The Unicode Standard §3.13, D144).
///
/// The table is fixed because indexes contain folded text. The standard library's mappings change
/// with its Unicode version, and programs of two versions could then not share a store.
package enum CaseFolding {
    /// The version of the table. The catalog stores it with every index that uses case folding.
    static let version = 1

    struct Run: Sendable {
        let first: UInt32, last: UInt32, step: UInt32, distance: Int32

        init(_ first: UInt32, _ last: UInt32, _ step: UInt32, _ distance: Int32) {
            self.first = first
            self.last = last
            self.step = step
            self.distance = distance
        }
    }

    /// Returns the text with its case folded: texts that differ only in case give the same bytes.
    package static func fold(_ text: String) -> String {
        var writer = ByteWriter(), text = text
        text.withUTF8 { append(Bytes($0), to: &writer) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Appends UTF-8 text with its case folded. Invalid UTF-8 becomes U+FFFD.
    static func append(_ text: Bytes, to writer: inout ByteWriter) {
        var offset = 0
        while offset < text.count, text[offset] < 0x80 {
            let byte = text[offset]
            writer.append(byte &- 0x41 < 26 ? byte | 0x20 : byte)
            offset += 1
        }
        guard offset < text.count else { return }
        for scalar in String(decoding: text[offset...], as: UTF8.self).unicodeScalars {
            if let folded = several[scalar.value] {
                for value in folded { append(value, to: &writer) }
            } else {
                append(single(scalar.value), to: &writer)
            }
        }
    }

    private static func single(_ value: UInt32) -> UInt32 {
        var low = 0, high = runs.count
        while low < high {
            let middle = (low + high) / 2
            let run = runs[middle]
            if value < run.first {
                high = middle
            } else if value > run.last {
                low = middle + 1
            } else {
                guard (value - run.first) % run.step == 0 else { return value }
                return UInt32(bitPattern: Int32(bitPattern: value) + run.distance)
            }
        }
        return value
    }

    private static func append(_ value: UInt32, to writer: inout ByteWriter) {
        guard let scalar = Unicode.Scalar(value) else { return }
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { writer.append(byte) }
    }
}
