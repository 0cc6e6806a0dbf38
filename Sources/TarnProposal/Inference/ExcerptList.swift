// Lists inside of records of which an endpoint requests all elements, for each of the records.

import Tarn

/// A list inside of a parent's records that has a part of the parent's children: the latest two
/// `comments` of an issue, beside `/issues/1/comments`.
///
/// Such a list is the other side of the reference that each child has to its parent.
struct ExcerptList {
    /// The position of the relationship among those of the parent's entity.
    let relationship: Int
    /// The alternate paths of the list in a parent's JSON.
    let paths: [[String]]

    /// Finds the list of a name; nil if the samples do not show that it is a part, or if they show
    /// a child of several parents.
    ///
    /// - Parameters:
    ///   - parents: the samples of the parents.
    ///   - owner: the parent of the requested list.
    ///   - listed: the records of the requested list.
    ///   - others: the lists that have been requested for several parents.
    init?(
        _ name: String, of parent: ProposedEntity, _ child: ProposedEntity, parents: [JSONValue], owner: JSONValue,
        listed: [JSONValue], others: [[JSONValue]]
    ) {
        let index = parent.relationships.firstIndex { $0.name == name && $0.isToMany && $0.target == child.name }
        guard let index else { return nil }
        let paths = parent.relationships[index].from ?? NamingConvention().jsonKeys(for: name).map { [$0] }
        func nested(in record: JSONValue) -> [JSONValue] {
            for path in paths { if case .array(let elements)? = record.value(at: path) { return elements } }
            return []
        }
        guard let part = ExcerptList.keys(of: nested(in: owner), child),
            let whole = ExcerptList.keys(of: listed, child), !part.isEmpty, part.isStrictSubset(of: whole)
        else { return nil }
        for lists in [parents.prefix(1000).map(nested), others] {
            var known: Set<String> = []
            for list in lists {
                guard let keys = ExcerptList.keys(of: list, child), known.isDisjoint(with: keys) else { return nil }
                known.formUnion(keys)
            }
        }
        relationship = index
        self.paths = paths
    }

    /// Returns the keys of records; nil if one has none.
    private static func keys(of records: [JSONValue], _ entity: ProposedEntity) -> Set<String>? {
        guard entity.key.count == 1, let key = entity.attributes.first(where: { $0.name == entity.key[0] }),
            key.source == nil
        else { return nil }
        let paths = key.from ?? NamingConvention().jsonKeys(for: key.name).map { [$0] }
        var keys: Set<String> = []
        for record in records.prefix(5000) {
            guard let key = paths.lazy.compactMap({ record.value(at: $0)?.scalarText }).first else { return nil }
            keys.insert(key)
        }
        return keys
    }
}
