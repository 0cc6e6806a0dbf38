/// A choice in code. Choosers of the same name are equal.
public struct EntityChooser: Sendable, Hashable {
    private let named: NamedCode<@Sendable (JSONValue) -> String?>

    /// Creates a chooser.
    ///
    /// - Parameter choose: a pure function from the record to the name of the entity that declares
    ///   the rules, or of a descendant. Nil leaves the choice to the next rule. A record with any
    ///   other name is reported as `entity.unknown` and skipped.
    public init(_ name: String, _ choose: @escaping @Sendable (JSONValue) -> String?) {
        named = NamedCode(name, choose)
    }

    /// The identity of the code in comparisons and in the mapping's fingerprint.
    package var name: String { named.name }

    func choose(_ json: JSONValue) -> String? { named.code(json) }
}
