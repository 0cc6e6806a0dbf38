/// Takes a composite key apart, from its first component on.
public struct KeyParts {
    private var rest: ArraySlice<KeyComponent>

    /// Begins with the first component of a key.
    public init(_ key: RecordKey) { rest = key.components[...] }

    /// Returns the next part of the key; nil if it is of another form.
    public mutating func next<Part: StoredKey>(_ type: Part.Type = Part.self) -> Part? {
        guard rest.count >= Part.componentCount else { return nil }
        defer { rest = rest.dropFirst(Part.componentCount) }
        return Part(RecordKey(Array(rest.prefix(Part.componentCount))))
    }

    /// Whether every component was taken.
    public var isEmpty: Bool { rest.isEmpty }
}

extension RecordKey {
    /// Creates a composite key from its parts, in order.
    public init<each Part: StoredKey>(parts: repeat each Part) {
        var components: [KeyComponent] = []
        for part in repeat each parts { components += part.recordKey.components }
        self.init(components)
    }
}
