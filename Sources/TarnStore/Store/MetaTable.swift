// The table `meta`: single values under fixed names.

import Foundation
internal import LMDB

extension RawTransaction {
    func get(_ table: Table, key: StaticString) throws(LMDBError) -> Bytes? {
        try get(table, Bytes(key))
    }

    func put(_ table: Table, key: StaticString, text: String) throws(LMDBError) {
        var writer = ByteWriter()
        writer.append(text)
        try put(table, Bytes(key), writer.bytes)
    }

    func put(_ table: Table, key: StaticString, number: UInt64) throws(LMDBError) {
        var writer = ByteWriter()
        writer.appendBigEndian(number)
        try put(table, Bytes(key), writer.bytes)
    }

    /// A number of `meta`; 0 if it is not there.
    func number(_ table: Table, key: StaticString) throws(LMDBError) -> UInt64 {
        guard let value = try get(table, key: key), value.count == 8 else { return 0 }
        return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    }
}

extension Bytes {
    init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
