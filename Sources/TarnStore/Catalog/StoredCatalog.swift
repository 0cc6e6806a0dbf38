// The catalog's text in the store: JSON, whose last member is a checksum of the text before it.
//
//     {"entities":[…],"nextEntity":3,"nextIndex":9,"crc32c":"1f2e3d4c"}
//
// The checksum is part of the text. So a program that does not know it and writes another catalog
// leaves no wrong checksum behind.

import Foundation

/// A catalog read from the store, and the result of its checksum.
package struct StoredCatalog {
    package let catalog: Catalog
    /// Whether the checksum is right; if not, names, types or ids may be damaged.
    ///
    /// A catalog without a checksum, from an older version, counts as sound.
    package let isSound: Bool

    /// Decodes a catalog; nil if the text is not the expected JSON.
    package init?(_ text: Bytes) {
        guard let catalog = try? JSONDecoder().decode(CatalogJSON.self, from: Data(text)).catalog else { return nil }
        self.catalog = catalog
        isSound = StoredCatalog.hasSoundChecksum(text)
    }

    static func text(of catalog: Catalog) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var text = String(decoding: try encoder.encode(CatalogJSON(catalog)).dropLast(), as: UTF8.self)
        let digits = text.withUTF8 { StoredCatalog.checksum(of: Bytes($0)) }
        return text + beginning + digits + end
    }

    private static let beginning = #","crc32c":""#, end = "\"}"
    private static let digits = 8

    private static func hasSoundChecksum(_ text: Bytes) -> Bool {
        let length = text.count - beginning.utf8.count - digits - end.utf8.count
        guard length > 0, text[length..<length + beginning.utf8.count].elementsEqual(beginning.utf8) else {
            return true
        }
        return text[(length + beginning.utf8.count)...].elementsEqual((checksum(of: text.slice(0..<length)) + end).utf8)
    }

    /// Returns the checksum as hexadecimal digits.
    private static func checksum(of text: Bytes) -> String {
        var checksum = CRC32C()
        checksum.update(text)
        let number = String(checksum.value, radix: 16)
        return String(repeating: "0", count: digits - number.count) + number
    }
}
