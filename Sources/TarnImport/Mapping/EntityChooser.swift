internal import TarnStore

/// A choice in code. Those of the same name are equal.
public struct EntityChooser: Sendable, Hashable {
    /// Stands for the code in comparisons and in the mapping's fingerprint.
    public let name: String
    let choose: @Sendable (JSONValue) -> String?

    /// - Parameter choose: a pure function from the record to the name of an entity that descends from the one that has the rules, or
    ///   of that one itself; nil leaves it to the next rule. Any other name traps.
    public init(_ name: String, _ choose: @escaping @Sendable (JSONValue) -> String?) {
        self.name = name
        self.choose = choose
    }

    public static func == (a: EntityChooser, b: EntityChooser) -> Bool { a.name == b.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
