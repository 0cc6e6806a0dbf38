// Primary keys: as values, and as the bytes that rows are stored under.

import Foundation

/// A primary key: one component, or several for a composite key.
public struct RecordKey: Sendable, Hashable, CustomStringConvertible {
    public var components: [KeyComponent]

    public init(_ components: [KeyComponent]) {
        self.components = components
    }

    public init(_ value: Int64) { components = [.int(value)] }
    public init(_ value: String) { components = [.string(value)] }
    public init(_ value: UUID) { components = [.uuid(value)] }

    /// `17`, `main`, or `[acme, 17]`.
    public var description: String {
        components.count == 1
            ? components[0].description : "[" + components.map(\.description).joined(separator: ", ") + "]"
    }

    /// The bytes that the record is stored under.
    package var storageKey: [UInt8] {
        if case .digest(let bytes)? = components.first { return bytes }
        var writer = ByteWriter(capacity: 64)
        for component in components { writer.appendTuple(component) }
        writer.finishStorageKey(from: 0)
        return Array(writer.bytes)
    }

    /// Decodes a storage key. Nil if it is not one, or if it is the digest of a longer key, which stands in the row.
    package init?(storageKey: Bytes) {
        guard !StorageKey.isDigest(storageKey) else { return nil }
        self.init(tuple: storageKey)
    }

    /// The key of a record that a reference leads to: a storage key that is a digest stands for itself. Nil if the bytes are no storage key.
    package init?(reference storageKey: Bytes) {
        if StorageKey.isDigest(storageKey) {
            self.init([.digest(Array(storageKey))])
        } else {
            self.init(tuple: storageKey)
        }
    }

    /// Whether only the beginning and a digest of the key are known: see ``KeyComponent/digest(_:)``.
    public var isDigest: Bool { if case .digest? = components.first { true } else { false } }

    /// A storage key for messages: the key, or the bytes if they are none, or only its digest.
    package static func describe(storageKey: Bytes) -> String {
        RecordKey(storageKey: storageKey)?.description ?? storageKey.map { String($0, radix: 16) }.joined(separator: " ")
    }

    /// Decodes the whole encoding of a key, however long. Nil if it is not one.
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
    package mutating func appendTuple(_ component: KeyComponent) {
        switch component {
        case .int(let value): appendTuple(value)
        case .string(var value): value.withUTF8 { appendTuple(string: Bytes($0)) }
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { appendTuple(uuid: $0) }
        case .digest(let bytes): append(bytes)
        }
    }

    /// Makes the encoding that begins at an offset and ends here a storage key: shortens it if it is too long.
    package mutating func finishStorageKey(from start: Int) {
        guard count - start > StorageKey.longest else { return }
        let digest = SHA256.digest(bytes(start..<count))
        truncate(to: start + StorageKey.longest)
        append(0xFF)
        append(digest)
    }
}

extension UUID {
    /// The first 16 bytes; fewer leave the rest zero.
    package init(bytes: some Sequence<UInt8>) {
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &value) { target in
            for (index, byte) in bytes.prefix(16).enumerated() { target[index] = byte }
        }
        self.init(uuid: value)
    }
}
