// Many-to-many relationships from their derived side: the lists of members, each changed once.

internal import TarnStore

extension Importer {
    /// Changes the lists of members.
    func change(_ members: ListedMembers, _ writer: inout StoreWriter, _ tally: inout ImportTally) throws {
        for change in members.changes {
            try cancellation?.check()
            let outcome = try self.change(
                change.member, of: change.relationship, adding: change.added, removing: change.removed, &writer)
            if case .updated? = outcome {
                countUpdated(change.relationship.ownerPlan, change.member, in: &tally)
            }
        }
    }

    /// Removes references from a stored record's list, and adds others at its end.
    ///
    /// Other references are kept. Nil if the record is not stored.
    func change(
        _ member: [UInt8], of relationship: DerivedRelationship, adding added: [[UInt8]],
        removing removed: Set<[UInt8]>, _ writer: inout StoreWriter
    ) throws -> StoreWriter.Outcome? {
        let entity = relationship.owner, field = relationship.field
        return try member.withUnsafeBytes { key in
            guard let row = try writer.access.records.row(entity, key) else { return nil }
            var list = ByteWriter(), missing = Set(added), isChanged = false
            list.append(ValueTag.references)
            if let value = row.body.value(of: field.id) {
                try writer.access.forEachReference(value) { reference in
                    let target = Array(reference)
                    missing.remove(target)
                    if removed.contains(target) {
                        isChanged = true
                    } else {
                        list.appendReferenceElement(reference)
                    }
                    return true
                }
            }
            for target in added where !removed.contains(target) && missing.remove(target) != nil {
                isChanged = true
                target.withUnsafeBytes { list.appendReferenceElement($0) }
            }
            guard isChanged else { return .unchanged }
            var builder = BodyBuilder(), bytes = ByteWriter()
            builder.field(field.id, EncodedValue(list.bytes))
            let isWide = builder.isWide
            builder.finish(into: &bytes)
            guard let body = RowBody(bytes.bytes, isWide: isWide) else { return nil }
            return try writer.merge(entity, key, body, isComplete: false)
        }
    }
}
