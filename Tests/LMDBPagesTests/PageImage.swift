// Pages made byte by byte, as liblmdb writes them.

import LMDBPages

/// The bytes of a page, with nodes from its end downwards as `mdb_node_add` stores them.
struct PageImage {
    private(set) var bytes: [UInt8]
    private var lower = 16, upper: Int

    init(number: UInt64, flags: UInt16, size: Int = 4096) {
        bytes = Array(repeating: 0, count: size)
        upper = size
        set(0, number)
        set(10, flags)
        setBounds()
    }

    mutating func set(_ offset: Int, _ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { value in
            for (index, byte) in value.enumerated() { bytes[offset + index] = byte }
        }
    }

    private mutating func setBounds() {
        set(12, UInt16(lower))
        set(14, UInt16(upper))
    }

    /// Appends a node: the eight bytes of its header without the size of the key, the key, the value.
    mutating func add(_ head: UInt64, key: [UInt8], value: [UInt8] = []) {
        let size = (8 + key.count + value.count + 1) & ~1
        upper -= size
        set(upper, head)
        set(upper + 6, UInt16(key.count))
        bytes.replaceSubrange(upper + 8..<upper + 8 + key.count, with: key)
        bytes.replaceSubrange(upper + 8 + key.count..<upper + 8 + key.count + value.count, with: value)
        set(lower, UInt16(upper))
        lower += 2
        setBounds()
    }

    mutating func addLeafNode(_ key: [UInt8], _ value: [UInt8], flags: UInt64 = 0, declaring size: Int? = nil) {
        add(UInt64(size ?? value.count) | flags << 32, key: key, value: value)
    }

    /// Appends values of one size, in place of nodes.
    mutating func add(values: [[UInt8]]) {
        for (index, value) in values.enumerated() {
            set(8, UInt16(value.count))
            bytes.replaceSubrange(16 + index * value.count..<16 + (index + 1) * value.count, with: value)
            lower += 2
            upper -= max(0, value.count - 2)
        }
        setBounds()
    }

    func withView<Result>(_ body: (PageView) throws -> Result) throws -> Result? {
        try bytes.withUnsafeBytes { bytes in try PageView(bytes).map(body) }
    }
}
