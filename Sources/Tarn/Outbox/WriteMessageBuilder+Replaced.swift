// The fields that the body of an update replaces although the operation does not change them.

import TarnImport
import TarnStore

extension WriteMessageBuilder {
    /// The fields that an update replaces although it does not change them, with a name for their
    /// whole; all fields that are sent if the set is nil. Nil if it replaces no others.
    func replaced(
        by operation: OutboxOperation, _ request: WriteRequest, _ entity: Catalog.Entity
    ) throws -> (fields: Set<String>?, name: String)? {
        guard operation.kind == .update else { return nil }
        switch request.content(for: .update) {
        case .none: return nil
        case .all: return (request.fields, "the whole record")
        case .changed:
            let beside = try changedFields(operation, request, entity).subtracting(operation.changes.map(\.name))
            return beside.isEmpty ? nil : (beside, "a list with several fields")
        }
    }

    /// The reason to read a record before its body replaces fields that have no value here: the
    /// server may have one that no response has brought, such as that of a list.
    func lacking(
        _ operation: OutboxOperation, _ request: WriteRequest, _ known: ServerRecord, _ entity: Catalog.Entity
    ) throws -> WriteError? {
        guard let (fields, replaced) = try replaced(by: operation, request, entity) else { return nil }
        var changed = Set(operation.changes.map(\.name))
        // Without members that no field has, it has no value either.
        if let rest = client.description.mapping.entities[entity.name]?.rest { changed.insert(rest) }
        let names = entity.fields.filter { !entity.key.contains($0.id) }.map(\.name).filter {
            (fields?.contains($0) ?? true) && !changed.contains($0) && known.record[$0] == nil
        }
        let leftOut = Set(try leftOut(names, .update, request, entity).map(\.name))
        let lacking = names.filter { !leftOut.contains($0) }
        guard !lacking.isEmpty else { return nil }
        return .request(
            place: request.place,
            reason: "\(request.method) replaces \(replaced), and no response has brought "
                + "\(lacking.joined(separator: ", ")): the record is read first")
    }
}
