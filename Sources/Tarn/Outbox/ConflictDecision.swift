// The decision about a record that both sides have changed. Pure, apart from the caller's code.

import TarnImport
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

    /// Returns changes that are based on the server's value of a field if it is the one before
    /// refused changes: the server has changed nothing then.
    ///
    /// - Parameters:
    ///   - server: the server's values of changed fields, as far as responses have brought them.
    ///   - earlier: the values before refused changes, by field.
    ///   - unordered: the relationships whose order has no meaning.
    static func based(
        _ changes: [OutboxOperation.Change], on server: [String: Value], _ earlier: [String: [Value]],
        unordered: Set<String> = []
    ) -> [OutboxOperation.Change] {
        changes.map { change in
            guard let remote = server[change.name], let values = earlier[change.name],
                values.contains(where: { remote.isSame(as: $0, isUnordered: unordered.contains(change.name)) })
            else { return change }
            return OutboxOperation.Change(change.name, before: remote, after: change.after)
        }
    }

    /// Decides by a rule.
    ///
    /// - Parameters:
    ///   - changes: the changes of the operation.
    ///   - server: the server's values of changed fields, as far as responses have brought them.
    ///   - unordered: the relationships whose order has no meaning.
    static func decide(
        _ rule: ConflictRule, _ changes: [OutboxOperation.Change], server: [String: Value],
        unordered: Set<String> = []
    ) -> ConflictDecision {
        var kept: [OutboxOperation.Change] = [], overlapping: [OutboxOperation.Change] = []
        for change in changes {
            let isUnordered = unordered.contains(change.name)
            guard let remote = server[change.name],
                !remote.isSame(as: change.before ?? .null, isUnordered: isUnordered)
            else {
                kept.append(change)
                continue
            }
            // Both sides have made the same change: nothing is left to send.
            if remote.isSame(as: change.after, isUnordered: isUnordered) { continue }
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
    ///
    /// - Returns: nil if the code has failed in a task that was cancelled: nothing is decided.
    func decided() async -> ConflictDecision? {
        do {
            guard let fields = try await resolution(base, local, remote) else { return .withdraw }
            guard kind == .update else { return .send }
            return .replace(
                fields.map { OutboxOperation.Change($0.name, before: remote[$0.name], after: $0.value) })
        } catch {
            return Task.isCancelled ? nil : .failed("the conflict was not resolved: \(error)")
        }
    }
}

extension Value {
    /// Whether two values of a field are equal. A list without members equals null. Of JSON, the
    /// content counts: a server may return another text of what it was sent.
    ///
    /// - Parameter isUnordered: whether the order of a list of references has no meaning.
    func isSame(as other: Value, isUnordered: Bool) -> Bool {
        if self == .null || other == .null, isWithoutMembers, other.isWithoutMembers { return true }
        if self != other, let content = jsonContent, let others = other.jsonContent { return content == others }
        guard isUnordered, case .references(let keys) = self, case .references(let others) = other else {
            return self == other
        }
        return keys.count == others.count && Set(keys) == Set(others)
    }

    /// The content of JSON or null, whose JSON is null as well; nil for other values.
    private var jsonContent: JSONValue? {
        switch self {
        case .null: .null
        case .json(let text): (try? JSONValue(text))?.normalForm
        default: nil
        }
    }

    /// Whether the value is null or a list of references without members.
    private var isWithoutMembers: Bool { self == .null || self == .references([]) }
}

extension Catalog {
    /// The stored to-many relationships of an entity whose order has no meaning.
    func unorderedLists(of name: String) -> Set<String> {
        guard let entity = entity(name) else { return [] }
        return Set(
            entity.fields.compactMap { field in
                guard case .reference(let reference) = field.kind, reference.isToMany, !reference.isOrdered else {
                    return nil
                }
                return field.name
            })
    }
}
