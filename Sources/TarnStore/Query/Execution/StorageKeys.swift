/// A list of storage keys in one buffer.
struct StorageKeys: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var ends: [Int] = []

    var count: Int { ends.count }

    mutating func append(_ key: Bytes) {
        bytes.append(contentsOf: key)
        ends.append(bytes.count)
    }

    /// Calls a closure with the key at a position, borrowed.
    func with<Result>(_ position: Int, _ body: (Bytes) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { bytes in
            try body(bytes.slice((position == 0 ? 0 : ends[position - 1])..<ends[position]))
        }
    }
}
