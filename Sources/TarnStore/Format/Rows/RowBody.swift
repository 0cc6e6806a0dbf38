/// A body: directory and values. Every access is bounds-checked; a malformed body has no fields.
///
/// The directory is checked as a whole when the view is created: it is then read without further
/// checks, because a search reads it several times per field.
package struct RowBody {
    /// The whole body. For a divided body, its stored form.
    private let stored: Bytes
    /// The source of the long values while they are compressed. Nil for a whole body.
    let lent: UnsafeMutablePointer<DecompressedBody>?
    private let fields: UInt16
    package let isWide: Bool
    /// The size of the map if the directory is packed.
    private let map: UInt8?

    package var count: Int { Int(fields) }
    private var valuesStart: Int { 2 + count * (isWide ? 6 : 4) }

    /// Creates a view of a whole body. Nil if the directory does not fit the bytes.
    package init?(_ bytes: Bytes, isWide: Bool) {
        self.init(bytes, isWide: isWide, lent: nil)
    }

    /// Creates a view of a divided body, whose long values are decompressed on first access.
    ///
    /// - Parameter isPacked: whether its directory is packed, which that of a whole body never is.
    init?(_ bytes: Bytes, isWide: Bool, isPacked: Bool = false, lent: UnsafeMutablePointer<DecompressedBody>?) {
        stored = bytes
        self.isWide = isWide
        self.lent = lent
        guard !isPacked else {
            guard let directory = PackedDirectory(bytes) else { return nil }
            fields = UInt16(truncatingIfNeeded: directory.count)
            map = bytes[0]
            return
        }
        guard bytes.count >= 2 else { return nil }
        fields = bytes.load(0, UInt16.self)
        map = nil
        guard valuesStart <= bytes.count else { return nil }
    }

    /// Recreates a view that was checked before, from the body and the header of its row.
    init(checked stored: Bytes, _ header: UnsafeRawPointer, _ lent: UnsafeMutablePointer<DecompressedBody>?) {
        self.stored = stored
        self.lent = lent
        isWide = header.load(fromByteOffset: 1, as: UInt8.self) & RowFormat.wide != 0
        if lent != nil, header.load(fromByteOffset: 2, as: UInt8.self) == RowFormat.packedLongValues {
            let size = stored[0]
            map = size
            fields = UInt16(truncatingIfNeeded: PackedDirectory.bits(in: stored, Int(size)))
        } else {
            map = nil
            fields = stored.uncheckedLoad(0, UInt16.self)
        }
    }

    /// The packed directory; nil if it is not packed.
    @inline(__always)
    private var packed: PackedDirectory? {
        map.map { PackedDirectory(checked: stored, mapSize: Int($0), count: count) }
    }

    /// The directory and the values. Empty if a divided body is damaged.
    package var bytes: Bytes { lent == nil ? stored : whole ?? Bytes(start: nil, count: 0) }

    /// The bytes that begin with the directory, packed or not. Never decompresses.
    var directory: Bytes { stored }

    var isDivided: Bool { lent != nil }

    /// Indicates that decompressing the long values failed. The body then has no long values.
    var isDamaged: Bool { lent?.pointee.isDamaged ?? false }

    /// The body in whole form. Nil if it is divided and damaged.
    var undivided: RowBody? { lent == nil ? self : whole.flatMap { RowBody($0, isWide: isWide) } }

    private var whole: Bytes? { lent?.pointee.whole() }

    /// Returns the id at an index of the directory, which the caller bounds by `count`.
    package func id(at index: Int) -> UInt16 {
        if let packed { return packed.id(at: index) }
        return stored.uncheckedLoad(2 + index * (isWide ? 6 : 4), UInt16.self)
    }

    /// Returns the end of a value, counted from the first, in a directory that is not packed.
    @inline(__always)
    func end(at index: Int) -> Int {
        isWide
            ? Int(stored.uncheckedLoad(4 + index * 6, UInt32.self))
            : Int(stored.uncheckedLoad(4 + index * 4, UInt16.self))
    }

    /// Returns the value at an index of the directory. Nil if its offsets are invalid.
    package func value(at index: Int) -> EncodedValue? {
        if let packed { return packedValue(at: index, packed) }
        let start = valuesStart + (index == 0 ? 0 : end(at: index - 1)), end = valuesStart + end(at: index)
        guard lent == nil else { return dividedValue(at: index, start..<max(start, end)) }
        guard start < end, end <= stored.count else { return nil }
        return EncodedValue(stored.uncheckedSlice(start..<end))
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

    @inline(never)
    private func packedValue(at index: Int, _ packed: PackedDirectory) -> EncodedValue? {
        guard index >= 0, index < count else { return nil }
        switch packed.value(at: index) {
        case .short(let range): return EncodedValue(stored.slice(range))
        case .long: return undivided?.value(at: index)
        case .damaged: return nil
        }
    }

    /// Returns the value of a field. Nil if it is absent.
    package func value(of id: UInt16) -> EncodedValue? { place(of: id).flatMap { value(at: $0) } }

    /// Returns the place of a field in the directory. Nil if it is absent.
    func place(of id: UInt16) -> Int? {
        if let packed { return packed.place(of: id) }
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            let found = self.id(at: middle)
            if found == id { return middle }
            if found < id { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Returns the place of a field in the directory. Nil if it is absent.
    ///
    /// - Parameter rank: the field's place in a row that has every field, which is tried first.
    @inline(__always)
    func place(of id: UInt16, tryingFirst rank: Int) -> Int? {
        map == nil && rank < count && self.id(at: rank) == id ? rank : place(of: id)
    }

    /// Indicates that the directory is consistent and every value is well-formed.
    /// In a consistent directory, ids and offsets ascend and the last offset is the end of the
    /// bytes.
    package var isWellFormed: Bool {
        guard !isDivided else { return undivided?.isWellFormed ?? false }
        var previous = -1
        for index in 0..<count {
            guard Int(id(at: index)) > previous, let value = value(at: index), value.isWellFormed else { return false }
            previous = Int(id(at: index))
        }
        return valuesStart + (count == 0 ? 0 : end(at: count - 1)) == bytes.count
    }
}
