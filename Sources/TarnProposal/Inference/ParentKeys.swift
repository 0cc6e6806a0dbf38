// The keys of records that are listed once for every record of another entity.

import Tarn

/// Adds the parent to the key of records that are unique only within it.
///
/// Without the parent, the lists would overwrite each other's records, and no sync could notice it.
struct ParentKeys {
    /// A list that is requested for every record of an entity.
    private struct Listing {
        var source: Int
        /// The name of the entity of the parents, and the relationship that leads to them.
        var parent: (entity: String, relationship: String)?
    }

    /// Whether a key names one record of the whole API, or one of its parent.
    private enum Scope { case everywhere, parent, unknown }

    private let sources: [Source]
    /// The lists that other parents have at the paths of the sources.
    private let siblings: [String: [[JSONValue]]]

    init(_ sources: [Source], _ siblings: [String: [[JSONValue]]]) {
        self.sources = sources
        self.siblings = siblings
    }

    /// Completes the keys of the listed entities.
    ///
    /// - Parameters:
    ///   - entityNames: the entities of the lists, by the positions of source and list.
    ///   - endpoints: the endpoints of the sources.
    func complete(
        _ entities: inout [ProposedEntity], _ entityNames: [[String]], _ endpoints: [ProposedEndpoint?]
    ) {
        for index in entities.indices where entities[index].parent == nil {
            let listings = sources.indices.filter { entityNames[$0].contains(entities[index].name) }.map { source in
                let forEach = endpoints[source]?.forEach
                return Listing(
                    source: source, parent: forEach.flatMap { each in each.parent.map { (each.entity, $0) } })
            }
            if let first = listings.first(where: { $0.parent != nil }), let parent = first.parent {
                complete(&entities, index, listings, parent)
            } else {
                completeByPartition(&entities[index], listings)
            }
        }
    }

    private func complete(
        _ entities: inout [ProposedEntity], _ index: Int, _ listings: [Listing],
        _ parent: (entity: String, relationship: String)
    ) {
        let entity = entities[index]
        guard !entity.key.contains(parent.relationship) else { return }
        let isPosition = entity.hasPositionKey
        let names = entity.key.map { "`\($0)`" }.joined(separator: " and ")
        let key = [parent.relationship] + entity.key
        let isAlone = listings.allSatisfy {
            $0.parent?.entity == parent.entity && $0.parent?.relationship == parent.relationship
        }
        switch isPosition ? .parent : scope(of: entity, listings) {
        case .everywhere: return
        case .unknown:
            // Records in other lists have no parent that a key could contain.
            let other = "describe these lists by an entity of their own"
            if isAlone {
                entities[index].keyAlternative = (key, "if the key is unique only within one \(parent.entity)")
            }
            entities[index].keyDoubt =
                "the list is requested for every \(parent.entity): if \(names) is unique only within one, the lists overwrite each other's records"
                + (isAlone ? "" : "; then \(other)")
        case .parent:
            // Records in other records have no parent, either. The rows of a table in a record have
            // the whole key of that in theirs.
            let isReferred = entities.contains { other in
                other.relationships.contains { $0.target == entity.name && !other.key.contains($0.name) }
            }
            guard isAlone, !isReferred, !isPosition || listings.count == 1 else {
                entities[index].keyDoubt =
                    "\(names) is unique only within one \(parent.entity), which the key cannot contain: other lists or records have the same entity without it. Describe them as two entities"
                return
            }
            entities[index].key = key
            entities[index].keyComment +=
                (entity.keyComment.isEmpty ? "" : "; ") + "unique only within one \(parent.entity)"
        }
    }

    /// Completes a position by the value of the path for which a list is requested.
    private func completeByPartition(_ entity: inout ProposedEntity, _ listings: [Listing]) {
        guard let listing = listings.first(where: { !sources[$0.source].partitions.isEmpty }) else { return }
        let names = sources[listing.source].partitions.map(\.name)
        guard entity.hasPositionKey || entity.hasNestedKey, listings.count == 1 else {
            if scope(of: entity, listings) != .everywhere {
                entity.keyDoubt =
                    "the list is requested for every value of `\(YAMLText.comment(names[0], limit: 40))`: if the key is unique only within one, add an attribute with `from: '@param.\(YAMLText.comment(names[0], limit: 40))'` to it"
            }
            return
        }
        for name in names.reversed() {
            var attribute = ProposedAttribute(
                name: EnglishName.unique(EnglishName.field(name)) { entity.has($0) }, type: "string")
            attribute.source = "@param.\(name)"
            entity.attributes.insert(attribute, at: 0)
            entity.key.insert(attribute.name, at: 0)
        }
        entity.keyComment += "; one list for each value of the path"
    }

    // MARK: Scope

