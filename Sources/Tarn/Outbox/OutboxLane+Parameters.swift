// The values of `@param` in the answers to writes.

import TarnImport
import TarnStore

extension OutboxLane {
    /// The parameters by which a list with the record of an operation is requested, from its key.
    ///
    /// The answer to a write does not repeat them, and without them its record has no key.
    func parameters(ofKeyOf operation: OutboxOperation) -> [String: String] {
        let catalog = client.store.catalog
        guard let entity = catalog.entity(operation.entity) else { return [:] }
        let record = Record(entity: operation.entity, key: operation.key, fields: []).withKeyFields(entity)
        // The server assigns these.
        let open = operation.hasTemporaryKey ? entity.temporaryFields(of: operation.key) : []
        let names = ([entity.id] + catalog.ancestors(of: entity.id)).compactMap { catalog.entity(id: $0)?.name }
        var parameters: [String: String] = [:]
        for mapping in names.compactMap({ client.description.mapping.entities[$0] }) {
            for field in record.fields where !open.contains(field.name) {
                for case .path(let path) in mapping.paths[field.name] ?? [] where path.origin == .parameter {
                    guard let name = path.keys.first, let text = field.value.urlText else { continue }
                    parameters[name] = parameters[name] ?? text
                }
            }
        }
        return parameters
    }
}
