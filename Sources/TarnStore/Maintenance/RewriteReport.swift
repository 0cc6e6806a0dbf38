import Foundation
internal import LMDB

/// What a rewrite did. Of one that was resumed, only this part.
public struct RewriteReport: Sendable, Hashable {
    /// Rows that were looked at.
    public var rows = 0
    /// Rows whose stored bytes are others now.
    public var rewritten = 0
    /// Bytes of the rows as they were stored before; without keys, indexes and free space.
    public var bytesBefore = 0
    /// The same of the rows as they are now.
    public var bytesAfter = 0
    /// Dictionaries that no row used any more.
    public var dictionariesDropped = 0
    /// How many rows there are to look at, of all entities that are rewritten.
    public var total = 0
    /// Whether the store had an earlier format and has that of this version now. Only a rewrite of all entities does it.
    public var isUpgraded = false

    public init() {}
}
