// From clusters to entities: attributes, relationships, keys, indexes, kinds.

import Tarn

/// Builds the entities of a proposal.
struct EntityBuilder {
    private let clusters: [Cluster]
    private let references: ReferenceFinder
    private let unwanted: UnwantedFields
    /// The clusters of nested records, by the cluster that contains them and the keys.
    private var targets: [Int: [[String]: (cluster: Int, isToMany: Bool)]] = [:]
    /// The values of the records of each cluster.
    private var collected: [LeafCollector] = []
    /// The names of the sources, for comments.
    private let sourceNames: [String]

    init(_ clusters: [Cluster], hosts: Set<String>, sourceNames: [String], requested: Set<[String]> = []) {
        self.clusters = clusters
        self.sourceNames = sourceNames
        references = ReferenceFinder(clusters)
        unwanted = UnwantedFields(hosts: hosts, forms: clusters.compactMap(\.urlForm), requested: requested)
        var owners: [Int: Int] = [:]
        for cluster in clusters {
            for place in cluster.places { owners[place.index] = cluster.index }
        }
        for cluster in clusters {
            for place in cluster.places {
                guard let owner = place.owner, let container = owners[owner] else { continue }
                targets[container, default: [:]][place.keys] = (cluster.index, place.isList)
            }
        }
        collected = clusters.map { LeafCollector($0, targets[$0.index] ?? [:]) }
    }

    /// Returns the entities, each followed by its kinds.
    func entities() -> [ProposedEntity] {
        var entities: [ProposedEntity] = [], names = Set(clusters.map(\.name))
        for cluster in clusters { entities += build(cluster, &names) }
        for cluster in clusters where cluster.key.isWithinParent { joinRows(cluster, &entities) }
        InverseNames.add(to: &entities)
        return entities
    }

    /// Makes the list of a table, and the reference of its rows to the record that has it, two
    /// sides of one relationship: a row has the record in its key.
    private func joinRows(_ cluster: Cluster, _ entities: inout [ProposedEntity]) {
        guard let rows = entities.firstIndex(where: { $0.name == cluster.name }),
            let reference = entities[rows].relationships.firstIndex(where: {
                $0.name == entities[rows].key.first && !$0.isToMany
            }),
            let owner = entities.firstIndex(where: { $0.name == entities[rows].relationships[reference].target }),
            let list = entities[owner].relationships.firstIndex(where: { $0.target == cluster.name && $0.isToMany })
        else { return }
        entities[owner].relationships[list].inverse = entities[rows].relationships[reference].name
        entities[owner].relationships[list].isOrdered = false
        entities[rows].relationships[reference].inverse = entities[owner].relationships[list].name
    }

    private func build(_ cluster: Cluster, _ names: inout Set<String>) -> [ProposedEntity] {
        let collector = collected[cluster.index]
        var entity = ProposedEntity(name: cluster.name), leaves = collector.leaves
        let kinds = KindFinder(cluster, &leaves)
        entity.comments = [origin(of: cluster)]
        leaves = wanted(leaves, collector.contextual, of: cluster, &entity)
        let builder = FieldBuilder(cluster, clusters, references, leaves)
        (entity.key, entity.keyComment) = (builder.key, builder.keyComment)
        entity.keyDoubt = builder.keyDoubt
        if let form = cluster.urlForm, builder.key.count == 1, isNamedByKey(form, cluster), isNeeded(form, cluster) {
            entity.url = form.definition(key: builder.key[0])
        }
        for field in builder.fields where field.kinds.isEmpty { entity.append(field) }
        if builder.fields.count >= FieldBuilder.attributeLimit {
            let name = EnglishName.unique("rest") { entity.has($0) }
            entity.attributes.append(ProposedAttribute(name: name, type: "json", isOptional: true))
            entity.rest = name
        }
        guard let discriminator = kinds.discriminator else { return [entity] }
        return self.kinds(discriminator, of: entity, builder.fields, &names)
    }

