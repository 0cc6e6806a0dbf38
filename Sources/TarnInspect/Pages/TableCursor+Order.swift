// Entries that are out of order: a damaged key is told from the sound one beside it.
//
// One of two neighbours in the wrong order is damaged. If it counted as sound, all entries behind
// it would be out of order, or beyond the end of an interval. The checksum of the value decides,
// which covers the key. In a table without checksums the keys behind the two decide.

import LMDBPages
import TarnStore

extension TableCursor {
    /// Returns whether the key of an entry may be taken for what it was when it was written.
    ///
    /// - Parameter isOutside: Whether the key is outside of the interval. It may end the interval.
    func isCredible(_ key: Bytes, _ leaf: Level, isOutside: Bool) -> Bool {
        guard isBehind(lastKey, key) else { return isCredible(key, leaf, before: lastKey) }
        if isOutside, let isSound = isSound(leaf) { return isSound }
        guard let next = orderOfNext(key, leaf), next <= 0 else { return true }
        if let isSound = isSound(leaf) { return isSound }
        guard let following = self.key(ahead: 1), let second = self.key(ahead: 2) else { return !isOutside }
        let fitsSecond = second.withUnsafeBytes { Bytes.compare($0, key) * step > 0 }
        let followingFits =
            following.withUnsafeBytes { isBehind(lastKey, $0) }
            && second.withUnsafeBytes { isBehind(following, $0) }
        // If both fit, nothing is lost by staying in the interval.
        return followingFits ? fitsSecond && !isOutside : !isOutside
    }

    /// Returns whether an entry is sound whose key does not follow the last one.
    private func isCredible(_ key: Bytes, _ leaf: Level, before last: [UInt8]?) -> Bool {
        if let isSound = isSound(leaf) {
            // Two sound entries in the wrong order are on a page that does not belong there.
            guard isSound, let lastEntry, self.isSound(lastEntry) == false else { return false }
        } else {
            guard isBehind(keyBeforeLast, key), let next = orderOfNext(key, leaf), next > 0,
                last?.withUnsafeBytes({ Bytes.compare($0, key) }) != 0
            else { return false }
        }
        fault(.pageKeyOrder, leaf.number, "the key before node \(leaf.index) does not stand where it belongs")
        return true
    }

    /// Returns whether a key follows another one in the direction of the cursor.
    private func isBehind(_ last: [UInt8]?, _ key: Bytes) -> Bool {
        last?.withUnsafeBytes { Bytes.compare(key, $0) * step > 0 } ?? true
    }

    /// Returns whether the checksum of an entry is right, which covers its key; nil if the table
    /// has no checksums.
    private func isSound(_ leaf: Level) -> Bool? {
        let root: UInt32? =
            table.hasPrefix("r/") ? UInt32(table.dropFirst(2)) : table == TableName.responses ? 0 : nil
        guard root != nil || file.checksumName(of: table) != nil else { return nil }
        return leaf.page.withView { page in
            guard let node = page.leafNode(leaf.index), let value = file.snapshot.value(of: node) else { return false }
            return value.withUnsafeBytes { value in
                guard let root else { return file.content(value, table, node.key) != nil }
                return value.count >= RowFormat.headerSize
                    && EncodedRow.hasValidChecksum(value, table: root, key: node.key)
            }
        }
    }

    /// Returns whether the search for the beginning of the interval has passed entries of it: a
    /// damaged key in a branch has led to the page behind theirs.
    ///
    /// - Parameter index: The index at which the search has ended in its leaf.
    func hasPassed(_ bound: [UInt8], _ index: Int) -> Bool {
        guard let leaf = levels.last, index == (isReversed ? leaf.count - 1 : 0),
            let passed = key(ahead: 1, step: -step)
        else { return false }
        return isReversed ? passed.lexicographicallyPrecedes(bound) : !passed.lexicographicallyPrecedes(bound)
    }

    // MARK: - The keys ahead

    /// Compares the next key with that of the current entry: positive if it follows it. Nil if no
    /// key follows, or none that is readable.
    private func orderOfNext(_ key: Bytes, _ leaf: Level) -> Int? {
        let index = leaf.index + step
        guard index >= 0, index < leaf.count else {
            return self.key(ahead: 1)?.withUnsafeBytes { Bytes.compare($0, key) * step }
        }
        return leaf.page.withView { $0.key(index).map { Bytes.compare($0, key) * step } }
    }

    /// Returns the key of an entry behind the current one, without moving the cursor.
    private func key(ahead count: Int) -> [UInt8]? { key(ahead: count, step: step) }

    /// Returns the key of an entry in one of the directions, without moving the cursor.
    private func key(ahead count: Int, step: Int) -> [UInt8]? {
        var path = levels, left = count
        if !path.isEmpty { path[path.count - 1].index += step }
        while let top = path.last {
            guard top.index >= 0, top.index < top.count else {
                path.removeLast()
                if !path.isEmpty { path[path.count - 1].index += step }
                continue
            }
            guard top.isLeaf else {
                guard path.count < TableCursor.deepest, let number = top.page.withView({ $0.child(top.index) }),
                    let next = level(number, fromEnd: step < 0)
                else { return nil }
                path.append(next)
                continue
            }
            left -= 1
            if left == 0 { return top.page.withView { $0.key(top.index).map { Array($0) } } }
            path[path.count - 1].index += step
        }
        return nil
    }

    /// Reads a page ahead of the cursor; nil if it is damaged, which is a finding when the cursor
    /// comes to it.
    private func level(_ number: UInt64, fromEnd: Bool) -> Level? {
        guard number >= PageLayout.metaPages, number <= file.snapshot.meta.lastPage,
            let page = file.snapshot.file.page(number)
        else { return nil }
        let (kind, declared, count) = page.withView { ($0.kind, $0.number, $0.count) }
        guard declared == number, kind == .leaf || kind == .branch else { return nil }
        return Level(
            page: page, number: number, count: count, isLeaf: kind == .leaf, index: fromEnd ? count - 1 : 0)
    }
}
