// From leaves to attributes and relationships, and the key of an entity.

import Tarn

/// Builds the fields of one entity.
struct FieldBuilder {
    /// An attribute or relationship, and the kinds that have it.
    struct Field {
        /// The values of the discriminator; empty for all.
        var kinds: Set<String> = []
        var attribute: ProposedAttribute?
        var relationship: ProposedRelationship?
    }

    private let cluster: Cluster
    private let clusters: [Cluster]
    private let references: ReferenceFinder
    private let leaves: [Leaf]
    private var names: FieldNames
    private(set) var fields: [Field] = []
    private(set) var key: [String] = []
    private(set) var keyComment = ""
    /// The reason why records may share the key; nil if it is certain enough.
    private(set) var keyDoubt: String?
    /// The field of the record that is the key only because it contains no other one.
    private var lastResort: String?
    /// Whether the key from the URL takes the place of the `id` of the records.
    private var takesID = false

    /// An entity has at most this number of attributes; `rest` keeps the others.
    static let attributeLimit = 250

    init(_ cluster: Cluster, _ clusters: [Cluster], _ references: ReferenceFinder, _ leaves: [Leaf]) {
        self.cluster = cluster
        self.clusters = clusters
        self.references = references
        self.leaves = leaves
        names = FieldNames(leaves)
        addKey()
        for leaf in leaves where !isKey(leaf) { add(leaf) }
        addIndexes()
    }

    private func isKey(_ leaf: Leaf) -> Bool {
        // The key from a URL takes the place of an `id` that only some records have.
        if leaf.keys.count == 2, leaf.name == JSONValue.objectID { return cluster.key.fields.contains(leaf.keys[0]) }
        return leaf.keys.count == 1
            && (cluster.key.fields.contains(leaf.name) || leaf.name == lastResort || takesID && leaf.name == "id")
            || cluster.key.labels.contains(leaf.keys)
    }

    // MARK: Key

    private mutating func addKey() {
        let guess = cluster.key
        keyDoubt = guess.doubt
        if guess.isWithinParent { addOwner() }
        for field in guess.fields { addKey(field) }
        for path in guess.labels { addLabel(path) }
        if guess.isByURL, let form = cluster.urlForm {
            takesID = cluster.hasIDsOfURLs(form)
            let name = names.unique(takesID ? "id" : cluster.freeName(among: ["urlId", "urlKey", "keyInUrl"]))
            key = [name]
            fields.append(Field(attribute: ProposedAttribute(name: name, type: form.isInteger ? "int" : "string")))
        }
        keyComment = guess.reason
        if !guess.alternatives.isEmpty, guess.lastResort == nil {
            // `@id` beside `id` is named as it is in the JSON.
            let others = guess.alternatives.map { alternative in
                let name = EnglishName.field(alternative)
                return key.contains(name) ? "`\(YAMLText.comment(alternative, limit: 40))`" : name
            }.joined(separator: ", ")
            keyComment += (keyComment.isEmpty ? "" : "; ") + "also possible: \(others)"
        }
        guard key.isEmpty, !addNestedKey(), !addLastResort() else { return }
        let name = names.unique("position")
        key = [name]
        fields.append(Field(attribute: ProposedAttribute(name: name, type: "int", source: "@position")))
        keyComment = "\(guess.reason): the position in the list, which changes if the server inserts records"
        // The doubt names the alternative.
        guard !guess.alternatives.isEmpty, guess.doubt == nil else { return }
        keyComment +=
            "; if no two records share it: \(guess.alternatives.map { EnglishName.field($0) }.joined(separator: ", "))"
    }

    /// Adds the field that differs by chance as the key.
    private mutating func addLastResort() -> Bool {
        guard let guess = cluster.key.lastResort else { return false }
        lastResort = guess.field
        addKey(guess.field)
        (keyComment, keyDoubt) = (guess.reason, guess.doubt)
        let others = cluster.key.alternatives.filter { $0 != guess.field }.map(EnglishName.field)
        if !others.isEmpty { keyComment += "; also possible: \(others.joined(separator: ", "))" }
        return true
    }

    /// Adds the record that has these as the rows of its table.
    private mutating func addOwner() {
        guard let owner = cluster.places.first?.owner,
            let parent = clusters.first(where: { $0.places.contains { $0.index == owner } })
        else { return }
        let name = cluster.freeName(among: [EnglishName.uncapitalized(parent.name), "owner", "enclosingRecord"])
        key = [names.unique(name)]
        fields.append(
            Field(relationship: ProposedRelationship(name: key[0], target: parent.name)))
    }

