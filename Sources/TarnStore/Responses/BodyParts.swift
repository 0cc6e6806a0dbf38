/// The stored parts of a representation, without overlaps.
///
/// Their bytes follow one another in the body, in the order in which they arrived.
package struct BodyParts: Sendable, Hashable {
    /// The length of the whole representation.
    package var length: Int
    /// The byte range of each part within the representation.
    package private(set) var ranges: [Range<Int>]

    /// The maximum number of parts of an entry.
    package static let limit = 256

    /// Creates an empty set of parts.
    package init(length: Int) {
        self.length = length
        ranges = []
    }

    /// The total size of the parts, in bytes.
    package var size: Int { ranges.reduce(0) { $0 + $1.count } }

    /// Whether the parts cover the whole representation.
    package var isWhole: Bool { size == length }

    /// The locations of a range's bytes in the body, in order; nil if not all of them are stored.
    package func places(of range: Range<Int>) -> [Range<Int>]? {
        var places: [Range<Int>] = [], position = range.lowerBound
        let sorted = zip(ranges, offsets).sorted { $0.0.lowerBound < $1.0.lowerBound }
        for (part, offset) in sorted where part.upperBound > position {
            guard position < range.upperBound else { break }
            guard part.lowerBound <= position else { return nil }
            let end = min(part.upperBound, range.upperBound)
            places.append(offset + position - part.lowerBound..<offset + end - part.lowerBound)
            position = end
        }
        return position == range.upperBound ? places : nil
    }

    /// The gaps of a range that are not stored, in order.
    package func missing(in range: Range<Int>) -> [Range<Int>] {
        var missing: [Range<Int>] = [], position = range.lowerBound
        for part in ranges.sorted(by: { $0.lowerBound < $1.lowerBound })
        where part.upperBound > position && part.lowerBound < range.upperBound {
            if part.lowerBound > position { missing.append(position..<part.lowerBound) }
            position = part.upperBound
        }
        if position < range.upperBound { missing.append(position..<range.upperBound) }
        return missing
    }

    /// Appends a part after the others.
    ///
    /// - Returns: false, without an effect, if the part is empty, overlaps another one, exceeds the
    ///   representation, or exceeds the limit.
    @discardableResult
    package mutating func append(_ range: Range<Int>) -> Bool {
        guard ranges.count < BodyParts.limit, !range.isEmpty, range.lowerBound >= 0, range.upperBound <= length,
            !ranges.contains(where: { $0.overlaps(range) })
        else { return false }
        ranges.append(range)
        return true
    }

    private var offsets: [Int] {
        var offset = 0
        return ranges.map { range in
            defer { offset += range.count }
            return offset
        }
    }

    /// Decodes parts: for each u64 first byte, u64 count, little-endian.
    ///
    /// Nil if the parts do not form one representation.
    init?(_ bytes: Bytes, length: Int) {
        guard bytes.count % 16 == 0, bytes.count <= 16 * BodyParts.limit, length >= 0 else { return nil }
        self.init(length: length)
        for offset in stride(from: 0, to: bytes.count, by: 16) {
            guard let start = Int(exactly: bytes.load(offset, UInt64.self)),
                let count = Int(exactly: bytes.load(offset + 8, UInt64.self)),
                start <= length, count <= length - start, append(start..<start + count)
            else { return nil }
        }
    }

    func write(to writer: inout ByteWriter) {
        for range in ranges {
            writer.appendLittleEndian(UInt64(range.lowerBound))
            writer.appendLittleEndian(UInt64(range.count))
        }
    }
}
