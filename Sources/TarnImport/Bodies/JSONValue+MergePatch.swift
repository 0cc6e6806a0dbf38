extension JSONValue {
    /// Returns the JSON merge patch (RFC 7396) that turns one value into another.
    ///
    /// - Returns: nil if they are equal. A null inside of an object cannot be expressed
    ///   by a patch: it removes its key.
    package static func mergePatch(from base: JSONValue, to changed: JSONValue) -> JSONValue? {
        guard case .object(let old) = base, case .object(let new) = changed else {
            return base == changed ? nil : changed
        }
        var patch: [Member] = []
        for member in new
        where changed[member.key] == member.value && !patch.contains(where: { $0.isNamed(member.key) }) {
            guard let known = base[member.key] else {
                patch.append(member)
                continue
            }
            if let inner = mergePatch(from: known, to: member.value) { patch.append(Member(member.key, inner)) }
        }
        for member in old where changed[member.key] == nil && !patch.contains(where: { $0.isNamed(member.key) }) {
            patch.append(Member(member.key, .null))
        }
        return patch.isEmpty ? nil : .object(patch)
    }
}
