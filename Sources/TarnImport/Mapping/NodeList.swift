/// Manually managed storage for the nodes of a tree of keys: they are not copyable, so an array
/// cannot have them. Every access is checked against the count in every build.
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
            precondition(index >= 0 && index < count)
            yield nodes[index]
        }
        _modify {
            precondition(index >= 0 && index < count)
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
