// Divided bodies: only the long values are compressed. Numbers, dates, references and short texts
// can be read without decompression.
//
//   directory (that of the whole body), short values, frame of the long values
//
// Short values and long values are each stored contiguously, in the order of the directory. The
// length of a value, known from the directory, decides its kind.

/// The layout of a body, from its directory: where its values are in whole and in divided form.
struct DividedBody {
    private let bytes: Bytes
    let count: Int
    private let isWide: Bool
    let valuesStart: Int

    /// Reads the directory. Nil if it does not fit the bytes.
    init?(_ bytes: Bytes, isWide: Bool) {
        guard bytes.count >= 2 else { return nil }
        let count = Int(bytes.load(0, UInt16.self)), start = 2 + count * (isWide ? 6 : 4)
        guard start <= bytes.count else { return nil }
        self.bytes = bytes
        self.count = count
        self.isWide = isWide
        valuesStart = start
    }

    @inline(__always)
    private func end(at index: Int) -> Int {
        isWide
            ? Int(bytes.uncheckedLoad(4 + index * 6, UInt32.self))
            : Int(bytes.uncheckedLoad(4 + index * 4, UInt16.self))
    }

    /// The total lengths of short and of long values, in bytes. Nil if the offsets do not ascend.
    var lengths: (short: Int, long: Int)? {
        var short = 0, previous = 0
        for index in 0..<count {
            let end = end(at: index)
            guard end > previous else { return nil }
            if end - previous <= RowFormat.longestShortValue { short += end - previous }
            previous = end
        }
        return (short, previous - short)
    }

    /// The total lengths in a whole body. Nil also if the values do not end where the body does.
    /// Training reads rows without checking their checksums.
    var lengthsOfWhole: (short: Int, long: Int)? {
        guard let lengths, lengths.short + lengths.long == bytes.count - valuesStart else { return nil }
        return lengths
    }

    /// Returns the total length of the short values before an index of the directory, in bytes.
    ///
    /// - Parameter index: At most `count`.
    func shortLength(before index: Int) -> Int {
        var short = 0, previous = 0, next = 0
        func addNext() {
            let end = end(at: next), length = end - previous
            short += length <= RowFormat.longestShortValue ? length : 0
            previous = end
            next += 1
        }
        #if _endian(little)
            // Eight entries at a time: each is four bytes, an id and an end. The first one has no
            // entry before it.
            if !isWide, index > DividedBody.lanes {
                addNext()
                while next + DividedBody.lanes <= index {
                    let lengths = ends(at: next) &- ends(at: next - 1)
                    short += Int(lengths.replacing(with: 0, where: lengths .> DividedBody.longest).wrappedSum())
                    next += DividedBody.lanes
                }
                previous = end(at: next - 1)
            }
        #endif
        while next < index { addNext() }
        return short
    }

    private static let lanes = 8
    private static var longest: SIMD8<UInt32> { SIMD8(repeating: UInt32(RowFormat.longestShortValue)) }

    /// The ends of eight values from an index of a narrow directory on.
    @inline(__always)
    private func ends(at index: Int) -> SIMD8<UInt32> {
        bytes.loadUnaligned(fromByteOffset: 2 + 4 * index, as: SIMD8<UInt32>.self) &>> 16
    }

    /// Calls the closure with each run of adjacent values of one kind.
    /// The range is that of the whole body, relative to the first value.
    @inline(__always)
    func forEachRun(_ body: (_ isShort: Bool, _ range: Range<Int>) -> Void) {
        var start = 0, previous = 0, isShort = true
        for index in 0..<count {
            let end = end(at: index)
            let isNextShort = end - previous <= RowFormat.longestShortValue
            if isNextShort != isShort {
                if previous > start { body(isShort, start..<previous) }
                isShort = isNextShort
                start = previous
            }
            previous = end
        }
        if previous > start { body(isShort, start..<previous) }
    }
}

