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

    /// Sets a value where keys and indices lead to, and replaces whatever is there or above it.
    ///
    /// A list has one element: of another one that is there, the first stays.
    package mutating func force(_ value: JSONValue, at steps: ArraySlice<JSONPath.Step>) {
        guard let first = steps.first else { return self = value }
        switch first {
        case .key(let key):
            if case .object = self {} else { self = .object([]) }
            var inner = self[key] ?? .object([])
            inner.force(value, at: steps.dropFirst())
            self[key] = inner
        case .index, .each:
            var inner = JSONValue.object([])
            if case .array(let elements) = self, let element = elements.first { inner = element }
            inner.force(value, at: steps.dropFirst())
            self = .array([inner])
        }
    }

    /// The value where keys lead to; nil if there is none.
    func value(at keys: [String]) -> JSONValue? { keys.reduce(self as JSONValue?) { $0?[$1] } }

    /// Returns a value with the members of both, element by element of lists; nil if they have
    /// different values at one place, or lists of different lengths.
    ///
    /// An empty list has no elements whose members could differ: it is that of a null field.
    func merged(with other: JSONValue) -> JSONValue? {
        switch (self, other) {
        case _ where self == other: return self
        case (.array([]), .array): return other
        case (.array, .array([])): return self
        case (.array(let own), .array(let others)) where own.count == others.count:
            let elements = zip(own, others).compactMap { $0.merged(with: $1) }
            return elements.count == own.count ? .array(elements) : nil
        case (.object, .object(let members)):
            var merged = self
            for member in members {
                guard let known = merged[member.key] else {
                    merged[member.key] = member.value
                    continue
                }
                guard let value = known.merged(with: member.value) else { return nil }
                merged[member.key] = value
            }
            return merged
        default: return nil
        }
    }

    /// Returns the list that has this value, or each value of it, where steps lead to; nil if it is
    /// no list, and has to be one.
    ///
    /// Null is an empty list.
    func listed(_ steps: ArraySlice<JSONPath.Step>) -> JSONValue? {
        guard let first = steps.first else { return self }
        let rest = steps.dropFirst()
        switch first {
        case .key(let key): return listed(rest).map { .object([Member(key, $0)]) }
        case .index: return self == .null ? .array([]) : listed(rest).map { .array([$0]) }
        case .each:
            guard self != .null else { return .array([]) }
            guard case .array(let values) = self else { return nil }
            let elements = values.compactMap { $0.listed(rest) }
            return elements.count == values.count ? .array(elements) : nil
        }
    }
}
