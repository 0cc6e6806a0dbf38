import Foundation

/// The result of a rewrite; after an interruption, that of the resumed part only.
package struct RewriteReport: Sendable, Hashable {
    /// Rows that were examined.
    package var rows = 0
    /// Rows whose stored form has changed.
    package var rewritten = 0
    /// The stored size of the rows before, in bytes, without keys, indexes and free space.
    package var bytesBefore = 0
    /// The stored size of the rows after, in bytes, without keys, indexes and free space.
    package var bytesAfter = 0
    /// Dictionaries that were dropped because no row used them.
    package var dictionariesDropped = 0
    /// The number of rows to examine, of all entities that are rewritten.
    package var total = 0
    /// Whether the store was upgraded from an earlier format; only by a rewrite of all entities.
    var isUpgraded = false

    /// Creates an empty report.
    init() {}
}
