// Where a page of a query's result ended: the position of its last record, and which query it is of.

import Foundation
internal import LMDB

/// Where a page of a query's result ended. It holds for the same query (its limit may be another), also after the store was
/// opened again and when records came and went: what comes after that place then is what is given.
public struct ContinuationToken: Sendable, Hashable {
    // u8 version, 8 bytes of the query's fingerprint, u32 length of the sort key, sort key, storage key
    let bytes: [UInt8]

    private static let version: UInt8 = 1
    private static let headerSize = 13

    /// - Parameter position: the sort key, and behind it the storage key.
    init(fingerprint: UInt64, position: Bytes, sortKeyLength: Int) {
        var writer = ByteWriter()
        writer.append(ContinuationToken.version)
        writer.appendLittleEndian(fingerprint)
        writer.appendLittleEndian(UInt32(sortKeyLength))
        writer.append(position)
        bytes = Array(writer.bytes)
    }

    /// Reads the text of a token. Nil if it is none.
    public init?(text: String) {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64), data.count > ContinuationToken.headerSize,
            data.first == ContinuationToken.version
        else { return nil }
        bytes = Array(data)
        // There is a storage key behind the sort key.
        guard sortKeyLength < bytes.count - ContinuationToken.headerSize else { return nil }
    }

    /// The token as text that can stand in a URL or on a command line (base64url, RFC 4648 §5, without padding).
    public var text: String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    var fingerprint: UInt64 { bytes.withUnsafeBytes { $0.load(1) } }
    var sortKeyLength: Int { bytes.withUnsafeBytes { Int($0.load(9, UInt32.self)) } }
    var position: ArraySlice<UInt8> { bytes[ContinuationToken.headerSize...] }
}

extension Query {
    /// What a token is checked by: two queries with the same number ask the same, in the same order. The same in every
    /// process.
    var fingerprint: UInt64 {
        var writer = ByteWriter(capacity: 512)
        writer.appendText(entity)
        writer.append(condition)
        for order in order {
            writer.append(order.path)
            writer.append(order.isDescending ? 1 : 0)
        }
        writer.appendText(partials.rawValue)
        return SHA256.digest(writer.bytes).withUnsafeBytes { $0.load(0) }
    }
}

extension ByteWriter {
    /// With its length, so that two texts in a row are not one.
    fileprivate mutating func appendText(_ text: String) {
        appendLittleEndian(UInt32(text.utf8.count))
        append(text)
    }

    fileprivate mutating func append(_ path: FieldPath) {
        append(path.ignoresCase ? 1 : 0)
        appendLittleEndian(UInt32(path.names.count))
        for name in path.names { appendText(name) }
    }

    fileprivate mutating func appendSized(_ values: [Value]) {
        appendLittleEndian(UInt32(values.count))
        for value in values {
            value.withEncoded { encoded in
                appendLittleEndian(UInt32(encoded.bytes.count))
                append(encoded.bytes)
            }
        }
    }

    fileprivate mutating func append(_ condition: Condition) {
        func list(_ code: UInt8, _ conditions: [Condition], _ writer: inout ByteWriter) {
            writer.append(code)
            writer.appendLittleEndian(UInt32(conditions.count))
            for condition in conditions { writer.append(condition) }
        }
        func leaf(_ code: UInt8, _ path: FieldPath, _ values: [Value], _ writer: inout ByteWriter) {
            writer.append(code)
            writer.append(path)
            writer.appendSized(values)
        }
        switch condition {
        case .all: append(0)
        case .compare(let path, let comparison, let value):
            leaf(1, path, [value], &self)
            appendText(comparison.rawValue)
        case .isIn(let path, let values): leaf(2, path, values, &self)
        case .between(let path, let low, let high): leaf(3, path, [low, high], &self)
        case .hasPrefix(let path, let text): leaf(4, path, [.string(text)], &self)
        case .contains(let path, let value): leaf(5, path, [value], &self)
        case .like(let path, let text): leaf(6, path, [.string(text)], &self)
        case .isMissing(let path): leaf(7, path, [], &self)
        case .and(let conditions): list(8, conditions, &self)
        case .or(let conditions): list(9, conditions, &self)
        case .not(let inner): list(10, [inner], &self)
        }
    }
}
