// Packed directories: the directory of a divided body, in a third of the bytes.
//
//   u8 m              size of the map
//   m bytes           a bit for each field id that the row has: id i is bit i % 8 of byte i / 8
//   n × u8            for each field, in ascending order of ids: the length of its value if it is
//                     short (1 to 17), 0 if it is long
//                     short values
//   varints           the lengths of the long values (LEB128)
//                     frame of the long values
//
// The place of a field is the number of lower bits in the map, and the place of its value the sum
// of the lengths before.

/// The fields of a divided body whose directory is packed, and its short values.
struct PackedDirectory {
    private let bytes: Bytes
    /// The number of fields.
    let count: Int
    private let mapSize: Int

    private var codesStart: Int { 1 + mapSize }
    /// The place of the first short value.
    private var shortStart: Int { codesStart + count }

    /// Reads the map of a stored body. Nil if it does not fit the bytes.
    init?(_ bytes: Bytes) {
        guard bytes.count >= 1 else { return nil }
        let mapSize = Int(bytes[0])
        guard mapSize < bytes.count else { return nil }
        self.init(checked: bytes, mapSize: mapSize, count: PackedDirectory.bits(in: bytes, mapSize))
        guard shortStart <= bytes.count else { return nil }
    }

    /// Recreates a view that was checked before.
    @inline(__always)
    init(checked bytes: Bytes, mapSize: Int, count: Int) {
        self.bytes = bytes
        self.mapSize = mapSize
        self.count = count
    }

    /// The number of set bits of a map, whose size was checked.
    static func bits(in bytes: Bytes, _ mapSize: Int) -> Int {
        var count = 0, index = 1
        while index < 1 + mapSize {
            let step = min(8, 1 + mapSize - index)
            count += word(bytes, index, step).nonzeroBitCount
            index += step
        }
        return count
    }

    /// Up to eight bytes as a number; those beyond are 0.
    @inline(__always)
    private static func word(_ bytes: Bytes, _ offset: Int, _ size: Int) -> UInt64 {
        if offset + 8 <= bytes.count {
            let all = bytes.uncheckedLoad(offset, UInt64.self)
            return size >= 8 ? all : all & ((1 << UInt64(size * 8)) &- 1)
        }
        var word: UInt64 = 0
        for index in 0..<min(size, 8) { word |= UInt64(bytes[offset + index]) << UInt64(index * 8) }
        return word
    }

    /// Returns the place of a field among the fields of the row. Nil if the row does not have it.
    func place(of id: UInt16) -> Int? {
        let byte = Int(id) >> 3
        guard byte < mapSize, bytes[1 + byte] & (1 << (UInt8(truncatingIfNeeded: id) & 7)) != 0 else { return nil }
        var place = 0, index = 0
        while index + 8 <= byte {
            place += PackedDirectory.word(bytes, 1 + index, 8).nonzeroBitCount
            index += 8
        }
        let below = PackedDirectory.word(bytes, 1 + index, byte - index + 1) & ((1 << (UInt64(id) & 63)) &- 1)
        return place + below.nonzeroBitCount
    }

    /// Returns the id of the field at a place. The place must be below `count`.
    func id(at place: Int) -> UInt16 {
        var left = place
        for index in 0..<mapSize {
            var byte = bytes[1 + index]
            let bits = byte.nonzeroBitCount
            guard left < bits else {
                left -= bits
                continue
            }
            for _ in 0..<left { byte &= byte &- 1 }
            return UInt16(index * 8 + byte.trailingZeroBitCount)
        }
        preconditionFailure("a place beyond the fields")
    }

    /// The location of the value at a place.
    enum Found {
        /// The range in the stored body.
        case short(Range<Int>)
        case long
        case damaged
    }

    /// Finds the value at a place, which must be below `count`.
    @inline(__always)
    func value(at place: Int) -> Found {
        let length = Int(bytes[codesStart + place])
        if length == 0 { return .long }
        let start = shortStart + shortLength(before: place)
        guard length <= RowFormat.longestShortValue, start + length <= bytes.count else { return .damaged }
        return .short(start..<start + length)
    }

    /// Returns the total length of the short values before a place, which must be at most `count`.
    @inline(__always)
    private func shortLength(before place: Int) -> Int {
        var total = 0, index = 0
        while index < place {
            total += PackedDirectory.sum(PackedDirectory.word(bytes, codesStart + index, min(8, place - index)))
            index += 8
        }
        return total
    }

    /// Adds eight bytes: in pairs, and the sums of the pairs by a multiplication. They are 2,040 at
    /// most, so nothing overflows.
    @inline(__always)
    private static func sum(_ bytes: UInt64) -> Int {
        let pairs = (bytes & 0x00FF_00FF_00FF_00FF) &+ ((bytes &>> 8) & 0x00FF_00FF_00FF_00FF)
        return Int((pairs &* 0x0001_0001_0001_0001) &>> 48)
    }

    /// The total length of the short values, and the number of long ones.
    private var totals: (short: Int, longs: Int) {
        var short = 0, longs = 0, index = 0
        while index < count {
            let size = min(8, count - index), lengths = PackedDirectory.word(bytes, codesStart + index, size)
            short += PackedDirectory.sum(lengths)
            let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
            // One bit for each byte that is 0; those beyond the size are.
            longs += (~(((lengths & low) &+ low) | lengths | low)).nonzeroBitCount - (8 - size)
            index += 8
        }
        return (short, longs)
    }

