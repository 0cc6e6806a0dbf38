internal import LMDB

/// How far a rewrite of an entity has come. `meta`, "rewrite <entity id>": u16 dictionary id (0: none), storage key.
struct RewriteMark {
    /// The dictionary that was current when it began. Another one means that the rewrite has been overtaken.
    var dictionary: UInt16
    /// Rows up to this key are plain, or have this dictionary or a later one.
    var key: [UInt8]

    static func metaKey(_ entity: UInt16) -> [UInt8] { Array((MetaKey.rewritePrefix + String(entity)).utf8) }
}