    /// Adds a label of a series. One that a series lacks is empty.
    private mutating func addLabel(_ path: [String]) {
        var attribute = ProposedAttribute(name: names.unique(EnglishName.field(path.last ?? "label")), type: "string")
        if !FieldNames.isFound(attribute.name, at: path, in: cluster.shape) { attribute.from = [path] }
        if path.count > 1 { attribute.absent = "''" }
        key.append(attribute.name)
        fields.append(Field(attribute: attribute))
    }

    private mutating func addKey(_ field: String) {
        guard let value = cluster.shape.fields[field] else { return }
        let isName = field == RecordMap.nameField
        let name = isName ? cluster.freeName(among: ["id", "key", EnglishName.field(field)]) : EnglishName.field(field)
        var attribute = ProposedAttribute(name: names.unique(name), type: "string")
        let type = TypeChoice(of: value.key, name: "")
        attribute.type = FieldBuilder.keyType(type)
        let source = source(of: value.isObjectID ? [field, JSONValue.objectID] : [field])
        let isUnsigned = type.type == "uint" && (source != nil || FieldNames.canBeComposed(field))
        if value.key.scalars.hugeIntegers > 0 || isUnsigned {
            // A number is no key of this size. A composed text has its digits.
            attribute.source = "{\(source ?? field)}"
            attribute.comment = "integers beyond \(isUnsigned ? "63" : "64") bits, as text"
        } else if cluster.key.isWithinParent, value.key.scalars.fractions > 0 {
            attribute.type = "string"
            attribute.source = "{\(field)}"
            attribute.comment = "numbers with fractions, as text"
        } else if let source {
            attribute.source = source
        } else if value.isObjectID {
            attribute.from = [[field, JSONValue.objectID]]
        } else if !FieldNames.isFound(attribute.name, at: [field], in: cluster.shape) {
            attribute.from = [[field]]
        }
        key.append(attribute.name)
        fields.append(Field(attribute: attribute))
    }

    /// Returns the source of a value that no keys of an object lead to; nil for others.
    private func source(of keys: [String]) -> String? {
        if keys == [RecordMap.nameField] { return RecordMap.nameField }
        guard let column = keys.first.flatMap({ cluster.shape.columns?.firstIndex(of: $0) }) else { return nil }
        return JSONPath(.record, steps: [.index(column)] + keys.dropFirst().map(JSONPath.Step.key)).description
    }

    /// Returns the type of a key whose values have a type.
    private static func keyType(_ choice: TypeChoice) -> String {
        ["int", "uuid"].contains(choice.type) ? choice.type : choice.type == "double" ? "int" : "string"
    }

    /// Objects that hold what identifies the record around them.
    private static let envelopes: Set = ["sys", "data", "metadata", "node"]
    /// Words of people and owners: several records may have the same one, such as `added_by`.
    static let sharedWords: Set = [
        "by", "user", "author", "owner", "creator", "customer", "parent", "person", "member", "sender", "assignee",
        "reporter", "reviewer",
    ]

    /// Adds the id of a nested record as the key, if it differs in all samples: of `track` in
    /// `{"added_at": …, "track": {"id": …}}`.
    ///
    /// A position in the list would be the one of another record after the next change.
    private mutating func addNestedKey() -> Bool {
        let shape = cluster.mainShape, samples = Set(shape.samples)
        guard samples.count >= 5 else { return false }
        for leaf in leaves where !leaf.isToMany && !leaf.isOptional && leaf.kinds.isEmpty {
            guard FieldBuilder.sharedWords.isDisjoint(with: leaf.keys.flatMap(EnglishName.words)) else { continue }
            // The id alone, if it differs, of objects that state their type beside it.
            guard let target = leaf.target, !clusters[target].key.isByURL,
                clusters[target].key.fields.count == 1 || clusters[target].key.fields == ["type", "id"],
                let field = clusters[target].key.fields.last, let value = leaf.value.object?.fields[field],
                value.isScalar, value.scalars.fractions == 0, value.scalars.hugeIntegers == 0
            else { continue }
            let path = leaf.keys + [field], type = TypeChoice(of: value, name: "")
            let ids = Set(samples.compactMap { $0.value(at: path)?.keyText })
            guard type.type != "uint", ids.count == samples.count else { continue }
            var attribute = ProposedAttribute(
                name: names.unique(EnglishName.field(path.suffix(2).joined(separator: "_"))),
                type: FieldBuilder.keyType(type))
            if let source = source(of: path) { attribute.source = source } else { attribute.from = [path] }
            key = [attribute.name]
            fields.append(Field(attribute: attribute))
            let text = YAMLText.comment(path.joined(separator: "."), limit: 60)
            keyComment = "\(cluster.key.reason): `\(text)` differs in all \(ids.count) samples"
            if !FieldBuilder.envelopes.contains(leaf.name.lowercased()) {
                keyDoubt =
                    "`\(text)` differs in \(ids.count) samples, and others may share it: the store has one record for them. If they do, write `key: position`, with `position: { type: int, from: '@position' }`"
            }
            return true
        }
        return false
    }

