// The tree of JSON keys of an entity: every key of every object is looked up in it, and leads to what takes its value.

/// A node of the tree of keys.
struct KeyNode: ~Copyable {
    /// JSON key → entry.
    var table = KeyTable()
    var entries: [Entry] = []
    var unmappedCount = 0
    /// Whether a slot takes an object as a whole whose keys these are: then none of them is unmapped.
    var isCovered = false

    /// A plain value, as a slot is; -1 stands for nothing.
    struct Entry {
        /// The first of the slots that take the value of this key, in the plan's takers.
        var taker: Int32 = -1
        /// The node below, for paths that go on.
        var child: Int32 = -1
        /// For keys that the description neither takes nor ignores: where they are counted, or that they are kept.
        var unmapped = Entry.none

        static let none: Int32 = -1, kept: Int32 = -2
    }
}

/// What takes the value of a key: a slot, or, past the slots, a place from which other sources lead on.
struct Taker {
    var place: Int
    /// Among the slot's alternates: less is better.
    var rank: Int
    /// Whether it identifies the record.
    var isKey: Bool
    /// The next one of the same key, or -1.
    var next: Int32
}

/// Nodes are not copyable, so they live in memory of their own.
final class NodeList {
    private var nodes: UnsafeMutablePointer<KeyNode>
    private var count = 1
    private var capacity = 4

    init() {
        nodes = .allocate(capacity: capacity)
        nodes.initialize(to: KeyNode())
    }

    deinit {
        nodes.deinitialize(count: count)
        nodes.deallocate()
    }

    subscript(index: Int) -> KeyNode {
        _read {
            precondition(index < count)
            yield nodes[index]
        }
        _modify {
            precondition(index < count)
            yield &nodes[index]
        }
    }

    func append() -> Int {
        if count == capacity {
            let larger = UnsafeMutablePointer<KeyNode>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: nodes, count: count)
            nodes.deallocate()
            nodes = larger
            capacity *= 2
        }
        (nodes + count).initialize(to: KeyNode())
        count += 1
        return count - 1
    }
}
