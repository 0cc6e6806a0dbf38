internal import LMDB
import Synchronization

/// The plans of one state. Finding one takes no lock; they are only added, and go with the state.
final class RowPlans: Sendable {
    /// Owns its plan and the nodes behind it. Unmanaged, since who looks for a plan counts no references.
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

    /// The newest node, retained: what `latest` points to is owned by `deinit`, which nobody else can be racing.
    private let latest = Atomic<Unmanaged<Node>?>(nil)
    private let additions = Mutex(())

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

    /// The plan of the type, which another thread may have added in the meantime.
    func add(_ type: ObjectIdentifier, _ plan: RowPlan) -> Unmanaged<RowPlan> {
        additions.withLock { _ in
            if let known = find(type) { return known }
            latest.store(Unmanaged.passRetained(Node(type, plan, latest.load(ordering: .acquiring))), ordering: .releasing)
            return Unmanaged.passUnretained(plan)
        }
    }
}
