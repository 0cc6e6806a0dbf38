// The merge policies of an entity, compiled. Most entities declare none; `isPlain` skips the
// checks.

internal import TarnStore

struct EntityPolicies {
    /// The duplicate policy: the first occurrence of a record in a unit wins.
    let firstWins: Bool
    /// Whether a record without a usable key fails the unit.
    let failsKeyless: Bool
    /// Whether a nested object without a key counts as null.
    let ignoresKeyless: Bool
    /// The field of the version attribute; 0 if there is none.
    let version: UInt16
    let tombstone: TombstoneRule?
    let hasTombstone: Bool
    /// The field of the attribute that keeps unmapped keys; `noField` if there is none.
    let rest: UInt16
    static let noField = UInt16.max
    /// The policy for records with local changes that the server does not have yet.
    let local: LocalPolicy
    /// Whether first-wins, a tombstone, a version and list policies are all undeclared.
    let isPlain: Bool
    /// List fields that are combined with their stored value.
    let lists: [(field: UInt16, policy: ToManyPolicy)]
    /// Whether a merge reads the stored record first.
    let readsStored: Bool

    init(_ mapping: Mapping, _ entityMapping: EntityMapping, _ entity: Catalog.Entity, _ slots: [Slot]) {
        firstWins = (entityMapping.duplicates ?? mapping.duplicates) == .firstWins
        let keyless = entityMapping.keyless ?? mapping.keyless
        (failsKeyless, ignoresKeyless) = (keyless == .fail, keyless == .ignore)
        version = entityMapping.version.flatMap { entity.field($0)?.id } ?? 0
        tombstone = entityMapping.tombstone
        hasTombstone = tombstone != nil
        local = entityMapping.local ?? mapping.local ?? .fields
        rest = entityMapping.rest.flatMap { entity.field($0)?.id } ?? EntityPolicies.noField
        lists = slots.compactMap { slot in
            guard slot.field != 0, slot.toMany != .replace, case .toMany = slot.kind else { return nil }
            return (slot.field, slot.toMany)
        }
        readsStored = version != 0 || !lists.isEmpty
        isPlain = !firstWins && !hasTombstone && !readsStored
    }

    /// Returns whether a body has a smaller version than another body. False if either has none.
    func isOlder(_ body: RowBody, than other: RowBody) -> Bool {
        guard version != 0, let own = body.value(of: version), let known = other.value(of: version), !own.isNull,
            !known.isNull
        else { return false }
        var a = ByteWriter(), b = ByteWriter()
        IndexEntry.appendValue(own, to: &a)
        IndexEntry.appendValue(known, to: &b)
        return Bytes.compare(a.bytes, b.bytes) < 0
    }

    /// Writes a body whose lists are combined with those of another body.
    ///
    /// - Parameter references: calls its closure with every reference of a list.
    /// - Returns: whether the written body is wide. If there is nothing to combine, nil: nothing is
    ///   written.
    func combined(
        _ body: RowBody, with other: RowBody, into writer: inout ByteWriter,
        references: (EncodedValue, (Bytes) -> Void) throws -> Void
    ) rethrows -> Bool? {
        var builder = BodyBuilder(), isChanged = false
        for index in 0..<body.count {
            let id = body.id(at: index)
            guard let value = body.value(at: index) else { continue }
            guard let list = lists.first(where: { $0.field == id }), value.tag == ValueTag.references,
                let known = other.value(of: id), !known.isNull
            else {
                builder.field(id, value)
                continue
            }
            var said: [[UInt8]] = [], stored: [[UInt8]] = []
            value.forEachReference { said.append(Array($0)) }
            try references(known) { stored.append(Array($0)) }
            isChanged = true
            builder.field(id) { writer in
                writer.append(ValueTag.references)
                for key in list.policy.combine(stored, said) {
                    key.withUnsafeBytes { writer.appendReferenceElement($0) }
                }
            }
        }
        guard isChanged else { return nil }
        let isWide = builder.isWide
        writer.removeAll()
        builder.finish(into: &writer)
        return isWide
    }
}

extension ToManyPolicy {
    /// Combines a stored list with the list of a response.
    ///
    /// - Parameters:
    ///   - stored: the stored elements in order, without duplicates.
    ///   - said: the elements of the response in order, without duplicates.
    func combine<Key: Hashable>(_ stored: [Key], _ said: [Key]) -> [Key] {
        switch self {
        case .replace: return said
        case .append, .prepend:
            let known = Set(stored)
            let new = said.filter { !known.contains($0) }
            return self == .append ? stored + new : new + stored
        case .patch:
            let known = Set(stored), wanted = Set(said)
            var reordered = said.filter { known.contains($0) }[...]
            return stored.map { wanted.contains($0) ? reordered.popFirst() ?? $0 : $0 }
                + said.filter { !known.contains($0) }
        }
    }
}

extension TombstoneRule {
    /// Returns whether a record is marked as deleted at the server.
    func matches(_ tape: Tape, _ object: Int) -> Bool {
        guard let index = tape.value(at: path.steps[...], from: object) else { return false }
        guard let equals else { return tape.kind(index) != .null && tape.kind(index) != .false }
        switch tape.kind(index) {
        case .string: return equals.utf8.elementsEqual(tape.string(index))
        case .object, .array, .null, nil: return false
        default:
            var text = ByteWriter(capacity: 32)
            tape.appendText(index, to: &text)
            return equals.utf8.elementsEqual(text.bytes)
        }
    }
}
