// Rows as JSON, from their bytes: no value is copied first.

internal import LMDB

extension Row {
    /// Appends the fields of the struct as a JSON object in UTF-8.
    ///
    /// Members have the names of the fields, in the order of the struct. A field that the row does
    /// not have is left out, a null is null. Dates are RFC 3339 in UTC, UUIDs are in lower case,
    /// bytes in base64, numbers exact. A reference is the key of its target: a number, a text, or a
    /// list for a composite key.
    ///
    /// - Throws: `StoreError`: `.damagedRow`, `.lmdb`; then nothing is appended.
    public func writeJSON(into bytes: inout [UInt8]) throws(StoreError) {
        var text = JSONText()
        try lent.appendJSON(to: &text)
        bytes.append(contentsOf: text.writer.bytes)
    }
}

extension RowView {
    /// Appends the fields of the plan as a JSON object.
    ///
    /// - Parameters:
    ///   - left: the names of fields that are left out.
    ///   - isOpen: whether more members follow, so that the object is not closed.
    /// - Returns: whether the object has members.
    @discardableResult
    func appendJSON(
        to text: inout JSONText, leavingOut left: [String] = [], isOpen: Bool = false
    ) throws(StoreError) -> Bool {
        let whole = try whole(), access = context.access
        let (members, ends, fields) = context.plan._withUnsafeGuaranteedRef { ($0.members, $0.memberEnds, $0.fields) }
        text.append(UInt8(ascii: "{"))
        var isFirst = true
        for slot in ends.indices {
            guard let bytes = try whole.value(slot) else { continue }
            if !left.isEmpty, left.contains(fields[slot].name) { continue }
            let start = (slot == 0 ? 0 : ends[slot - 1]) + (isFirst ? 1 : 0)
            members.withUnsafeBytes { text.append(json: Bytes(rebasing: $0[start..<ends[slot]])) }
            isFirst = false
            let isSound: Bool
            do {
                isSound = try text.append(EncodedValue(bytes), access) { digest in
                    try access.wholeKey(ofDigest: digest, in: fields[slot])
                }
            } catch {
                // Reading a long list may fail for other reasons than damage.
                throw error as? StoreError ?? (error as? LMDBError).map { .lmdb($0) } ?? damaged
            }
            guard isSound else { throw damaged }
        }
        if !isOpen { text.append(UInt8(ascii: "}")) }
        return !isFirst
    }
}

extension StoreAccess {
    /// Returns the whole key of a target that is stored under a digest; nil if it is missing.
    fileprivate func wholeKey(ofDigest digest: Bytes, in field: Catalog.Field) throws -> RecordKey? {
        guard case .reference(let reference) = field.kind, let target = catalog.entity(id: reference.destination) else {
            return nil
        }
        return try wholeKey(target, ofDigest: digest)
    }
}
