// Changes that an answer of the server does not show.

import TarnHTTP
import TarnImport
import TarnStore

extension OutboxDrain {
    /// Notes the fields of which an answer has the value from before the change.
    ///
    /// A server leaves out without a word what it does not know, such as a member that has another
    /// name in its responses. The answer counts, so the change would be gone unseen.
    func noteUntakenFields(
        _ done: OutboxOperation, _ record: OutboxRecord, _ effects: inout Effects, _ writer: borrowing StoreWriter
    ) throws {
        guard done.kind == .update || done.kind == .create, let entity = writer.access.catalog.entity(record.entity),
            let server = try writer.access.serverRecord(entity, record.key)?.record
        else { return }
        let unordered = writer.access.catalog.unorderedLists(of: record.entity)
        let untaken = done.changes.filter { change in
            let value = server[change.name] ?? .null, isUnordered = unordered.contains(change.name)
            return value.isSame(as: change.before ?? .null, isUnordered: isUnordered)
                && !value.isSame(as: change.after, isUnordered: isUnordered)
                && !(value == .null && change.after.isEmptyValue)
        }.map(\.name)
        guard !untaken.isEmpty else { return }
        // The server cannot take what the request does not send.
        let builder = outbox.builder(writer.access)
        let request = builder.requests(of: done.entity)?.request(for: done)?.request
        var left = Set(try request.map { try builder.unsent(untaken, done.kind, $0, entity).map(\.name) } ?? [])
        left.formUnion(done.unsent)
        left.formUnion(done.serverFields ?? [])
        if let sent = done.sentFields { left.formUnion(Set(untaken).subtracting(sent)) }
        let fields = untaken.filter { !left.contains($0) && !entity.isKeyField($0) }
        if !fields.isEmpty { effects.report.note(done, untaken: fields, record.key, at: client.now) }
    }
}

extension Value {
    /// Whether this is an empty text or list, which a server may store as null.
    fileprivate var isEmptyValue: Bool { self == .string("") || self == .array([]) }
}

extension Catalog.Entity {
    fileprivate func isKeyField(_ name: String) -> Bool { field(name).map { key.contains($0.id) } ?? false }
}
