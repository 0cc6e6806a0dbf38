// Stores of earlier formats, as the versions that knew no other made them.

import Foundation
import LMDB

@testable import TarnStore

enum EarlierFormat {
    /// Makes an empty store of a format in a directory that is not there.
    static func make(_ format: Int, at path: String) throws {
        let environment = try Environment.open(
            at: path, options: Environment.Options(durability: .volatile, creates: true, minimumMapSize: 1 << 30))
        try environment.writeOpeningTables { transaction in
            let meta = ChecksummedTable.meta(try transaction.table(TableName.meta), format: format)
            for name in TableName.all { _ = try transaction.table(name) }
            try transaction.raw.put(meta, key: MetaKey.format, text: String(format))
            try transaction.raw.put(meta, key: MetaKey.incarnation, text: UUID().uuidString.lowercased())
            try transaction.raw.put(meta, key: MetaKey.generation, number: 1)
            try transaction.raw.put(meta, key: MetaKey.sequence, number: 0)
            try transaction.raw.put(meta, key: MetaKey.catalog, text: try StoredCatalog.text(of: Catalog()))
        }
    }
}
