// Lists of changes that do not tell which records the server has deleted.

import Tarn
import TarnStore

/// The endpoints that request only what has changed, and by which no deletion becomes known.
struct UntoldDeletions {
    private let description: Description

    init(_ description: Description) { self.description = description }

    func findings(_ places: DescriptionPlaces) -> [CheckFinding] {
        description.endpoints.compactMap { endpoint -> CheckFinding? in
            guard endpoint.incremental != nil, let entity = entities(of: endpoint).first(where: { !isTold($0) }) else {
                return nil
            }
            let (field, mark) = places.place(endpoint: endpoint.name)
            let wayOut =
                endpoint.orphans == nil
                ? "declare deleted at \(entity) or at a list of deleted records, or orphans here, with full_every "
                    + "under since"
                : "orphans are looked for with tarn sync --full only; add full_every under since, such as 7d"
            return CheckFinding(
                .note, .deletionsUntold, file: description.file, at: mark, field: field,
                "only changes are requested, and records of \(entity) that the server deletes stay: \(wayOut)")
        }
    }

    /// Whether deleted records of an entity become known: by a mark, by a list, or as orphans of
    /// whole lists.
    private func isTold(_ entity: String) -> Bool {
        let line = line(of: entity), root = line.last
        if line.contains(where: { description.mapping.entities[$0]?.tombstone != nil }) { return true }
        return description.endpoints.contains { other in
            let lists = other.envelope.filter { $0.elements.deletion != .none }
            if lists.contains(where: { self.line(of: $0.entity).last == root }) { return true }
            // The list of a change feed is requested again when the feed's full_every demands it.
            let rules = description.endpoints.compactMap(\.incremental).filter { $0.start?.list == other.name }
            guard other.orphans != nil,
                ([other.incremental].compactMap(\.self) + rules).allSatisfy({ $0.fullInterval != nil })
            else { return false }
            return entities(of: other).contains { self.line(of: $0).last == root }
        }
    }

    private func entities(of endpoint: Endpoint) -> [String] {
        endpoint.envelope.isEmpty ? [endpoint.entity] : endpoint.envelope.map(\.entity)
    }

    /// An entity and those of which it is a kind.
    private func line(of entity: String) -> [String] {
        var line = [entity]
        // The schema is valid; a cycle would end here.
        while line.count <= description.schema.entities.count, let last = line.last,
            let parent = description.schema.entities.first(where: { $0.name == last })?.parent
        {
            line.append(parent)
        }
        return line
    }
}
