/// The key of a request in a table: a locality prefix and a digest.
///
/// Requests that differ only in numbers, such as the pages of a list or records by id, are
/// adjacent, in the order of the sums of their numbers. With a digest alone, each of them would
/// change another page of the file, and an import of small responses would write ten times as much.
package struct RequestDigest: Sendable, Hashable {
    /// Eight bytes of the locality prefix, then SHA-256.
    package let bytes: [UInt8]

    /// Creates the digest of a request key.
    ///
    /// - Parameter text: the parts of a request key, separated by line feeds.
    init(of text: Bytes) {
        // FNV-1a of all bytes but digits, and the sum of the numbers; both wrap.
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
        bytes = [UInt8](unsafeUninitializedCapacity: 8 + SHA256.length) { buffer, count in
            let memory = UnsafeMutableRawBufferPointer(buffer)
            withUnsafeBytes(of: (hash.bigEndian, sum.bigEndian)) { memory.copyMemory(from: $0) }
            SHA256.digest(text, into: UnsafeMutableRawBufferPointer(rebasing: memory[8...]))
            count = 8 + SHA256.length
        }
    }

    /// Calls the closure with the key in the table of requests.
    ///
    /// - Parameter format: the format of the store; from 2 on the key includes the locality prefix.
    func withKey<Result>(format: Int, _ body: (Bytes) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { try body(format >= 2 ? $0.slice(0..<32) : $0.slice(8..<40)) }
    }
}
