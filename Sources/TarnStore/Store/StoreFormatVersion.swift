import Foundation

/// The value of `format` in `meta`: decimal text, followed by a checksum from format 3 on.
package enum StoreFormatVersion {
    /// Decodes the format version. Nil if the value is something else or damaged.
    package static func read(_ stored: Bytes) -> Int? {
        // Formats 1 and 2 have no checksum. A single flipped bit cannot produce one of them: the
        // digits 1 and 2 differ in two bits, and the value of a later format ends with a checksum.
        if let format = Int(String(decoding: stored, as: UTF8.self)), format > 0, format < ChecksummedTable.firstFormat
        {
            return format
        }
        guard let content = ValueChecksum.content(stored, table: "meta", key: Bytes(MetaKey.format)),
            let format = Int(String(decoding: content, as: UTF8.self)), format >= ChecksummedTable.firstFormat
        else { return nil }
        return format
    }
}
