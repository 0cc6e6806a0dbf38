import Foundation

extension UUID {
    /// The text in lower case (RFC 9562 §4), without Foundation's way over `snprintf`.
    package var lowercasedText: String {
        String(unsafeUninitializedCapacity: 36) { text in
            withUnsafeBytes(of: uuid) { bytes in
                var end = 0
                func append(_ byte: UInt8) {
                    text.initializeElement(at: end, to: byte)
                    end += 1
                }
                func append(digit: UInt8) {
                    append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                }
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 { append(UInt8(ascii: "-")) }
                    append(digit: byte >> 4)
                    append(digit: byte & 15)
                }
                return end
            }
        }
    }
}
