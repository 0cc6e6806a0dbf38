// Decoding rows outside a store: from a file that may be damaged, with the dictionaries in it.

/// Decodes rows, compressed or not. To be used by one thread at a time.
package final class RowDecoder {
    /// The reason why a row cannot be decoded.
    package enum Failure: Error {
        /// The bytes are no row, or the frame is damaged.
        case malformed
        /// The row's dictionary was not added.
        case noDictionary(UInt16)
    }

    private var dictionaries: [UInt16: RowDictionary] = [:]
    private let context = RowContext()

    package init() {}

    /// Adds a dictionary.
    ///
    /// - Returns: Whether zstd can use it.
    package func add(dictionary id: UInt16, _ bytes: [UInt8]) -> Bool {
        dictionaries[id] = RowDictionary(id: id, bytes: bytes)
        return dictionaries[id] != nil
    }

    package func hasDictionary(_ id: UInt16) -> Bool { dictionaries[id] != nil }

    /// Runs a closure. Rows decoded in it are valid until it returns.
    package func lending<Result>(_ body: () throws -> Result) rethrows -> Result {
        let mark = context?.mark ?? 0
        defer { context?.release(to: mark) }
        return try body()
    }

    /// Decodes a row with its whole body. Valid until the enclosing `lending` closure returns.
    package func view(_ bytes: Bytes) throws(Failure) -> EncodedRow {
        if let row = EncodedRow(bytes) { return row }
        guard let id = EncodedRow.dictionary(of: bytes) else { throw .malformed }
        guard let dictionary = dictionaries[id], let context else { throw .noDictionary(id) }
        let lent = context.lend(row: bytes, .passUnretained(dictionary))
        guard let body = lent.pointee.whole(), let row = EncodedRow(bytes, body: body) else { throw .malformed }
        return row
    }
}