    /// Whether the last segment of the records' URLs is their key.
    private func isNamedByKey(_ form: URLForm, _ cluster: Cluster) -> Bool {
        if cluster.key.isByURL { return true }
        guard let field = cluster.key.fields.first else { return false }
        return cluster.mainShape.samples.prefix(200).allSatisfy { sample in
            sample.value(at: form.field)?.scalarText.flatMap { form.key(in: $0) } == sample[field]?.scalarText
        }
    }

    /// Whether something refers to records by their URL.
    private func isNeeded(_ form: URLForm, _ cluster: Cluster) -> Bool {
        if cluster.key.isByURL || cluster.places.contains(where: { $0.urlTarget != nil }) { return true }
        return collected.contains { collector in
            collector.leaves.contains { leaf in
                leaf.keys != form.field && (form.matches(leaf.value) || leaf.value.element.map(form.matches) == true)
            }
        }
    }

    /// Returns the leaves that become fields; the others are ignored, with the reason.
    private func wanted(
        _ leaves: [Leaf], _ contextual: [[String]], of cluster: Cluster, _ entity: inout ProposedEntity
    ) -> [Leaf] {
        var reasons: Set<String> = []
        let wanted = leaves.filter { leaf in
            guard FieldNames.canBeWritten(leaf.keys) else {
                let text = leaf.keys.joined(separator: ".")
                entity.remarks.append("The key \"\(text)\" cannot be written as a key path: it is not mapped.")
                return false
            }
            guard let reason = unwanted.reason(leaf, in: cluster) else { return true }
            entity.ignore.append(leaf.keys)
            reasons.insert(reason)
            return false
        }
        for keys in contextual where FieldNames.canBeWritten(keys) {
            entity.ignore.append(keys)
            reasons.insert("belongs to the place where the record is nested")
        }
        entity.ignoreComment = reasons.sorted().joined(separator: "; ")
        return wanted
    }

    /// Returns an entity and its kinds: fields of few kinds belong to these.
    private func kinds(
        _ discriminator: (key: String, values: [String]), of entity: ProposedEntity, _ fields: [FieldBuilder.Field],
        _ names: inout Set<String>
    ) -> [ProposedEntity] {
        var entity = entity, kinds: [ProposedEntity] = []
        entity.kindPath = [discriminator.key]
        for value in discriminator.values {
            let own = fields.filter { $0.kinds.contains(value) }
            guard !own.isEmpty else { continue }
            var name = EnglishName.words(of: value).map(EnglishName.capitalized).joined()
            if !EnglishName.isValid(name) || names.contains(name) { name = EnglishName.capitalized(name) + entity.name }
            if !EnglishName.isValid(name) { name = entity.name + name }
            name = EnglishName.unique(name) { names.contains($0) }
            names.insert(name)
            var kind = ProposedEntity(name: name)
            kind.parent = entity.name
            for var field in own {
                // Objects of other kinds lack it. Here it may be required, but few samples
                // prove that.
                field.attribute?.isOptional = true
                kind.append(field)
            }
            entity.kinds.append((name, value))
            kinds.append(kind)
        }
        entity.comments.append(
            "Objects differ by `\(discriminator.key)`: what only some have belongs to kinds, below.")
        return [entity] + kinds
    }

    /// The comment about the samples of an entity.
    private func origin(of cluster: Cluster) -> String {
        let listed = cluster.main.filter(\.isListed)
        let count = cluster.main.reduce(0) { $0 + $1.shape.count }
        let samples = count == 0 ? "From the specification" : count == 1 ? "1 sample" : "\(count) samples"
        if !listed.isEmpty {
            let lists = listed.compactMap { $0.source.map { sourceNames[$0] } }
            return samples + ", listed by " + lists.prefix(4).joined(separator: ", ")
        }
        var keys: [String] = []
        for place in cluster.places {
            let text = place.keys.joined(separator: ".")
            if !keys.contains(text) { keys.append(text) }
        }
        return samples + ", nested as " + keys.prefix(5).joined(separator: ", ") + (keys.count > 5 ? ", …" : "")
    }
}

extension ProposedEntity {
    /// Appends an attribute or relationship.
    fileprivate mutating func append(_ field: FieldBuilder.Field) {
        if let attribute = field.attribute { attributes.append(attribute) }
        if let relationship = field.relationship { relationships.append(relationship) }
    }
}
