// The decision about a record that both sides have changed. Pure, apart from the caller's code.

import TarnStore

/// The next step of an operation after a conflict.
enum ConflictDecision: Sendable, Hashable {
    /// The operation is sent as it is: the server has changed nothing that it changes.
    case send
    /// The operation is sent with these changes, based on the server's values.
    case replace([OutboxOperation.Change])
    /// The operation becomes a dead letter; a retry sends these changes.
    case hold([OutboxOperation.Change], fields: [String])
    /// The operation is withdrawn, and the server's values are taken.
    case withdraw
    /// The caller's code has failed.
    case failed(String)

    /// Decides by a rule.
    ///
    /// - Parameters:
    ///   - changes: the changes of the operation.
    ///   - server: the server's values of changed fields, as far as responses have brought them.
    static func decide(
        _ rule: ConflictRule, _ changes: [OutboxOperation.Change], server: [String: Value]
    ) -> ConflictDecision {
        var kept: [OutboxOperation.Change] = [], overlapping: [OutboxOperation.Change] = []
        for change in changes {
            guard let remote = server[change.name], remote != change.before ?? .null else {
                kept.append(change)
                continue
            }
            // Both sides have made the same change: nothing is left to send.
            if remote == change.after { continue }
            overlapping.append(OutboxOperation.Change(change.name, before: remote, after: change.after))
        }
        if kept.count == changes.count { return .send }
        if overlapping.isEmpty { return .replace(kept) }
        let names = overlapping.map(\.name)
        // In the order of the operation.
        let all = changes.compactMap { change in (kept + overlapping).first { $0.name == change.name } }
        switch rule {
        case .server: return .withdraw
        case .client, .perField(.local): return .replace(all)
        case .perField(.server): return .replace(kept)
        case .perField(.hold): return .hold(all, fields: names)
        }
    }
}

/// A conflict that the caller's code decides.
struct OpenConflict: Sendable {
    var base: Record
    var local: Record
    var remote: Record
    var resolution: ConflictPolicy.Resolution
    var kind: OutboxOperation.Kind

    /// Calls the code.
    func decided() async -> ConflictDecision {
        do {
            guard let fields = try await resolution(base, local, remote) else { return .withdraw }
            guard kind == .update else { return .send }
            return .replace(
                fields.map { OutboxOperation.Change($0.name, before: remote[$0.name], after: $0.value) })
        } catch {
            return .failed("the conflict was not resolved: \(error)")
        }
    }
}