    /// The last words of fields that count or name within a parent.
    private static let localNames: Set = [
        "number", "iid", "position", "index", "code", "type", "name", "date", "day", "year", "month", "version",
        "language", "lang", "locale", "currency", "line", "seq", "sequence", "rank", "role", "region", "country",
        "slug", "key", "title", "label", "symbol",
    ]
    /// The last words of fields that name one record of the whole API.
    private static let globalNames: Set = [
        "uuid", "guid", "gid", "oid", "login", "username", "email", "handle", "sha", "hash", "url", "uri", "href",
        "self", "isbn",
    ]

    /// Whether the lists of several parents have a record in common: it is of more than one.
    func hasSharedRecords(_ source: Source, _ entity: ProposedEntity) -> Bool {
        guard let lists = siblings[source.path], entity.key.count == 1, let name = entity.key.first,
            let attribute = entity.attributes.first(where: { $0.name == name })
        else { return false }
        let fields = ParentKeys.fields(of: attribute), word = EnglishName.words(of: name).last ?? name
        guard attribute.type == "uuid" || ParentKeys.isID(word) || ParentKeys.globalNames.contains(word),
            scope(ofLists: lists, fields) == .everywhere
        else { return false }
        let keys = lists.map { Set($0.prefix(5000).compactMap { ParentKeys.key(fields, of: $0) }) }
        return keys.reduce(0) { $0 + $1.count } > keys.reduce(Set<String>()) { $0.union($1) }.count
    }

    private static func fields(of key: ProposedAttribute) -> [String] {
        key.from?.compactMap(\.last) ?? NamingConvention().jsonKeys(for: key.name)
    }

    /// Whether a name is that of an id.
    private static func isID(_ word: String) -> Bool {
        KeyChoice.certainNames.contains(word) || word.hasSuffix("id")
    }

    private static func key(_ fields: [String], of object: JSONValue) -> String? {
        fields.lazy.compactMap { object[$0]?.keyText }.first
    }

    private func scope(of entity: ProposedEntity, _ listings: [Listing]) -> Scope {
        guard entity.key.count == 1, let name = entity.key.first,
            let attribute = entity.attributes.first(where: { $0.name == name })
        else { return .parent }
        // A record in several lists may be listed once in each.
        if entity.hasNestedKey {
            let isInSeveral = listings.contains { $0.parent != nil || !sources[$0.source].partitions.isEmpty }
            return isInSeveral ? .parent : .everywhere
        }
        guard attribute.type != "uuid", entity.url == nil else { return .everywhere }
        let fields = ParentKeys.fields(of: attribute)
        let word = EnglishName.words(of: name).last ?? name
        // Names, dates and numbers of a few lists may differ by chance; ids hardly do.
        let isID = ParentKeys.isID(word)
        for listing in listings {
            guard let lists = siblings[sources[listing.source].path],
                let found = scope(ofLists: lists, fields), isID || found == .parent
            else { continue }
            return found
        }
        // A path such as `/users/{id}/notes/{number}` names a note by its user and its number.
        let details = listings.map { sources[$0.source] }
        if details.contains(where: { $0.globalKey.map(fields.contains) ?? false }) { return .everywhere }
        if details.contains(where: { $0.localKey.map(fields.contains) ?? false }) { return .parent }
        if ParentKeys.globalNames.contains(word) { return .everywhere }
        if listings.contains(where: isOfWholeAPI) { return .everywhere }
        return ParentKeys.localNames.contains(word) ? .parent : .unknown
    }

    /// Whether a list is requested once, and not for one of several values of its path.
    private func isOfWholeAPI(_ listing: Listing) -> Bool {
        let source = sources[listing.source]
        return listing.parent == nil && source.partitions.isEmpty
            && !source.path.split(separator: "/").contains { Operation.variable(String($0)) != nil }
    }

    /// Returns the scope that the lists of several parents show; nil if they show none.
    private func scope(ofLists lists: [[JSONValue]], _ fields: [String]) -> Scope? {
        guard lists.count(where: { !$0.isEmpty }) >= 2 else { return nil }
        var known: [String: JSONValue] = [:]
        for list in lists {
            var own: [String: JSONValue] = [:]
            for object in list.prefix(5000) {
                guard let key = ParentKeys.key(fields, of: object) else { return nil }
                own[key] = object
            }
            for (key, object) in own where known[key].map({ $0 != object }) ?? false { return .parent }
            known.merge(own) { first, _ in first }
        }
        return .everywhere
    }
}

extension ProposedEntity {
    /// Whether the position in a list is the key, or a part of it.
    var hasPositions: Bool { attributes.contains { key.contains($0.name) && $0.source == "@position" } }

    /// Whether the key is the position in a list.
    fileprivate var hasPositionKey: Bool { key.count == 1 && hasPositions }

    /// Whether the key is the id of a record nested in this one.
    fileprivate var hasNestedKey: Bool {
        key.count == 1
            && attributes.contains { attribute in
                guard attribute.name == key[0], let path = attribute.from?.first else { return false }
                return path.count > 1 && path.last != JSONValue.objectID
            }
    }
}
