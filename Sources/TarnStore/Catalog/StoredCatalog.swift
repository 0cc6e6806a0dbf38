// The catalog's text as it stands in the store: JSON, whose last member is a checksum of what stands before it.
//
//     {"entities":[…],"nextEntity":3,"nextIndex":9,"crc32c":"1f2e3d4c"}
//
// It is a part of the text, so that whoever knows nothing of it and writes another catalog leaves none behind that is wrong.

import Foundation

/// A catalog that was read, and whether it is what was written.
package struct StoredCatalog {
    package let catalog: Catalog
    /// False if the checksum is of another text: a name, a type or an id may be another one. A catalog without a checksum, from before there
    /// were any, is taken as it is.
    package let isSound: Bool

    /// Nil if it is not the JSON that is expected.
    package init?(_ text: Bytes) {
        guard let catalog = try? JSONDecoder().decode(Catalog.self, from: Data(text)) else { return nil }
        self.catalog = catalog
        isSound = StoredCatalog.hasSoundChecksum(text)
    }

    package static func text(of catalog: Catalog) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var text = String(decoding: try encoder.encode(catalog).dropLast(), as: UTF8.self)
        let digits = text.withUTF8 { StoredCatalog.checksum(of: Bytes($0)) }
        return text + beginning + digits + end
    }

    private static let beginning = #","crc32c":""#, end = "\"}"
    private static let digits = 8

    private static func hasSoundChecksum(_ text: Bytes) -> Bool {
        let length = text.count - beginning.utf8.count - digits - end.utf8.count
        guard length > 0, text[length..<length + beginning.utf8.count].elementsEqual(beginning.utf8) else { return true }
        return text[(length + beginning.utf8.count)...].elementsEqual((checksum(of: text.slice(0..<length)) + end).utf8)
    }

    /// In hexadecimal digits.
    private static func checksum(of text: Bytes) -> String {
        var checksum = CRC32C()
        checksum.update(text)
        let number = String(checksum.value, radix: 16)
        return String(repeating: "0", count: digits - number.count) + number
    }
}
