// Primary keys as values and as storage keys.

import Foundation

/// A primary key: one component, or several for a composite key.
public struct RecordKey: Sendable, Hashable, CustomStringConvertible {
    /// The components in the order of the entity's key attributes.
    public var components: [KeyComponent]

    /// Creates a key from its components.
    public init(_ components: [KeyComponent]) {
        self.components = components
    }

    /// Creates a key of one integer.
    public init(_ value: Int64) { components = [.int(value)] }
    /// Creates a key of one string.
    public init(_ value: String) { components = [.string(value)] }
    /// Creates a key of one UUID.
    public init(_ value: UUID) { components = [.uuid(value)] }

    /// A text for people: `17`, `main`, or `[acme, 17]`.
    public var description: String {
        components.count == 1
            ? components[0].description : "[" + components.map(\.description).joined(separator: ", ") + "]"
    }

    /// The bytes under which the record is stored.
    package var storageKey: [UInt8] {
        if case .digest(let bytes)? = components.first { return bytes }
        var writer = ByteWriter(capacity: 64)
        for component in components { writer.appendTuple(component) }
        writer.finishStorageKey(from: 0)
        return Array(writer.bytes)
    }

    /// Decodes a storage key. Nil if the bytes are none, or if they are a digest.
    /// The row stores the whole key of a digest.
    @usableFromInline
    package init?(storageKey: Bytes) {
        guard !StorageKey.isDigest(storageKey) else { return nil }
        self.init(tuple: storageKey)
    }

    /// Decodes the storage key in a reference. A digest becomes a ``KeyComponent/digest(_:)``.
    /// Nil if the bytes are no storage key.
    package init?(reference storageKey: Bytes) {
        if StorageKey.isDigest(storageKey) {
            self.init([.digest(Array(storageKey))])
        } else {
            self.init(tuple: storageKey)
        }
    }

    /// Indicates that only the beginning and the digest of the key are known.
    /// See ``KeyComponent/digest(_:)``.
    package var isDigest: Bool { if case .digest? = components.first { true } else { false } }

    /// Describes a storage key in messages: as a key if it decodes, otherwise as hexadecimal bytes.
    package static func describe(storageKey: Bytes) -> String {
        RecordKey(storageKey: storageKey)?.description
            ?? storageKey.map { String($0, radix: 16) }.joined(separator: " ")
    }

    /// Describes a storage key in messages, from an array.
    package static func describe(storageKey: [UInt8]) -> String {
        storageKey.withUnsafeBytes { describe(storageKey: $0) }
    }

    /// Decodes the encoding of a key of any length. Nil if the bytes are no key.
    package init?(tuple: Bytes) {
        var reader = TupleReader(tuple), components: [KeyComponent] = []
        while !reader.isAtEnd {
            switch reader.next() {
            case .int(let x): components.append(.int(x))
            case .string(let x): components.append(.string(x))
            case .uuid(let x): components.append(.uuid(UUID(bytes: x)))
            default: return nil
            }
        }
        guard !components.isEmpty else { return nil }
        self.components = components
    }
}

extension ByteWriter {
    mutating func appendTuple(_ component: KeyComponent) {
        switch component {
        case .int(let value): appendTuple(value)
        case .string(var value): value.withUTF8 { appendTuple(string: Bytes($0)) }
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { appendTuple(uuid: $0) }
        case .digest(let bytes): append(bytes)
        }
    }

    /// Turns the encoding from an offset to the end into a storage key, and shortens it if
    /// necessary.
    package mutating func finishStorageKey(from start: Int) {
        guard count - start > StorageKey.longest else { return }
        let digest = SHA256.digest(bytes(start..<count))
        truncate(to: start + StorageKey.longest)
        append(0xFF)
        append(digest)
    }
}

extension UUID {
    /// Creates a UUID from the first 16 bytes. Missing bytes are zero.
    init(bytes: some Sequence<UInt8>) {
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &value) { target in
            for (index, byte) in bytes.prefix(16).enumerated() { target[index] = byte }
        }
        self.init(uuid: value)
    }
}
