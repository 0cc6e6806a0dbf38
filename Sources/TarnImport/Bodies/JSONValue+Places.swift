extension JSONValue {
    /// Sets a value where keys lead to, and creates the objects above it.
    ///
    /// - Returns: false if another value is there, or above it.
    mutating func insert(_ value: JSONValue, at keys: [String]) -> Bool {
        guard let first = keys.first, case .object = self else { return false }
        guard keys.count > 1 else {
            if let known = self[first] { return known == value }
            self[first] = value
            return true
        }
        var inner = self[first] ?? .object([])
        guard inner.insert(value, at: Array(keys.dropFirst())) else { return false }
        self[first] = inner
        return true
    }

    /// Adds members that this object lacks, also to the objects above places.
    ///
    /// Nothing is added to the values at the places.
    mutating func fill(with members: [Member], around places: [[String]]) {
        for member in members {
            guard var known = self[member.key] else {
                self[member.key] = member.value
                continue
            }
            let inner = places.filter { $0.first.map(member.isNamed) ?? false }.map { Array($0.dropFirst()) }
            guard !inner.isEmpty, inner.allSatisfy({ !$0.isEmpty }), case .object(let rest) = member.value,
                case .object = known
            else { continue }
            known.fill(with: rest, around: inner)
            self[member.key] = known
        }
    }

    /// Sets a value where keys lead to, and replaces whatever is there or above it.
    package mutating func force(_ value: JSONValue, at keys: [String]) {
        guard let first = keys.first else { return self = value }
        if case .object = self {} else { self = .object([]) }
        var inner = self[first] ?? .object([])
        inner.force(value, at: Array(keys.dropFirst()))
        self[first] = inner
    }
}
