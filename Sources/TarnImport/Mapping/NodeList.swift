/// Manually managed storage for the nodes of a tree of keys: they are not copyable, so an array
/// cannot have them. Every access is checked against the count in every build.
final class NodeList {
    private var nodes: UnsafeMutablePointer<KeyNode>
    private var count = 1
    private var capacity = 4
    /// The list that the nodes belong to, which does not change any more; nil if it is this one.
    private var owner: NodeList?

    init() {
        nodes = .allocate(capacity: capacity)
        nodes.initialize(to: KeyNode())
    }

    /// Creates a list with the nodes of another one, which must not change from then on.
    ///
    /// The first change copies them.
    init(sharing other: NodeList) {
        owner = other.owner ?? other
        nodes = other.nodes
        count = other.count
        capacity = other.capacity
    }

    deinit {
        guard owner == nil else { return }
        nodes.deinitialize(count: count)
        nodes.deallocate()
    }

    /// Copies shared nodes before a change.
    private func copyIfShared() {
        guard owner != nil else { return }
        let own = UnsafeMutablePointer<KeyNode>.allocate(capacity: capacity)
        for index in 0..<count { (own + index).initialize(to: KeyNode(copying: nodes[index])) }
        nodes = own
        owner = nil
    }

    subscript(index: Int) -> KeyNode {
        _read {
            precondition(index >= 0 && index < count)
            yield nodes[index]
        }
        _modify {
            precondition(index >= 0 && index < count)
            copyIfShared()
            yield &nodes[index]
        }
    }

    func append() -> Int {
        copyIfShared()
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
