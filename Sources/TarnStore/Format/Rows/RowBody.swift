/// A body: the directory and the values. Every access is bounds-checked; a malformed body has no fields.
package struct RowBody {
    /// The whole body; of one that is `lent` divided, what is stored of it.
    private let stored: Bytes
    /// Where the long values come from if they are still compressed.
    let lent: UnsafeMutablePointer<LentBody>?
    private let fields: UInt16
    package let isWide: Bool

    package var count: Int { Int(fields) }
    private var valuesStart: Int { 2 + count * (isWide ? 6 : 4) }

    /// Nil if the directory does not fit the bytes.
    package init?(_ bytes: Bytes, isWide: Bool) {
        self.init(bytes, isWide: isWide, lent: nil)
    }

    /// A divided body, whose long values are decompressed when the first of them is asked for.
    init?(_ bytes: Bytes, isWide: Bool, lent: UnsafeMutablePointer<LentBody>?) {
        guard bytes.count >= 2 else { return nil }
        let fields = bytes.load(0, UInt16.self)
        guard 2 + Int(fields) * (isWide ? 6 : 4) <= bytes.count else { return nil }
        stored = bytes
        self.fields = fields
        self.isWide = isWide
        self.lent = lent
    }

    /// A body that was one already, of a row with this header.
    init(checked stored: Bytes, _ header: UnsafeRawPointer, _ lent: UnsafeMutablePointer<LentBody>?) {
        self.stored = stored
        fields = stored.load(0, UInt16.self)
        isWide = header.load(fromByteOffset: 1, as: UInt8.self) & RowFormat.wide != 0
        self.lent = lent
    }

    /// The directory and the values. None if a divided body turns out to be damaged.
    package var bytes: Bytes { lent == nil ? stored : whole ?? Bytes(start: nil, count: 0) }

    /// The directory, in any case.
    var directory: Bytes { stored }

    var isDivided: Bool { lent != nil }

    /// Whether the long values of a divided body could not be decompressed when they were asked for. It then has none of them.
    var isDamaged: Bool { lent?.pointee.isDamaged ?? false }

    /// A divided body as a whole one. Nil if it is damaged.
    var undivided: RowBody? { lent == nil ? self : whole.flatMap { RowBody($0, isWide: isWide) } }

    private var whole: Bytes? { lent?.pointee.whole() }

    package func id(at index: Int) -> UInt16 { stored.load(2 + index * (isWide ? 6 : 4), UInt16.self) }

    private func end(at index: Int) -> Int {
        isWide ? Int(stored.load(2 + index * 6 + 2, UInt32.self)) : Int(stored.load(2 + index * 4 + 2, UInt16.self))
    }

    /// The value at a place of the directory. Nil if its offsets make no sense.
    package func value(at index: Int) -> EncodedValue? {
        let start = valuesStart + (index == 0 ? 0 : end(at: index - 1)), end = valuesStart + end(at: index)
        guard lent == nil else { return dividedValue(at: index, start..<max(start, end)) }
        guard start < end, end <= stored.count else { return nil }
        return EncodedValue(stored.slice(start..<end))
    }

    @inline(never)
    private func dividedValue(at index: Int, _ range: Range<Int>) -> EncodedValue? {
        guard !range.isEmpty else { return nil }
        guard range.count <= RowFormat.longestShortValue else {
            guard let whole, range.upperBound <= whole.count else { return nil }
            return EncodedValue(whole.slice(range))
        }
        guard let divided = DividedBody(stored, isWide: isWide) else { return nil }
        let start = valuesStart + divided.shortLength(before: index)
        guard start >= valuesStart, start + range.count <= stored.count else { return nil }
        return EncodedValue(stored.slice(start..<start + range.count))
    }

    /// The value of a field. Nil if it is absent.
    package func value(of id: UInt16) -> EncodedValue? {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            let found = self.id(at: middle)
            if found == id { return value(at: middle) }
            if found < id { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Ids ascend, offsets ascend and end with the bytes, and every value is well-formed.
    package var isWellFormed: Bool {
        var previous = -1
        for index in 0..<count {
            guard Int(id(at: index)) > previous, let value = value(at: index), value.isWellFormed else { return false }
            previous = Int(id(at: index))
        }
        return valuesStart + (count == 0 ? 0 : end(at: count - 1)) == bytes.count
    }
}
