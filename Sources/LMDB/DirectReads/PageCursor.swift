// A forward scan of a table in a snapshot along its pages, many entries at a time.
//
// A liblmdb cursor waits for memory at every leaf, because the address of the next leaf is not
// known in advance. The branch above the leaves has these addresses, so several leaves are
// prefetched while earlier ones are read.

public import CLMDB
import LMDBPages

/// Prefetches memory without waiting for it. Every address is permitted.
@inlinable
@inline(__always)
package func ask(for address: UnsafeRawPointer) { tarn_prefetch(address) }

/// The path of a scan from the root of a tree down to its current leaf.
///
/// Every offset and page number is checked: a damaged file is an error.
struct PageCursor: ~Copyable {
    private let tree: PageTree
    /// A branch and the index of its current child.
    private struct Branch {
        var page: PageView
        var index: Int
        var count: Int
    }

    /// The branch above the leaf, its parent, and the branches above those, root first.
    ///
    /// Most trees do not need the array.
    private var branch: Branch?
    private var parent: Branch?
    private var above: [Branch] = []
    private var leaf: PageView?
    private var index = 0, count = 0
    /// The number of leaves by which headers are prefetched; entries: less than half of it.
    private var distance = nearest
    /// The last children of the branch whose headers and entries were prefetched.
    private var askedHeaders = 0, askedEntries = 0
    private static let nearest = 2, farthest = 16
    /// The most entries of a page that are prefetched: the processor prefetches closer ones itself.
    private static let fewEntries = 20, fewLongEntries = 6

    init(_ tree: PageTree) { self.tree = tree }

    mutating func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) {
        above.removeAll(keepingCapacity: true)
        distance = PageCursor.nearest
        (branch, parent, leaf) = (nil, nil, nil)
        (index, count) = (0, 0)
        guard let root = tree.root else { return }
        let key = SoughtKey(key)
        try descend(from: root, to: key)
        guard let leaf else { return }
        index = try leaf.firstNotLess(key, from: 0)
    }

    private mutating func descend(from top: PageView, to key: SoughtKey) throws(LMDBError) {
        var page = top
        while page.isBranch {
            let count = page.count
            guard count > 0, above.count < PageLayout.deepest else { throw PageTree.damaged }
            // The first key of a branch counts as less than every key (mdb.c, `mdb_node_search`).
            let behind = key.bytes.isEmpty ? 1 : try page.firstGreater(key, from: 1)
            if let branch {
                if let parent { above.append(parent) }
                parent = branch
            }
            branch = Branch(page: page, index: behind - 1, count: count)
            page = try tree.child(page, behind - 1)
        }
        guard page.isLeaf else { throw PageTree.damaged }
        leaf = page
        (index, count) = (0, page.count)
        (askedHeaders, askedEntries) = (branch?.index ?? 0, branch?.index ?? 0)
        askAhead()
    }

    mutating func fill(_ batch: UnsafeMutableBufferPointer<RawCursor.Entry>) throws(LMDBError) -> Int {
        var filled = 0
        while filled < batch.count {
            guard let leaf else { return filled }
            let taken = min(count - index, batch.count - filled)
            for _ in 0..<max(0, taken) {
                guard let entry = leaf.entry(index, lastPage: tree.lastPage) else { throw PageTree.damaged }
                batch.initializeElement(at: filled, to: entry)
                index += 1
                filled += 1
            }
            if filled < batch.count { try nextLeaf() }
        }
        return filled
    }

    private mutating func nextLeaf() throws(LMDBError) {
        leaf = nil
        while var next = branch {
            next.index += 1
            guard next.index < next.count else {
                branch = parent
                parent = above.popLast()
                continue
            }
            branch = next
            let page = try tree.child(next.page, next.index)
            if page.isLeaf {
                leaf = page
                (index, count) = (0, page.count)
                askAhead()
            } else {
                try descend(from: page, to: SoughtKey(UnsafeRawBufferPointer(start: nil, count: 0)))
            }
            return
        }
    }

    /// Prefetches the following leaves.
    ///
    /// The distance grows with the scan, since most scans are short.
    private mutating func askAhead() {
        guard let branch else { return }
        let last = branch.count - 1
        // Headers are prefetched first. Entries follow for the pages whose headers have arrived.
        let headers = min(branch.index + distance, last)
        while askedHeaders < headers {
            askedHeaders += 1
            if let page = leaf(askedHeaders, of: branch) { tarn_prefetch(page.start) }
        }
        let ahead = distance / 2 - 1, entries = min(branch.index + (count > 8 ? min(2, ahead) : ahead), last)
        while askedEntries < entries {
            askedEntries += 1
            if let page = leaf(askedEntries, of: branch) { PageCursor.askForEntries(of: page) }
        }
        distance = min(2 * distance, PageCursor.farthest)
    }

    private func leaf(_ index: Int, of branch: Branch) -> PageView? {
        guard let number = branch.page.child(index) else { return nil }
        return tree.page(number)
    }

    private static func askForEntries(of page: PageView) {
        let count = page.count
        guard count <= fewEntries else { return }
        for index in 0..<count {
            // The key, the field directory of most rows, and for longer rows the first values.
            let node = page.start + min(page.offset(ofNode: index), page.size - 1)
            tarn_prefetch(node)
            tarn_prefetch(node + 64)
            guard count <= fewLongEntries else { continue }
            tarn_prefetch(node + 128)
            tarn_prefetch(node + 192)
        }
    }
}
