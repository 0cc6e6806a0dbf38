/// The progress of a rewrite of an entity.
///
/// Stored in `meta` under "rewrite <entity id>": u16 dictionary id (0: none), storage key.
struct RewriteMark {
    /// The dictionary at the beginning of the rewrite. If it is not current, the mark is outdated.
    var dictionary: UInt16
    /// The last rewritten key. Rows up to it are plain, or have this dictionary or a later one.
    var key: [UInt8]

    static func metaKey(_ entity: UInt16) -> [UInt8] { Array((MetaKey.rewritePrefix + String(entity)).utf8) }
}
