// The policy for records with local changes that the server does not have yet.

package import TarnStore

/// The precedence between a response and local changes.
///
/// It applies to records that are marked as changed locally (`LocalChange`).
public enum LocalPolicy: String, Sendable, Hashable, CaseIterable {
    /// Locally changed fields keep their value; the others take that of the response. The default.
    case fields
    /// A marked record keeps all of its fields.
    case keep
    /// The response takes precedence; the mark is removed.
    case server
}

extension Mapping {
    /// Returns the policy of an entity: its own, its nearest ancestor's, or the API's.
    package func local(of entity: String, in schema: Schema) -> LocalPolicy {
        let definition = schema.entities.first { $0.name == entity }
        let names = [entity] + (definition.map { schema.ancestors(of: $0).map(\.name) } ?? [])
        return names.lazy.compactMap { entities[$0]?.local }.first ?? local ?? .fields
    }
}
