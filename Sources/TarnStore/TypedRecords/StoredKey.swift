// Primary keys as Swift values.

public import Foundation

/// A type of primary keys.
///
/// A program's own type can be a key: it converts from and to a `RecordKey`.
public protocol StoredKey: Hashable, Sendable {
    /// Converts a key; nil if it has another form.
    init?(_ key: RecordKey)

    /// The key as a `RecordKey`.
    var recordKey: RecordKey { get }

    /// The number of components, by which a key is a part of a longer one. Default: 1.
    static var componentCount: Int { get }
}

extension StoredKey {
    public static var componentCount: Int { 1 }
}

// The forms that reads need. They are no requirements of the protocol: comparing the type costs no
// more than calling one, and nothing where the type is known.
extension StoredKey {
    /// The attribute type of a key of one component in the catalog.
    ///
    /// It is nil if only each single key determines its form.
    static var attributeType: AttributeType? {
        if Self.self == Int64.self || Self.self == Int.self { return .int }
        if Self.self == String.self { return .string }
        return Self.self == UUID.self ? .uuid : nil
    }

    /// Decodes a storage key; nil if it has another form, or is the digest of a longer key.
    @inlinable
    init?(encodedKey: UnsafeRawBufferPointer) {
        if Self.self == Int64.self || Self.self == Int.self, MemoryLayout<Self>.size == 8 {
            guard let number = Int64(storageKey: encodedKey) else { return nil }
            self = unsafeBitCast(number, to: Self.self)
            return
        }
        guard let key = RecordKey(storageKey: encodedKey) else { return nil }
        self.init(key)
    }

    /// Calls a closure with the storage key of the record, borrowed.
    @inlinable
    func withStorageKey<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Fast path for the most frequent key, without a buffer on the heap.
        if Self.self == Int64.self || Self.self == Int.self, MemoryLayout<Self>.size == 8 {
            return try unsafeBitCast(self, to: Int64.self).withIntegerKey(body)
        }
        return try recordKey.withTupleKey(body)
    }
}

extension RecordKey: StoredKey {
    public init?(_ key: RecordKey) { self = key }

    public var recordKey: RecordKey { self }

    @usableFromInline
    func withTupleKey<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var writer = ByteWriter(capacity: 256)
        appendStorageKey(to: &writer)
        return try body(writer.bytes)
    }

    func appendStorageKey(to writer: inout ByteWriter) {
        let start = writer.count
        for component in components { writer.appendTuple(component) }
        writer.finishStorageKey(from: start)
    }
}

extension Int64: StoredKey {
    public init?(_ key: RecordKey) {
        guard key.components.count == 1, case .int(let value)? = key.components.first else { return nil }
        self = value
    }

    public var recordKey: RecordKey { RecordKey(self) }

    /// Decodes the tuple layer's integer.
    ///
    /// The type code has the length; negative numbers are one's complement.
    @usableFromInline
    init?(storageKey encodedKey: UnsafeRawBufferPointer) {
        guard let code = encodedKey.first, (0x0C...0x1C).contains(code) else { return nil }
        let size = abs(Int(code) - Int(TupleCode.zero))
        guard encodedKey.count == size + 1 else { return nil }
        let isNegative = code < TupleCode.zero
        var magnitude: UInt64 = 0
        for offset in 1..<size + 1 {
            magnitude = magnitude << 8 | UInt64(isNegative ? ~encodedKey[offset] : encodedKey[offset])
        }
        guard magnitude <= UInt64(Int64.max) + (isNegative ? 1 : 0) else { return nil }
        self = isNegative ? Int64(truncatingIfNeeded: ~magnitude &+ 1) : Int64(magnitude)
    }

    @inlinable
    func withIntegerKey<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let size = (64 - magnitude.leadingZeroBitCount + 7) / 8
        let digits = (self < 0 ? ~magnitude : magnitude) << UInt64(64 - size * 8)
        var bytes: (UInt64, UInt64) = (0, 0)
        return try withUnsafeMutableBytes(of: &bytes) { bytes throws(Failure) in
            bytes[0] = self < 0 ? 0x14 - UInt8(size) : 0x14 + UInt8(size)
            bytes.storeBytes(of: digits.bigEndian, toByteOffset: 1, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(rebasing: bytes[0..<size + 1]))
        }
    }
}

extension Int: StoredKey {
    public init?(_ key: RecordKey) {
        guard let value = Int64(key), let number = Int(exactly: value) else { return nil }
        self = number
    }

    public var recordKey: RecordKey { RecordKey(Int64(self)) }
}

extension String: StoredKey {
    public init?(_ key: RecordKey) {
        guard key.components.count == 1, case .string(let value)? = key.components.first else { return nil }
        self = value
    }

    public var recordKey: RecordKey { RecordKey(self) }

}

extension UUID: StoredKey {
    public init?(_ key: RecordKey) {
        guard key.components.count == 1, case .uuid(let value)? = key.components.first else { return nil }
        self = value
    }

    public var recordKey: RecordKey { RecordKey(self) }

}
