// Fingerprints of descriptions: a change means that stored responses would be imported differently.

import TarnHTTP
import TarnImport
import TarnStore

extension Description {
    /// A digest of the schema and the mapping, without ignored members.
    ///
    /// A stored response with another fingerprint is not requested conditionally: a 304 would leave
    /// new fields empty.
    var fingerprint: String {
        var text = ""
        text += DescriptionDigest.text(of: mapping.naming)
        text += DescriptionDigest.text(of: mapping.rules, "rules")
        if let duplicates = mapping.duplicates { text += "duplicates \(duplicates.rawValue)\n" }
        if let keyless = mapping.keyless { text += "keyless \(keyless.rawValue)\n" }
        if let local = mapping.local { text += "local \(local.rawValue)\n" }
        if !mapping.bases.isEmpty { text += "bases \(mapping.bases)\n" }
        text += DescriptionDigest.text(of: api.responses)
        for further in furtherAPIs where !further.api.responses.isEmpty {
            text += DescriptionDigest.text(of: further.api.responses, "\(further.name) ")
        }
        // Ignored paths are not kept with the rest.
        let hasRest = mapping.entities.values.contains { $0.rest != nil }
        for entity in schema.entities.sorted(by: { $0.name < $1.name }) {
            text += "entity \(entity.name) \(entity.key.joined(separator: ","))\n"
            if let parent = entity.parent { text += "parent \(parent)\n" }
            for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
                text += "attribute \(attribute.name) \(attribute.type) \(attribute.isOptional)"
                switch attribute.type {
                case .enumeration(let values), .array(.enumeration(let values)): text += " \(values)"
                default: break
                }
                if attribute.isUnique { text += " unique" }
                text += "\n"
            }
            for index in entity.indexes where index.isUnique { text += "unique \(index.name)\n" }
            for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
                text += "relationship \(relationship.name) \(relationship.destination) \(relationship.isToMany)"
                text +=
                    " \(relationship.isOrdered) \(relationship.inverse ?? "")\(relationship.join == nil ? "" : " joined")\n"
            }
            guard let mapped = mapping.entities[entity.name] else { continue }
            if let convention = mapped.convention { text += DescriptionDigest.text(of: convention) }
            if let bases = mapped.bases { text += "bases \(bases)\n" }
            for (name, paths) in mapped.paths.sorted(by: { $0.key < $1.key }) { text += "path \(name) \(paths)\n" }
            text += DescriptionDigest.text(of: mapped.rules, "rules")
            if let duplicates = mapped.duplicates { text += "duplicates \(duplicates.rawValue)\n" }
            if let choice = mapped.choice { text += DescriptionDigest.text(of: choice) }
            if let keyless = mapped.keyless { text += "keyless \(keyless.rawValue)\n" }
            if let local = mapped.local { text += "local \(local.rawValue)\n" }
            if let url = mapped.url { text += "url \(url.templates) \(url.sources)\n" }
            for (name, url) in mapped.referenceURLs.sorted(by: { $0.key < $1.key }) {
                text += "by \(name) \(url.templates)\n"
            }
            if let rest = mapped.rest { text += "rest \(rest)\n" }
            if hasRest, !mapped.ignored.isEmpty { text += "ignored \(mapped.ignored.map(\.description).sorted())\n" }
            if let version = mapped.version { text += "version \(version)\n" }
            if let tombstone = mapped.tombstone { text += "deleted \(tombstone.path) \(tombstone.equals ?? "")\n" }
            for (name, rules) in mapped.fields.sorted(by: { $0.key < $1.key }) {
                text += DescriptionDigest.text(of: rules, "field \(name)")
            }
            for (name, unit) in mapped.epochs.sorted(by: { $0.key < $1.key }) {
                text += "epoch \(name) \(unit.rawValue)\n"
            }
        }
        return SHA256.shortHexadecimal(text)
    }

    /// A digest of everything that determines the import of one endpoint's responses.
    package func fingerprint(of endpoint: Endpoint) -> String {
        Description.fingerprint(of: endpoint, mappedBy: fingerprint)
    }

    /// A digest of an endpoint, and of the digest of a schema and a mapping.
    static func fingerprint(of endpoint: Endpoint, mappedBy mapping: String) -> String {
        var text = mapping + "\n" + DescriptionDigest.text(ofRecordsOf: endpoint)
        // Older entries lack the number of records of the first list.
        if endpoint.envelope.count > 1 { text += "counts of the first list\n" }
        // The values that a stored response must have for the next page.
        var wants = endpoint.pagination.style.storedWants
        if let deep = endpoint.deep { wants.record = deep.path }
        // Older entries lack the evidence of further pages: the new fingerprint refetches them
        // once.
        text += "signs 1\n"
        if !wants.isEmpty { text += "wants \(wants.values) \(wants.record ?? "") \(wants.fields)\n" }
        if endpoint.listsExcerpts { text += "excerpts\n" }
        text += DescriptionDigest.text(of: endpoint.responses)
        for metadata in endpoint.metadata { text += "metadata \(metadata.name) \(metadata.path)\n" }
        text += DescriptionDigest.text(ofRequestsOf: endpoint)
        return SHA256.shortHexadecimal(text)
    }
}