extension RowContext {
    /// Appends the compressed form of a body.
    /// Nil if compression does not pay; nothing is appended then.
    ///
    /// - Parameter isPacking: Whether the directory of a divided body is packed, if that pays.
    /// - Returns: The compression form for the row's header.
    func compress(
        _ body: RowBody, _ dictionary: RowDictionary, _ effort: RowDictionary.Effort = .quick, isPacking: Bool = true,
        into writer: inout ByteWriter
    ) -> UInt8? {
        let bytes = body.bytes
        guard let divided = DividedBody(bytes, isWide: body.isWide), let lengths = divided.lengthsOfWhole,
            RowFormat.isDivided(longValues: lengths.long, of: bytes.count)
        else { return compress(bytes, dictionary, effort, into: &writer) ? RowFormat.zstd : nil }
        let start = writer.count
        let isPacked =
            isPacking && PackedDirectory.append(body, to: &writer) { divide(bytes, divided, lengths.long, into: &$0) }
        if !isPacked {
            writer.append(bytes.slice(0..<divided.valuesStart))
            divide(bytes, divided, lengths.long, into: &writer)
        }
        guard compress(longValues, dictionary, effort, into: &writer) else {
            writer.truncate(to: start)
            return nil
        }
        return isPacked ? RowFormat.packedLongValues : RowFormat.zstdLongValues
    }

    /// Appends the short values of a whole body, and copies the long ones to `longValues`.
    private func divide(_ bytes: Bytes, _ divided: DividedBody, _ long: Int, into writer: inout ByteWriter) {
        withLongValues(of: long) { room in
            var longEnd = 0
            divided.forEachRun { isShort, range in
                let run = bytes.slice(divided.valuesStart + range.lowerBound..<divided.valuesStart + range.upperBound)
                if isShort {
                    writer.append(run)
                } else {
                    UnsafeMutableRawBufferPointer(rebasing: room[longEnd...]).copyMemory(from: run)
                    longEnd += run.count
                }
            }
        }
    }

    /// Reassembles a divided body. Nil if it is damaged.
    func whole(
        _ stored: Bytes, _ form: UInt8, isWide: Bool, _ dictionary: RowDictionary,
        into room: (Int) -> UnsafeMutableRawBufferPointer
    ) -> Bytes? {
        if form == RowFormat.packedLongValues { return whole(packed: stored, isWide: isWide, dictionary, into: room) }
        guard let divided = DividedBody(stored, isWide: isWide), let lengths = divided.lengths, lengths.long > 0,
            lengths.short + lengths.long <= RowCompression.largestBody,
            divided.valuesStart + lengths.short < stored.count,
            decompressLongValues(
                stored.slice(divided.valuesStart + lengths.short..<stored.count), of: lengths.long, dictionary)
        else { return nil }
        let whole = room(divided.valuesStart + lengths.short + lengths.long)
        whole.copyMemory(from: stored.slice(0..<divided.valuesStart))
        var short = divided.valuesStart, long = 0
        let longValues = longValues
        divided.forEachRun { isShort, range in
            let place = UnsafeMutableRawBufferPointer(rebasing: whole[(divided.valuesStart + range.lowerBound)...])
            if isShort {
                place.copyMemory(from: stored.slice(short..<short + range.count))
                short += range.count
            } else {
                place.copyMemory(from: longValues.slice(long..<long + range.count))
                long += range.count
            }
        }
        return Bytes(start: whole.baseAddress, count: divided.valuesStart + lengths.short + lengths.long)
    }
}

extension RowContext {
    private func whole(
        packed stored: Bytes, isWide: Bool, _ dictionary: RowDictionary,
        into room: (Int) -> UnsafeMutableRawBufferPointer
    ) -> Bytes? {
        guard let directory = PackedDirectory(stored), let layout = directory.layout(isWide: isWide), layout.long > 0,
            layout.short + layout.long <= RowCompression.largestBody, layout.frameStart < stored.count,
            decompressLongValues(stored.slice(layout.frameStart..<stored.count), of: layout.long, dictionary)
        else { return nil }
        let whole = room(layout.size)
        guard directory.expand(layout, longValues: longValues, isWide: isWide, into: whole) else { return nil }
        return Bytes(start: whole.baseAddress, count: layout.size)
    }
}

extension RowFormat {
    /// Returns whether a whole body is divided when it is compressed.
    static func isDivided(_ body: RowBody) -> Bool {
        guard let lengths = DividedBody(body.bytes, isWide: body.isWide)?.lengthsOfWhole else { return false }
        return isDivided(longValues: lengths.long, of: body.bytes.count)
    }
}

extension RowBody {
    /// Appends the part of a whole body that is compressed: the training input for a dictionary.
    func appendCompressible(to writer: inout ByteWriter) {
        guard let divided = DividedBody(bytes, isWide: isWide), RowFormat.isDivided(self) else {
            return writer.append(bytes)
        }
        divided.forEachRun { isShort, range in
            if !isShort {
                writer.append(
                    bytes.slice(divided.valuesStart + range.lowerBound..<divided.valuesStart + range.upperBound))
            }
        }
    }
}
