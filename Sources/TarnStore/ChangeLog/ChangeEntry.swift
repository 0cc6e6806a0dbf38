// A change in the change log, byte by byte.
//
//   key     u64 commit sequence, u32 ordinal (both big-endian)
//   value   u8 operation, u16 entity, storage key
//           or, if the operation has the flag 64, the changes of `ChangeGroup`
//           or, if the operation has flags (16, 32):
//           u8 operation, u16 entity, u8 length, storage key,
//             16  u32 length, the tuple of the whole key: if the storage key is a digest
//             32  u8 flags of the row (1 = partial, 2 = wide directory), a body: the changed
//                 fields, null for lost ones, all fields of a new record; long lists in the form of
//                 short ones

/// A change in the change log, as it is stored.
package struct ChangeEntry {
    package enum Operation: UInt8 {
        case create = 1, update = 2, delete = 3
    }

    package static let keySize = 12
    static let operationMask: UInt8 = 15
    static let hasWholeKey: UInt8 = 16
    static let hasValues: UInt8 = 32

    package let sequence: UInt64
    package let ordinal: UInt32
    package let operation: Operation
    /// The concrete entity of the record.
    package let entity: UInt16
    package let storageKey: Bytes
    /// The tuple of the whole key, if the storage key is only its digest.
    let wholeKey: Bytes?
    /// The fields that have changed.
    package let values: RowBody?
    let isPartial: Bool

    /// Decodes an entry with one change; nil if it is malformed.
    init?(_ key: Bytes, _ value: Bytes) {
        guard key.count == ChangeEntry.keySize, value.count > 3,
            let operation = Operation(rawValue: value[0] & ChangeEntry.operationMask)
        else { return nil }
        (sequence, ordinal) = ChangeEntry.position(of: key)
        self.operation = operation
        entity = value.load(1)
        let flags = value[0] & ~ChangeEntry.operationMask
        guard flags != 0 else {
            storageKey = value.slice(3..<value.count)
            (wholeKey, values, isPartial) = (nil, nil, false)
            return
        }
        var end = 4 + Int(value[3])
        guard flags & ~(ChangeEntry.hasWholeKey | ChangeEntry.hasValues) == 0, end > 4, end <= value.count else {
            return nil
        }
        storageKey = value.slice(4..<end)
        if flags & ChangeEntry.hasWholeKey != 0 {
            guard value.count - end >= 4 else { return nil }
            let start = end + 4, count = Int(value.load(end, UInt32.self))
            guard count > 0, count <= value.count - start else { return nil }
            end = start + count
            wholeKey = value.slice(start..<end)
        } else {
            wholeKey = nil
        }
        guard flags & ChangeEntry.hasValues != 0 else {
            (values, isPartial) = (nil, false)
            return
        }
        guard end < value.count,
            let body = RowBody(value.slice(end + 1..<value.count), isWide: value[end] & RowFormat.wide != 0)
        else { return nil }
        values = body
        isPartial = value[end] & RowFormat.partial != 0
    }

    /// A change of a group.
    init(
        _ sequence: UInt64, _ ordinal: UInt32, _ operation: Operation, entity: UInt16, storageKey: Bytes
    ) {
        self.sequence = sequence
        self.ordinal = ordinal
        self.operation = operation
        self.entity = entity
        self.storageKey = storageKey
        (wholeKey, values, isPartial) = (nil, nil, false)
    }

    /// The position in the key of an entry, which has 12 bytes.
    static func position(of key: Bytes) -> (sequence: UInt64, ordinal: UInt32) {
        (
            key.loadBigEndian(0, UInt64.self),
            key.loadBigEndian(8, UInt32.self)
        )
    }

    /// Calls the closure with the key of a position.
    static func withKey<Result>(_ sequence: UInt64, _ ordinal: UInt32, _ body: (Bytes) throws -> Result) rethrows
        -> Result
    {
        var key = (sequence.bigEndian, ordinal.bigEndian)
        // The elements of a tuple are adjacent in memory, in their order.
        return try withUnsafeBytes(of: &key) { try body($0.slice(0..<keySize)) }
    }

    /// Appends the value of an entry.
    ///
    /// - Parameters:
    ///   - wholeKey: the tuple of the whole key, if the storage key is only its digest.
    ///   - values: the fields that have changed, if they are to be kept.
    static func append(
        _ operation: Operation, _ entity: UInt16, _ key: Bytes, wholeKey: [UInt8]? = nil, values: ChangedFields? = nil,
        isPartial: Bool = false, to writer: inout ByteWriter
    ) {
        let flags = (wholeKey == nil ? 0 : hasWholeKey) | (values == nil ? 0 : hasValues)
        writer.append(operation.rawValue | flags)
        writer.appendLittleEndian(entity)
        if flags != 0 { writer.append(UInt8(key.count)) }
        writer.append(key)
        if let wholeKey {
            writer.appendLittleEndian(UInt32(wholeKey.count))
            writer.append(wholeKey)
        }
        values?.append(to: &writer, isPartial: isPartial)
    }
}