extension Description {
    /// A digest of what the keys and the kinds of records depend on.
    ///
    /// A change of other fields, of indexes or of inverses leaves it as it is: the lists have the
    /// same records as before.
    var keyFingerprint: String {
        var keys = self
        // Kinds have the key of their root.
        let key = Set(schema.entities.flatMap(\.key))
        for index in keys.schema.entities.indices {
            keys.schema.entities[index].attributes.removeAll { !key.contains($0.name) }
            keys.schema.entities[index].relationships.removeAll { !key.contains($0.name) }
            keys.schema.entities[index].indexes = []
        }
        keys.mapping.duplicates = nil
        keys.mapping.local = nil
        // Rules change what a response is taken for, not how its records are identified.
        keys.api.responses = []
        for index in keys.furtherAPIs.indices { keys.furtherAPIs[index].api.responses = [] }
        for entity in keys.schema.entities {
            guard var mapped = keys.mapping.entities[entity.name] else { continue }
            mapped.paths = mapped.paths.filter { key.contains($0.key) }
            mapped.fields = mapped.fields.filter { key.contains($0.key) }
            mapped.epochs = mapped.epochs.filter { key.contains($0.key) }
            mapped.referenceURLs = mapped.referenceURLs.filter { key.contains($0.key) }
            (mapped.duplicates, mapped.local, mapped.rest, mapped.version) = (nil, nil, nil, nil)
            keys.mapping.entities[entity.name] = mapped
        }
        return keys.fingerprint
    }

    /// A digest of what determines, besides its request, which records an endpoint lists.
    ///
    /// - Parameter keys: ``keyFingerprint``.
    static func listing(of endpoint: Endpoint, keyedBy keys: String) -> String {
        SHA256.shortHexadecimal(
            keys + "\n" + DescriptionDigest.text(ofRecordsOf: endpoint) + (endpoint.listsExcerpts ? "excerpts\n" : "")
                + DescriptionDigest.text(ofRequestsOf: endpoint))
    }

    /// The rules by which a response is no list, or lists nothing, as a text; empty without any.
    ///
    /// - Parameter api: the API of the endpoint, with its own rules.
    static func text(ofRulesThatEndListsOf endpoint: Endpoint, _ api: APIDescription) -> String {
        DescriptionDigest.text(
            ofAll: (endpoint.responses + api.responses).filter { rule in
                rule.mayMatchSuccess || [.empty, .ignore, .stop].contains(rule.action)
            })
    }
}

extension Description {
    /// The rules of a choice between kinds, each as a text.
    static func ruleTexts(of choice: EntityChoice) -> [String] {
        choice.rules.map { DescriptionDigest.text(of: EntityChoice([$0])) }
    }
}

private enum DescriptionDigest {
    static func text(ofRecordsOf endpoint: Endpoint) -> String {
        var text = "records \(endpoint.records)\nentity \(endpoint.entity)\n"
        for part in endpoint.envelope {
            text += "envelope \(part.path) \(part.entity) \(part.isOptional)"
            text += part.exceptions.isEmpty ? "\n" : " except \(part.exceptions.sorted())\n"
            if !part.elements.isPlain { text += DescriptionDigest.text(of: part.elements) }
        }
        for list in endpoint.columns { text += "columns \(list.text)\n" }
        if endpoint.format != .json { text += "format \(endpoint.format.rawValue)\n" }
        return text
    }