    /// The form of the whole body: how long it is, and where its parts are stored. Nil if a length
    /// is impossible.
    func layout(isWide: Bool) -> Layout? {
        let (short, longs) = totals
        var long = 0, offset = shortStart + short
        guard offset <= bytes.count else { return nil }
        let lengthsStart = offset
        for _ in 0..<longs {
            guard let length = PackedDirectory.varint(bytes, &offset), length > RowFormat.longestShortValue else {
                return nil
            }
            long += length
            guard long <= RowCompression.largestBody else { return nil }
        }
        return Layout(
            directory: 2 + count * (isWide ? 6 : 4), short: short, long: long, lengthsStart: lengthsStart,
            frameStart: offset)
    }

    /// The sizes of the parts of a whole body, and places in its stored form.
    struct Layout {
        var directory: Int, short: Int, long: Int
        var lengthsStart: Int, frameStart: Int

        var size: Int { directory + short + long }
    }

    /// Writes the whole body.
    ///
    /// - Parameters:
    ///   - layout: of this body.
    ///   - longValues: one after the other, `layout.long` bytes.
    ///   - room: at least `layout.size` bytes.
    /// - Returns: false if the body is damaged.
    func expand(_ layout: Layout, longValues: Bytes, isWide: Bool, into room: UnsafeMutableRawBufferPointer) -> Bool {
        precondition(room.count >= layout.size && longValues.count == layout.long, "room for the whole body")
        guard let target = room.baseAddress, let source = bytes.baseAddress, count <= UInt16.max else { return false }
        target.storeBytes(of: UInt16(count).littleEndian, as: UInt16.self)
        var entry = 2, end = 0, place = 0
        var short = shortStart, lengths = layout.lengthsStart, long = 0
        for index in 0..<mapSize {
            var byte = bytes[1 + index]
            while byte != 0 {
                let id = UInt16(index * 8 + byte.trailingZeroBitCount)
                byte &= byte &- 1
                var length = Int(bytes[codesStart + place])
                let value = target + layout.directory + end
                if length != 0 {
                    guard length <= RowFormat.longestShortValue else { return false }
                    value.copyMemory(from: source + short, byteCount: length)
                    short += length
                } else {
                    guard let found = PackedDirectory.varint(bytes, &lengths), let start = longValues.baseAddress,
                        found <= layout.long - long
                    else { return false }
                    length = found
                    value.copyMemory(from: start + long, byteCount: length)
                    long += length
                }
                end += length
                place += 1
                target.storeBytes(of: id.littleEndian, toByteOffset: entry, as: UInt16.self)
                if isWide {
                    target.storeBytes(of: UInt32(end).littleEndian, toByteOffset: entry + 2, as: UInt32.self)
                } else {
                    guard let end = UInt16(exactly: end) else { return false }
                    target.storeBytes(of: end.littleEndian, toByteOffset: entry + 2, as: UInt16.self)
                }
                entry += isWide ? 6 : 4
            }
        }
        return true
    }

    /// Reads a LEB128 number of up to 32 bits. Nil if it does not end, or is larger.
    private static func varint(_ bytes: Bytes, _ offset: inout Int) -> Int? {
        var value = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            value |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return value <= Int(UInt32.max) ? value : nil }
        }
        return nil
    }

}

// MARK: - Packing

extension PackedDirectory {
    /// Appends the packed directory of a whole body, its short values, and the lengths of the long
    /// ones. The values themselves are written by the closure.
    ///
    /// - Returns: false if the directory is smaller as it is, has an id that no map holds, or is
    ///   not in the order of ids. Nothing is appended then.
    static func append(
        _ body: RowBody, to writer: inout ByteWriter, shortValues: (inout ByteWriter) -> Void
    ) -> Bool {
        precondition(!body.isDivided, "a whole body is packed")
        guard let mapSize = mapSize(of: body) else { return false }
        let start = writer.count
        writer.append(UInt8(mapSize))
        let map = writer.count
        for _ in 0..<mapSize { writer.append(UInt8(0)) }
        var previous = 0, previousID = -1
        for index in 0..<body.count {
            let id = Int(body.id(at: index)), end = body.end(at: index), length = end - previous
            guard id > previousID, id < mapSize * 8 else {
                writer.truncate(to: start)
                return false
            }
            previousID = id
            let byte = writer.base + map + id / 8
            byte.storeBytes(of: byte.load(as: UInt8.self) | 1 << UInt8(id % 8), as: UInt8.self)
            writer.append(length <= RowFormat.longestShortValue ? UInt8(length) : 0)
            previous = end
        }
        shortValues(&writer)
        previous = 0
        for index in 0..<body.count {
            let end = body.end(at: index)
            if end - previous > RowFormat.longestShortValue { append(varint: end - previous, to: &writer) }
            previous = end
        }
        return true
    }

    /// Returns the size of the map for a whole body. Nil if the directory is smaller as it is, or
    /// has an id that no map holds.
    static func mapSize(of body: RowBody) -> Int? {
        guard body.count > 0 else { return nil }
        let size = Int(body.id(at: body.count - 1)) / 8 + 1
        // A length of a long value has up to five bytes, but three suffice for 2 MB.
        return size <= Int(UInt8.max) && 1 + size < body.count * 2 ? size : nil
    }

    private static func append(varint value: Int, to writer: inout ByteWriter) {
        var rest = UInt32(value)
        while rest >= 0x80 {
            writer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        writer.append(UInt8(rest))
    }
}
