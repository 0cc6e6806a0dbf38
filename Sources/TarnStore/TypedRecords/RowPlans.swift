import Locking
import Synchronization

/// The plans of one catalog state, freed with it.
///
/// Lookups take no lock: plans are only added.
final class RowPlans: Sendable {
    /// A node that owns its plan and the nodes behind it.
    ///
    /// References are unmanaged, so that a lookup does no reference counting.
    fileprivate final class Node: Sendable {
        let type: ObjectIdentifier
        let plan: Unmanaged<RowPlan>
        let next: Unmanaged<Node>?

        init(_ type: ObjectIdentifier, _ plan: RowPlan, _ next: Unmanaged<Node>?) {
            self.type = type
            self.plan = .passRetained(plan)
            self.next = next
        }

        deinit {
            plan.release()
            next?.release()
        }
    }

    /// The newest node, retained. `deinit` releases it, when no other thread can use it any more.
    private let latest = Atomic<Unmanaged<Node>?>(nil)
    private let additions = Lock()

    deinit {
        latest.load(ordering: .acquiring)?.release()
    }

    func find(_ type: ObjectIdentifier) -> Unmanaged<RowPlan>? {
        var next = latest.load(ordering: .acquiring)
        while let node = next {
            if node._withUnsafeGuaranteedRef({ $0.type == type }) { return node._withUnsafeGuaranteedRef { $0.plan } }
            next = node._withUnsafeGuaranteedRef { $0.next }
        }
        return nil
    }

    /// Adds the plan of a type, or returns the one that another thread has added meanwhile.
    func add(_ type: ObjectIdentifier, _ plan: RowPlan) -> Unmanaged<RowPlan> {
        additions.lock()
        defer { additions.unlock() }
        if let known = find(type) { return known }
        latest.store(
            Unmanaged.passRetained(Node(type, plan, latest.load(ordering: .acquiring))), ordering: .releasing)
        return Unmanaged.passUnretained(plan)
    }
}
