// Continuation tokens: the position of a page's last record, and a fingerprint of its query.

import Foundation

/// The end of a page of a query's result, from which the next page continues.
///
/// It is valid for the same query, perhaps with another limit. It stays valid after the store was
/// reopened and after records were added or deleted: the next page then has the records after this
/// position.
public struct ContinuationToken: Sendable, Hashable {
    // u8 version, u64 fingerprint of the query, u32 length of the sort key, sort key, storage key
    let bytes: [UInt8]

    private static let version: UInt8 = 1
    private static let headerSize = 13

    /// Creates a token for a position in the result of a query.
    ///
    /// - Parameter position: the sort key, followed by the storage key.
    init(fingerprint: UInt64, position: Bytes, sortKeyLength: Int) {
        var writer = ByteWriter()
        writer.append(ContinuationToken.version)
        writer.appendLittleEndian(fingerprint)
        writer.appendLittleEndian(UInt32(sortKeyLength))
        writer.append(position)
        bytes = Array(writer.bytes)
    }

    /// Reads the text of a token; nil if it is not one.
    public init?(text: String) {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64), data.count > ContinuationToken.headerSize,
            data.first == ContinuationToken.version
        else { return nil }
        bytes = Array(data)
        // The storage key after the sort key is not empty.
        guard sortKeyLength < bytes.count - ContinuationToken.headerSize else { return nil }
    }

    /// The token as text for a URL or a command line (base64url, RFC 4648 §5, without padding).
    public var text: String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    var fingerprint: UInt64 { bytes.withUnsafeBytes { $0.load(1) } }
    var sortKeyLength: Int { bytes.withUnsafeBytes { Int($0.load(9, UInt32.self)) } }
    var position: ArraySlice<UInt8> { bytes[ContinuationToken.headerSize...] }
}

extension Query {
    /// The fingerprint that a token is checked against, the same in every process.
    ///
    /// Queries with equal fingerprints have the same entity, condition, order and partials.
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
    /// Appends a text with its length, so that adjacent texts cannot be confused.
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
        case .anyContains(let text, let ignoresCase):
            append(11)
            append(ignoresCase ? 1 : 0)
            appendText(text)
        case .and(let conditions): list(8, conditions, &self)
        case .or(let conditions): list(9, conditions, &self)
        case .not(let inner): list(10, [inner], &self)
        }
    }
}
