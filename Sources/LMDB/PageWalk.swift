// A walk over a table of a snapshot along its pages, forward, many entries at a time.
//
// Going from row to row with liblmdb waits for memory at every page: nothing says where the next one is before it is asked for. The branch
// above the leaves does, so pages are asked for several leaves ahead, and come while others are looked at.

public import CLMDB

/// Asks the processor for memory that is soon looked at, and does not wait for it. Any address will do.
@inlinable
@inline(__always)
package func ask(for address: UnsafeRawPointer) { tarn_prefetch(address) }

/// The pages of a tree, from the root down to the leaf that the walk is at. Every offset and number is checked: a damaged file is an error.
struct PageWalk: ~Copyable {
    private let tree: PageTree
    /// A branch, and which of its children the walk is in.
    private struct Branch {
        var page: Page
        var index: Int
        var count: Int
    }

    /// The branch above the leaf, the one above that, and those above it, the root first: most trees need no list of them.
    private var branch: Branch?
    private var parent: Branch?
    private var above: [Branch] = []
    private var leaf: Page?
    private var index = 0, count = 0
    /// How many leaves ahead a page's header is asked for; its entries, less than half of that.
    private var distance = nearest
    /// Up to which children of the branch they were asked for.
    private var askedHeaders = 0, askedEntries = 0
    private static let nearest = 2, farthest = 16
    /// Entries of pages with more of them lie so close together that the processor fetches them by itself.
    private static let fewEntries = 20, fewLongEntries = 6

    init(_ tree: PageTree) { self.tree = tree }

    mutating func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) {
        above.removeAll(keepingCapacity: true)
        distance = PageWalk.nearest
        (branch, parent, leaf) = (nil, nil, nil)
        (index, count) = (0, 0)
        guard let root = tree.root else { return }
        let key = SoughtKey(key)
        try descend(from: root, to: key)
        guard let leaf else { return }
        index = try leaf.firstNotLess(key, from: 0)
    }

    private mutating func descend(from top: Page, to key: SoughtKey) throws(LMDBError) {
        var page = top
        while page.isBranch {
            let count = page.count
            guard count > 0, above.count < PageTree.deepest else { throw PageTree.damaged }
            // The first key of a branch stands for everything that is less than the second.
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

    /// Asks for leaves that come after this one: the farther, the longer the walk is. Most walks end soon.
    private mutating func askAhead() {
        guard let branch else { return }
        let last = branch.count - 1
        // The headers of pages, and then of those whose headers have come meanwhile the entries.
        let headers = min(branch.index + distance, last)
        while askedHeaders < headers {
            askedHeaders += 1
            if let page = leaf(askedHeaders, of: branch) { tarn_prefetch(page.start) }
        }
        let ahead = distance / 2 - 1, entries = min(branch.index + (count > 8 ? min(2, ahead) : ahead), last)
        while askedEntries < entries {
            askedEntries += 1
            if let page = leaf(askedEntries, of: branch) { PageWalk.askForEntries(of: page) }
        }
        distance = min(2 * distance, PageWalk.farthest)
    }

    private func leaf(_ index: Int, of branch: Branch) -> Page? {
        guard let number = branch.page.child(index) else { return nil }
        return tree.page(number)
    }

    private static func askForEntries(of page: Page) {
        let count = page.count
        guard count <= fewEntries else { return }
        for index in 0..<count {
            // The key, where most rows say where their values are, and of longer ones the first of these.
            let node = page.start + min(page.node(index), page.size - 1)
            tarn_prefetch(node)
            tarn_prefetch(node + 64)
            guard count <= fewLongEntries else { continue }
            tarn_prefetch(node + 128)
            tarn_prefetch(node + 192)
        }
    }
}
