import Foundation
internal import LMDB

/// The value of `format` in `meta`: decimal text, and from format 3 on the checksum behind it.
package enum StoreFormatVersion {
    /// Nil if it is not a format version, or is damaged.
    package static func read(_ stored: Bytes) -> Int? {
        // Up to format 2 there is no checksum, and no other number of one digit differs from theirs by one bit and has none.
        if let format = Int(String(decoding: stored, as: UTF8.self)), format > 0, format < ChecksummedTable.firstFormat { return format }
        guard let content = ValueChecksum.content(stored, table: "meta", key: Bytes(MetaKey.format)),
            let format = Int(String(decoding: content, as: UTF8.self)), format >= ChecksummedTable.firstFormat
        else { return nil }
        return format
    }
}
