// The warnings of changes that a conflict policy has withdrawn.

import TarnStore

extension OutboxDrain {
    /// Notes the fields of an operation that a policy has withdrawn, or a whole deletion.
    ///
    /// A field that the server has as it was changed here is no loss.
    ///
    /// - Parameters:
    ///   - changes: the changes that are still sent.
    ///   - server: the server's values of changed fields, as far as responses have brought them.
    ///   - unordered: the relationships whose order has no meaning.
    func noteWithdrawal(
        of operation: OutboxOperation, keeping changes: [OutboxOperation.Change] = [], _ server: [String: Value],
        _ unordered: Set<String>, _ effects: inout Effects
    ) {
        let left = Set(changes.map(\.name))
        let lost = operation.changes.filter { change in
            guard !left.contains(change.name) else { return false }
            let isUnordered = unordered.contains(change.name)
            return !(server[change.name]?.isSame(as: change.after, isUnordered: isUnordered) ?? false)
        }
        guard operation.kind == .delete || !lost.isEmpty else { return }
        let reason =
            operation.kind == .delete
            ? "the deletion is withdrawn by the policy: the server has changed the record"
            : "the change of \(lost.map(\.name).joined(separator: ", ")) is withdrawn by the policy: the server has "
                + "changed the record, and its values are taken"
        effects.report.note(operation, withdrawn: reason, at: client.now)
    }
}