    // MARK: Values

    private mutating func add(_ leaf: Leaf) {
        if let target = leaf.target {
            let relationship = ProposedRelationship(
                name: names.name(leaf), target: clusters[target].name, isToMany: leaf.isToMany)
            append(relationship, at: leaf)
            return
        }
        if let reference = references.referenceByURL(leaf, in: cluster) ?? references.reference(leaf, in: cluster) {
            return add(reference, leaf)
        }
        guard fields.count < FieldBuilder.attributeLimit else { return }
        let name = names.name(leaf), choice = TypeChoice(of: leaf.value, name: leaf.name)
        var attribute = ProposedAttribute(name: name, type: choice.type)
        attribute.isOptional = leaf.isOptional || choice.isAlwaysNull
        attribute.values = choice.values
        attribute.format = choice.format
        attribute.epoch = choice.epoch
        attribute.comment = leaf.comment.isEmpty ? choice.comment : leaf.comment
        attribute.alternative = choice.alternative
        if let source = source(of: leaf.keys) {
            attribute.source = source
        } else if !FieldNames.isFound(name, at: leaf.keys, in: cluster.shape) {
            attribute.from = [leaf.keys]
        }
        fields.append(Field(kinds: leaf.kinds, attribute: attribute))
    }

    /// Adds a reference by a bare key, or adds the key to the relationship that has the object.
    private mutating func add(_ reference: ReferenceFinder.Reference, _ leaf: Leaf) {
        let target = clusters[reference.target].name
        let known = fields.firstIndex { field in
            guard let relationship = field.relationship else { return false }
            return relationship.name == reference.name && relationship.target == target
                && relationship.isToMany == reference.isToMany && field.kinds == leaf.kinds
        }
        if let known, var relationship = fields[known].relationship, relationship.source == nil {
            let path = Array(leaf.keys.dropLast()) + [reference.name]
            relationship.from = (relationship.from ?? [path]) + [leaf.keys]
            relationship.comment = "an object, or the bare key beside it"
            // The own key of the relationship may be written differently.
            if let other = leaves.first(where: {
                $0.target == reference.target && EnglishName.field($0.name) == reference.name
            }) {
                relationship.from?[0] = other.keys
            }
            fields[known].relationship = relationship
            return
        }
        // The object may follow: then it takes the name.
        let follows = leaves.contains {
            $0.target == reference.target && $0.isToMany == reference.isToMany
                && EnglishName.field($0.name) == reference.name && $0.keys.dropLast() == leaf.keys.dropLast()
        }
        if follows {
            delayed.append((reference, leaf))
            return
        }
        var relationship = ProposedRelationship(
            name: names.unique(reference.name), target: target, isToMany: reference.isToMany)
        relationship.comment = reference.comment
        append(relationship, at: leaf)
    }

    /// References by a bare key, until the relationship with the object is known.
    private var delayed: [(ReferenceFinder.Reference, Leaf)] = []

    private mutating func append(_ relationship: ProposedRelationship, at leaf: Leaf) {
        var relationship = relationship
        if let source = source(of: leaf.keys) {
            relationship.source = source
        } else if !FieldNames.isFound(relationship.name, at: leaf.keys, in: cluster.shape) {
            relationship.from = [leaf.keys]
        }
        fields.append(Field(kinds: leaf.kinds, relationship: relationship))
        guard leaf.target != nil, !delayed.isEmpty else { return }
        let waiting = delayed
        delayed = []
        for (reference, leaf) in waiting { add(reference, leaf) }
    }

    // MARK: Indexes

    /// The words of attributes that are often looked up, each group at most once.
    private static let indexed: [(words: Set<String>, type: String?)] = [
        (["updated", "modified", "changed"], "date"),
        (["created", "published", "posted", "date", "timestamp"], "date"),
        (["number", "slug", "sku"], nil), (["login", "username", "email", "handle"], "string"),
        (["state", "status"], nil),
    ]

    private mutating func addIndexes() {
        for group in FieldBuilder.indexed {
            let found = fields.firstIndex { field in
                guard let attribute = field.attribute, !key.contains(attribute.name), field.kinds.isEmpty else {
                    return false
                }
                guard group.type.map({ $0 == attribute.type }) ?? true, !attribute.type.hasPrefix("["),
                    attribute.type != "json"
                else { return false }
                let words = EnglishName.words(of: attribute.name)
                return words.last.map(group.words.contains) == true
                    || group.type == "date" && words.contains { group.words.contains($0) }
            }
            if let found { fields[found].attribute?.isIndexed = true }
        }
    }
}
