// Rows outside of a store: bytes of a file of unknown health, and the dictionaries that were found in it.

/// Reads rows, compressed or not. For one thread at a time.
package final class RowDecoder {
    /// Why a row cannot be read.
    package enum Failure: Error {
        /// It is no row, or its frame is damaged.
        case malformed
        /// The dictionary that it needs is not there.
        case noDictionary(UInt16)
    }

    private var dictionaries: [UInt16: RowDictionary] = [:]
    private let context = RowContext()

    package init() {}

    /// Makes a dictionary known.
    ///
    /// - Returns: whether zstd can use it.
    package func add(dictionary id: UInt16, _ bytes: [UInt8]) -> Bool {
        dictionaries[id] = RowDictionary(id: id, bytes: bytes)
        return dictionaries[id] != nil
    }

    package func hasDictionary(_ id: UInt16) -> Bool { dictionaries[id] != nil }

    /// Runs a closure; rows that it reads are valid until it returns.
    package func lending<Result>(_ body: () throws -> Result) rethrows -> Result {
        let mark = context?.mark ?? 0
        defer { context?.release(to: mark) }
        return try body()
    }

    /// A row with its whole body, valid until the `lending` closure around the call returns.
    package func view(_ bytes: Bytes) throws(Failure) -> RowView {
        if let row = RowView(bytes) { return row }
        guard let id = RowView.dictionary(of: bytes) else { throw .malformed }
        guard let dictionary = dictionaries[id], let context else { throw .noDictionary(id) }
        guard let body = context.lend(row: bytes, dictionary).pointee.whole(), let row = RowView(bytes, body: body) else {
            throw .malformed
        }
        return row
    }
}