    static func text(ofRequestsOf endpoint: Endpoint) -> String {
        var text = ""
        for field in endpoint.headers {
            let name = field.name.lowercased()
            // A store contains no digest of a secret.
            text += "header \(name) \(CacheRules.isCredential(name) ? "" : field.value)\n"
        }
        if let body = endpoint.body { text += "body \(body.text)\n" }
        if let rule = endpoint.incremental {
            text += "since \(rule.source)\n"
            if let sent = rule.text { text += "since text \(sent)\n" }
        }
        if let forEach = endpoint.forEach { text += "parent \(forEach.entity) \(forEach.parent ?? "")\n" }
        return text
    }

    /// The rules for successes: an answer of 304 has neither their status nor their text to decide
    /// by.
    static func text(of rules: [ResponseRule], _ prefix: String = "") -> String {
        text(ofAll: rules.filter(\.mayMatchSuccess), prefix)
    }

    static func text(ofAll rules: [ResponseRule], _ prefix: String = "") -> String {
        rules.map { rule in
            // Rules without statuses have the text of earlier versions: their responses stay valid.
            let statuses = rule.statuses.isEmpty ? "" : "status \(rule.statuses) "
            return "\(prefix)rule \(rule.action.rawValue) \(statuses)\(rule.text ?? "")\n"
        }.joined()
    }

    static func text(of naming: NamingConvention) -> String {
        var text = ""
        if naming.style != .snakeCase { text += "naming \(naming.style.rawValue)\n" }
        for (json, name) in naming.words.sorted(by: { $0.key < $1.key }) { text += "word \(json) \(name)\n" }
        if !naming.referenceSuffixes.isEmpty { text += "references \(naming.referenceSuffixes)\n" }
        return text
    }

    private static func text(of rule: ElementRule) -> String {
        let deletion =
            switch rule.deletion {
            case .none: ""
            case .all: " deleted"
            case .when(let conditions): " deleted \(text(of: conditions))"
            }
        return "element \(rule.records.map(\.description)) where \(text(of: rule.conditions))\(deletion)\n"
    }

    private static func text(of conditions: [RecordCondition]) -> String {
        conditions.map { "\($0.path) \(text(of: $0.test))" }.joined(separator: ", ")
    }

    static func text(of choice: EntityChoice) -> String {
        choice.rules.map { rule in
            switch rule {
            case .entity(let name, let conditions): "kind \(name) \(text(of: conditions))\n"
            case .code(let chooser): "kind by \(chooser.name)\n"
            }
        }.joined() + "otherwise \(choice.otherwise.rawValue)\n"
    }

    private static func text(of test: RecordCondition.Test) -> String {
        switch test {
        case .isPresent: "*"
        case .isAbsent: "-"
        case .matches(let texts): "\(texts)"
        case .compares(let comparison, let text): "\(comparison.rawValue) \(text)"
        case .satisfies(let predicate): "by \(predicate.name)"
        }
    }

    /// The text of rules; empty without rules.
    ///
    /// So stores from before there were rules stay valid.
    static func text(of rules: FieldRules, _ what: String) -> String {
        guard rules != FieldRules() else { return "" }
        let dates = rules.dates.map { $0.map(\.description).joined(separator: "\n ") } ?? ""
        return
            "\(what) \(rules.coercion?.rawValue ?? "") \(dates) \(rules.nulls?.rawValue ?? "") \(rules.absent?.rawValue ?? "") \(rules.toMany?.rawValue ?? "")\n"
            + (rules.naming.map { "naming \($0.rawValue)\n" } ?? "")
            + (rules.absentValue.map { "absent \($0.text)\n" } ?? "")
            + (rules.fallback.map { "fallback \($0)\n" } ?? "") + (rules.transformers.map { "transform \($0)\n" } ?? "")
    }
}
