// Sources outside of the records that nothing gives: `@memberName` without a `*`, `@param` without
// a parameter, `@parent` and `@relationship` of records that are nested in no other one.

import Tarn
import TarnImport
import TarnStore

/// Finds the fields whose sources have no value in any response.
struct SourceReach {
    private let description: Description

    init(_ description: Description) { self.description = description }

    func findings(_ places: DescriptionPlaces) -> [CheckFinding] {
        let reached = EntityReach(description).reached
        return description.schema.entities.filter { reached.contains($0.name) }.flatMap { entity in
            let paths = description.mapping.entities[entity.name]?.paths ?? [:]
            return paths.keys.sorted().compactMap { field -> CheckFinding? in
                let sources = paths[field] ?? [], family = family(of: entity.name)
                let problems = sources.compactMap { problem(of: $0, of: family) }
                guard let problem = problems.first, problems.count == sources.count else { return nil }
                let (path, mark) = places.place(entity: entity.name, field: field)
                return CheckFinding(
                    .warning, .sourceUnreachable, file: description.file, at: mark, field: path,
                    problem + consequence(of: field, entity))
            }
        }
    }

    /// The own name of a field is tried last, so records may have a value nevertheless.
    private func consequence(of field: String, _ entity: EntityDefinition) -> String {
        let key = entity.key.isEmpty ? root(of: entity).key : entity.key
        return key.contains(field)
            ? "; a record without a value of this name has no key, and is skipped"
            : "; only a value of this name in the record itself is stored"
    }

    private func root(of entity: EntityDefinition) -> EntityDefinition {
        var found = entity
        for _ in description.schema.entities {
            guard let parent = found.parent, let next = definition(parent) else { break }
            found = next
        }
        return found
    }

    private func definition(_ name: String) -> EntityDefinition? {
        description.schema.entities.first { $0.name == name }
    }

    /// An entity, those of which it is a kind, and its own kinds: a record of one may be listed as
    /// another one.
    private func family(of name: String) -> Set<String> {
        func line(_ name: String) -> [String] {
            var line = [name]
            while line.count <= description.schema.entities.count, let parent = definition(line[line.count - 1])?.parent
            {
                line.append(parent)
            }
            return line
        }
        return Set(line(name) + description.schema.entities.map(\.name).filter { line($0).contains(name) })
    }

    // MARK: Sources

    /// Returns the reason why a source has no value; nil if it may have one.
    private func problem(of source: ValueSource, of family: Set<String>) -> String? {
        source.paths.lazy.compactMap { path -> String? in
            switch path.origin {
            case .record, .root, .header, .position: return nil
            case .memberName:
                return isMap(family)
                    ? nil
                    : "@memberName has no value: neither `records` of an endpoint that lists these records, nor the path of a relationship to them, has a *"
            case .parent, .relationship:
                return isNested(family)
                    ? nil
                    : "\(path) has no value: no relationship leads to these records, so they are nested in no other one"
            case .parameter:
                guard let name = path.keys.first, !isSent(name) else { return nil }
                return "\(path) has no value: no endpoint sends \(name), as a parameter or in its path"
            }
        }.first
    }

    private func isMap(_ family: Set<String>) -> Bool {
        let isListed = description.endpoints.contains { endpoint in
            endpoint.envelope.isEmpty
                ? family.contains(endpoint.entity) && endpoint.records.hasWildcard
                : endpoint.envelope.contains { family.contains($0.entity) && $0.path.hasWildcard }
        }
        return isListed
            || relationships(to: family).contains { name in
                description.mapping.entities.values.contains { mapping in
                    mapping.paths[name]?.contains { $0.paths.contains(where: \.hasWildcard) } ?? false
                }
            }
    }

    private func isNested(_ family: Set<String>) -> Bool {
        !relationships(to: family).isEmpty
            || description.endpoints.contains { endpoint in
                endpoint.forEach?.parent != nil
                    && (family.contains(endpoint.entity) || endpoint.envelope.contains { family.contains($0.entity) })
            }
    }

    /// The names of the relationships that may have the records of a family as nested objects.
    private func relationships(to family: Set<String>) -> [String] {
        description.schema.entities.flatMap(\.relationships).filter {
            $0.join == nil && family.contains($0.destination)
        }.map(\.name)
    }

    /// Whether a request has a parameter of this name.
    private func isSent(_ name: String) -> Bool {
        description.endpoints.contains { endpoint in
            let api = description.furtherAPIs.first { $0.name == endpoint.api }?.api ?? description.api
            let rule = endpoint.incremental
            let sent = [rule?.sends, rule?.until, endpoint.deep?.sends].compactMap(\.self)
            let places = endpoint.pagination.style.parameters + sent
            return places.contains(.query(name)) || endpoint.parameters.contains { $0.name == name }
                || api.parameters.contains { $0.name == name }
                || endpoint.partitions.contains { $0.name == name } || endpoint.variables.contains(name)
                || endpoint.forEach.map { forEach in
                    // Without its variable, it is an attribute of the parent that the path names.
                    name.hasPrefix(forEach.variable + ".")
                        || endpoint.variables.contains("\(forEach.variable).\(name)")
                } ?? false
        }
    }
}
