internal import LMDB

/// What stands for a request in a table: where its entry lies, and a digest.
///
/// Requests that differ in numbers only, such as the pages of a list or records by id, lie side by side in the order of the sum of their
/// numbers: by a digest alone each of them would change another page of the file, and an import of small answers would write ten times as much.
package struct RequestDigest: Sendable, Hashable {
    /// Eight bytes of the place, then SHA-256.
    package let bytes: [UInt8]

    /// - Parameter text: the parts of a request key, with a line feed between two of them.
    package init(of text: Bytes) {
        // FNV-1a of everything but digits, and the sum of what these are; both wrap.
        var hash: UInt32 = 0x811C_9DC5, sum: UInt32 = 0, number: UInt32 = 0
        for byte in text {
            if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                number = number &* 10 &+ UInt32(byte - UInt8(ascii: "0"))
            } else {
                sum = sum &+ number
                number = 0
                hash = (hash ^ UInt32(byte)) &* 0x0100_0193
            }
        }
        sum = sum &+ number
        bytes = withUnsafeBytes(of: (hash.bigEndian, sum.bigEndian)) { Array($0) } + SHA256.digest(text)
    }

    /// The key in the table of requests.
    ///
    /// - Parameter format: of the store; from 2 on the place is part of it.
    func withKey<Result>(format: Int, _ body: (Bytes) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { try body(format >= 2 ? $0.slice(0..<32) : $0.slice(8..<40)) }
    }
}
