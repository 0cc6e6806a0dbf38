internal import TarnStore

/// A choice in code. Choosers of the same name are equal.
public struct EntityChooser: Sendable, Hashable {
    /// The identity of the code in comparisons and in the mapping's fingerprint.
    public let name: String
    let choose: @Sendable (JSONValue) -> String?

    /// Creates a chooser.
    ///
    /// - Parameter choose: a pure function from the record to the name of the entity that declares
    ///   the rules, or of a descendant. Nil leaves the choice to the next rule. Any other name
    ///   traps.
    public init(_ name: String, _ choose: @escaping @Sendable (JSONValue) -> String?) {
        self.name = name
        self.choose = choose
    }

    public static func == (a: EntityChooser, b: EntityChooser) -> Bool { a.name == b.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
