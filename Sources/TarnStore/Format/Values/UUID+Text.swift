import Foundation

extension UUID {
    /// The text in lower case (RFC 9562 §4), without Foundation's way over `snprintf`.
    package var lowercasedText: String {
        String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            withUnsafeBytes(of: uuid) { bytes in
                UUID.forEachCharacter(of: bytes) { character in
                    text.initializeElement(at: end, to: character)
                    end += 1
                }
            }
            return end
        }
    }

    /// Calls a closure with each character of the lower-case text of 16 bytes.
    static func forEachCharacter(of bytes: Bytes, _ body: (UInt8) -> Void) {
        for (place, byte) in bytes.enumerated() {
            if place == 4 || place == 6 || place == 8 || place == 10 { body(UInt8(ascii: "-")) }
            body(JSONText.digit(byte >> 4))
            body(JSONText.digit(byte & 15))
        }
    }
}
