// From sources to endpoints.

import Tarn

/// Builds the endpoints of a proposal, and the relationships that only requests tell.
struct EndpointBuilder {
    private let sources: [Source]
    /// The names of the entities of the lists, by the positions of source and list.
    private let entityNames: [[String]]
    /// The lists that other parents have at the paths of the sources.
    private let siblings: [String: [[JSONValue]]]
    /// Remarks about gaps in the records of a source that another endpoint fills, by the gaps.
    private(set) var filledGaps: [Int: [String: String]] = [:]
    private var names: Set<String> = []
    private(set) var endpoints: [ProposedEndpoint] = []
    /// The names of the endpoints of the sources, and of their details.
    private var sourceNames: [Int: String] = [:]
    private var detailNames: [Int: String] = [:]

    init(
        _ sources: [Source], _ entityNames: [[String]], _ entities: inout [ProposedEntity],
        siblings: [String: [[JSONValue]]] = [:]
    ) {
        self.sources = sources
        self.entityNames = entityNames
        self.siblings = siblings
        var built: [ProposedEndpoint?] = sources.map { _ in nil }
        for (index, source) in sources.enumerated() { built[index] = build(source, index, entities) }
        // Parents first: a path may name their own parents by them.
        for (_, index) in sources.indices.map({ (depth(of: $0), $0) }).sorted(by: { $0 < $1 }) {
            guard var endpoint = built[index] else { continue }
            if let parent = sources[index].parent { addParent(parent, sources[index], &endpoint, &entities, built) }
            if endpoint.forEach?.parent != nil, endpoint.lists.count == 1 {
                // A mapping of key paths cannot have a parent.
                endpoint.lists[0].isOptional = false
                endpoint.lists[0].exceptions = []
            }
            fillPath(of: &endpoint)
            built[index] = endpoint
        }
        for (index, filled) in filledGaps {
            guard let remarks = built[index]?.remarks else { continue }
            built[index]?.remarks = remarks.map { remark in
                filled.first { "UNCERTAIN: " + $0.key == remark }?.value ?? remark
            }
        }
        ParentKeys(sources, siblings).complete(&entities, entityNames, built)
        let positions = Set(entities.filter(\.hasPositions).map(\.name))
        let paged = sources.indices.filter { sources[$0].style.text != "single_page" }
        for name in paged.flatMap({ entityNames[$0].dropFirst() }) where positions.contains(name) {
            guard let index = entities.firstIndex(where: { $0.name == name }), entities[index].keyDoubt == nil else {
                continue
            }
            entities[index].keyDoubt =
                "these records are beside others, have no id, and are counted anew on each page: the pages overwrite each other's"
        }
        for index in built.indices where entityNames[index].count == 1 {
            let isAlone = entityNames.count { $0.contains(entityNames[index][0]) } == 1
            built[index]?.hasPositions = isAlone && positions.contains(entityNames[index][0])
        }
        // The endpoint that lists the parents comes first.
        for (index, endpoint) in built.enumerated() {
            guard let endpoint else { continue }
            sourceNames[index] = endpoint.name
            endpoints.append(endpoint)
            guard let detail = detail(of: sources[index], index, entities) else { continue }
            detailNames[index] = detail.name
            endpoints.append(detail)
        }
        sort()
    }

    /// Returns the name of the endpoint of a source.
    func name(ofSource index: Int) -> String? { sourceNames[index] }

    /// Returns the name of the endpoint of the details of a source.
    func detailName(ofSource index: Int) -> String? { detailNames[index] }

    private mutating func unique(_ name: String) -> String {
        let name = EnglishName.unique(name) { names.contains($0) }
        names.insert(name)
        return name
    }

    private mutating func build(
        _ source: Source, _ index: Int, _ entities: [ProposedEntity]
    ) -> ProposedEndpoint {
        var endpoint = ProposedEndpoint(name: unique(source.name), path: source.path)
        endpoint.comments = source.comments
        endpoint.parameters = source.parameters
        endpoint.headers = source.headers
        endpoint.hasLines = source.pages.contains(where: \.hasLines)
        endpoint.partitions = source.partitions
        endpoint.remarks = source.notes.map { source.gaps.contains($0) ? "UNCERTAIN: " + $0 : $0 }
        endpoint.endStatus = source.endStatus
        endpoint.endText = source.endText
        endpoint.pagination = source.style.text
        endpoint.paginationComment = source.style.reason
        endpoint.ignoredSign = source.style.ignoredSign
        if let unreached = source.style.unreached {
            endpoint.paginationAlternatives = unreached.styles
            endpoint.remarks.append(unreached.remark)
        }
        if let doubt = source.style.doubt {
            endpoint.paginationAlternatives = doubt.styles
            let isNamed = source.style.reason.hasPrefix("UNCERTAIN")
            endpoint.remarks.append((isNamed ? "" : "UNCERTAIN: ") + doubt.remark)
        }
        // The server's answer behind the last page is known from answers only.
        if source.pages.isEmpty, source.style.text.contains("end: empty") {
            endpoint.remarks.append(
                "If the server refuses a page behind the last one: responses: [{ status: 404, then: stop }].")
        }
        for (list, entity) in zip(source.lists, entityNames[index]) {
            var proposed = ProposedEndpoint.List(keys: list.found.steps, entity: entity, isOptional: list.isOptional)
            proposed.columns = EndpointBuilder.columns(of: list.found, source)
            if proposed.columns?.hasPrefix("[") ?? false {
                endpoint.remarks.append(
                    "Only the first page has the names of the columns in its first row: `columns` has the names themselves."
                )
            }
            for name in source.pages.flatMap({ ListFinder.exceptions($0.json, list.found) })
            where !proposed.exceptions.contains(name) {
                proposed.exceptions.append(name)
            }
            endpoint.lists.append(proposed)
        }
        for table in source.pages.first?.columns ?? []
        where source.lists.contains(where: { NestedTable.isTaken(table, below: $0.found, $0.shape) }) {
            endpoint.tables.append((table.records.description, EndpointBuilder.names(table)))
        }
        if source.lists.allSatisfy({ !$0.found.isList }) {
            endpoint.pagination = "single_page"
            endpoint.paginationComment = "a single object"
        }
        addSince(source, &endpoint, entities)
        addOwner(source, index, &endpoint, entities)
        return endpoint
    }

    // MARK: Owners in the query

    /// Marks a list that a parameter limits to one record of another list, such as `post=7` beside
    /// a list of posts.
    private func addOwner(
        _ source: Source, _ index: Int, _ endpoint: inout ProposedEndpoint, _ entities: [ProposedEntity]
    ) {
        guard source.parent == nil, !source.pages.isEmpty else { return }
        for parameter in source.parameters where parameter.values.isEmpty {
            let words = Set(EnglishName.singularWords(of: parameter.name))
            for other in sources.indices where other != index {
                guard let name = entityNames[other].first, name != endpoint.lists.first?.entity,
                    words.isSuperset(of: EnglishName.singularWords(of: name)),
                    let entity = entities.first(where: { $0.name == name }), entity.key.count == 1,
                    let key = entity.attributes.first(where: { $0.name == entity.key[0] }),
                    let shape = sources[other].lists.first?.shape
                else { continue }
                let field = key.from?.first?.first ?? jsonKey(key.name, shape)
                guard shape.samples.contains(where: { $0[field]?.scalarText == parameter.value }) else { continue }
                let sent = YAMLText.comment(parameter.name, limit: 60), variable = EnglishName.uncapitalized(name)
                let doubt =
                    "`\(sent)` names one \(name): the lists of the others are not synced. For all of them, write `for_each: \(name)`, and `\(sent): '{\(variable).\(key.name)}'` under `with`."
                endpoint.parameterDoubt = doubt
                endpoint.remarks.append("UNCERTAIN: " + doubt)
                return
            }
        }
    }

    /// Returns the place of the names of a list's columns, or the names, as a description writes
    /// them; nil for objects.
    private static func columns(of list: FoundList, _ source: Source) -> String? {
        let columns = source.pages.flatMap(\.columns).filter { $0.records == list.path }
        guard source.pages.first?.columns.contains(where: { $0.records == list.path }) ?? false else { return nil }
        return (columns.first { !$0.written.isEmpty } ?? columns.first).map(names)
    }

    private static func names(_ table: NamedColumns) -> String {
        table.written.isEmpty ? YAMLText.scalar(table.names.description) : YAMLText.list(table.written)
    }

    // MARK: Incremental

    private func addSince(_ source: Source, _ endpoint: inout ProposedEndpoint, _ entities: [ProposedEntity]) {
        guard let name = endpoint.lists.first?.entity, source.lists.first?.found.isList == true,
            let entity = entities.first(where: { $0.name == name }), !entity.hasPositions
        else { return }
        let dates = entity.attributes.filter { $0.type == "date" }
        let field = dates.first { attribute in
            EnglishName.words(of: attribute.name).contains { ["updated", "modified", "changed"].contains($0) }
        }
        guard let field, field.source == nil, field.from?.first?.count ?? 1 == 1 else { return }
        let key = field.from?.first?.first ?? jsonKey(field.name, source.lists[0].shape)
        let parameter = YAMLText.scalar(source.since?.parameter ?? "since")
        endpoint.since = ("{ param: \(parameter), field: \(YAMLText.scalar(key)) }", source.since != nil)
    }

    private func jsonKey(_ name: String, _ shape: ObjectShape) -> String {
        NamingConvention().jsonKeys(for: name).first { shape.fields[$0] != nil } ?? name
    }

    // MARK: Parents

    private mutating func addParent(
        _ parent: Source.Parent, _ source: Source, _ endpoint: inout ProposedEndpoint,
        _ entities: inout [ProposedEntity], _ built: [ProposedEndpoint?]
    ) {
        guard let parentName = entityNames[parent.source].first, let childName = endpoint.lists.first?.entity,
            endpoint.lists.count == 1,
            let path = variablePath(source.path, parent.segment, parentName, parent.field, entities),
            let child = entities.firstIndex(where: { $0.name == childName })
        else { return }
        endpoint.path = path
        for outer in parent.outer {
            guard let names = relationships(from: parent.source, to: outer.source, built),
                let attribute = attribute(for: outer.field, of: entityNames[outer.source][0], entities)
            else { continue }
            let keys = [EnglishName.uncapitalized(parentName)] + names + [attribute]
            var segments = endpoint.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard segments.indices.contains(outer.segment + 1) else { continue }
            segments[outer.segment + 1] = "{\(keys.joined(separator: "."))}"
            endpoint.path = segments.joined(separator: "/")
        }
        endpoint.comments.append(
            "Once for every \(parentName): the path names it by `\(YAMLText.comment(parent.field, limit: 60))`.")
        guard childName != parentName else {
            endpoint.forEach = (parentName, nil)
            return
        }
        if hasSharedRecords(source, entities[child]) {
            endpoint.forEach = (parentName, nil)
            let reference = EnglishName.uncapitalized(parentName), key = entities[child].key.joined(separator: ", ")
            let doubt =
                "the lists of several \(parentName) records have the same \(childName), so that a `parent` would name one of them only, and which lists have it is not stored. To store that, describe the records of these lists by an entity of their own with `key: [\(reference), \(key)]`, and name `parent: \(reference)`."
            endpoint.parentDoubt = doubt
            endpoint.remarks.append("UNCERTAIN: " + doubt)
            return
        }
        let plural = EnglishName.plural(EnglishName.uncapitalized(childName))
        let own = entities[child].relationships.first { $0.target == parentName && !$0.isToMany }
        if let own {
            endpoint.forEach = (parentName, own.name)
            joinExcerpt(plural, parent, source, endpoint, &entities)
            return
        }
        // A kind inherits the fields of its entity: it must not have one of the same name.
        let known = entities
        func isTaken(_ name: String, in entity: String) -> Bool {
            known.contains { ($0.name == entity || $0.parent == entity) && $0.has(name) }
        }
        let name = EnglishName.unique(EnglishName.uncapitalized(parentName)) { isTaken($0, in: childName) }
        var relationship = ProposedRelationship(name: name, target: parentName)
        relationship.comment = "not in the JSON: set by the endpoint \(endpoint.name)"
        let isFree =
            entities.contains { $0.name == parentName } && !isTaken(plural, in: parentName)
            && !entities.contains { $0.relationships.contains { $0.target == parentName && $0.inverse == plural } }
        if isFree { relationship.inverse = plural }
        entities[child].relationships.append(relationship)
        endpoint.forEach = (parentName, name)
        if mayShareRecords(source, childName) {
            let key = entities[child].key.joined(separator: ", ")
            let doubt =
                "the lists of several \(parentName) records may have the same \(childName): then `\(name)` names the one whose list came last, and which lists have it is not stored. To store that, describe the records of these lists by an entity of their own with `key: [\(name), \(key)]`."
            endpoint.parentDoubt = doubt
            endpoint.remarks.append("UNCERTAIN: " + doubt)
        }
        joinExcerpt(plural, parent, source, endpoint, &entities)
    }

    /// Whether the lists of several parents have a record in common, and no path needs its parent.
    private func hasSharedRecords(_ source: Source, _ child: ProposedEntity) -> Bool {
        ParentKeys(sources, siblings).hasSharedRecords(source, child)
            && !sources.contains { other in
                other.parent.map { !$0.outer.isEmpty && sources[$0.source].path == source.path } ?? false
            }
    }

    /// Whether records of a list for each parent may be in several of them: the API lists them by
    /// themselves, too, and no sample shows that each has one parent.
    private func mayShareRecords(_ source: Source, _ child: String) -> Bool {
        source.pages.isEmpty && siblings[source.path] == nil
            && sources.indices.contains { index in
                sources[index].parent == nil && sources[index].partitions.isEmpty
                    && !sources[index].path.split(separator: "/").contains { Operation.variable(String($0)) != nil }
                    && entityNames[index].contains(child)
            }
    }

    /// Makes a list inside of the parents, which has a part of what an endpoint requests for each
    /// of them, the inverse of the children's reference.
    private mutating func joinExcerpt(
        _ name: String, _ parent: Source.Parent, _ source: Source, _ endpoint: ProposedEndpoint,
        _ entities: inout [ProposedEntity]
    ) {
        guard let each = endpoint.forEach, let reference = each.parent, let list = source.lists.first,
            let place = entities.firstIndex(where: { $0.name == each.entity }),
            let child = entities.firstIndex(where: { $0.name == endpoint.lists.first?.entity }),
            let index = entities[child].relationships.firstIndex(where: { $0.name == reference })
        else { return }
        let segments = source.path.split(separator: "/").map { PercentEncoding.decode($0) }
        let parents = sources[parent.source].lists.first?.shape.samples ?? []
        let owner = parents.first { record in
            record[parent.field]?.scalarText.map { segments.dropFirst(parent.segment).first == $0 } ?? false
        }
        guard let owner,
            let excerpt = ExcerptList(
                name, of: entities[place], entities[child], parents: parents, owner: owner,
                listed: source.pages.flatMap { ListFinder.objects($0.json, list.found) },
                others: siblings[source.path] ?? [])
        else { return }
        entities[child].relationships[index].inverse = name
        entities[place].relationships[excerpt.relationship].inverse = reference
        entities[place].relationships[excerpt.relationship].isExcerpt = true
        entities[place].relationships[excerpt.relationship].comment =
            "a part of the list that the endpoint \(endpoint.name) requests; "
            + "a \(entities[child].name) has one \(each.entity)"
        for gap in sources[parent.source].gaps {
            filledGaps[parent.source, default: [:]][gap] = PartialList.remark(
                gap, ofOneOf: excerpt.paths, requestedBy: endpoint.name)
        }
    }

    /// The number of sources whose records the path of a source names, one below the other.
    private func depth(of index: Int) -> Int {
        var depth = 0, next = sources[index].parent?.source
        while let source = next, depth < sources.count {
            depth += 1
            next = sources[source].parent?.source
        }
        return depth
    }

    /// Returns the relationships that lead from the records of a source to those by which their
    /// lists are requested; nil if a record has none.
    private func relationships(from source: Int, to outer: Int, _ built: [ProposedEndpoint?]) -> [String]? {
        var names: [String] = [], current = source
        while current != outer, names.count < sources.count {
            guard let parent = sources[current].parent?.source, let each = built[current]?.forEach,
                each.entity == entityNames[parent].first, let name = each.parent
            else { return nil }
            names.append(name)
            current = parent
        }
        return current == outer ? names : nil
    }

    /// Adds placeholders for the variables of a path to which nothing gives a value.
    private func fillPath(of endpoint: inout ProposedEndpoint) {
        for name in endpoint.path.split(separator: "/").map(String.init).compactMap(Operation.variable) {
            guard !name.contains("."), !endpoint.parameters.contains(where: { $0.name == name }),
                !endpoint.partitions.contains(where: { $0.name == name })
            else { continue }
            endpoint.parameters.append(
                ProposedParameter(name: name, value: "CHANGE_ME", comment: "part of the path: write its value"))
        }
    }

    /// Returns a path whose segment is an attribute of a record; nil if the entity has none for it.
    private func variablePath(
        _ path: String, _ segment: Int, _ entity: String, _ field: String, _ entities: [ProposedEntity]
    ) -> String? {
        guard let attribute = attribute(for: field, of: entity, entities) else { return nil }
        var segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard segments.indices.contains(segment + 1) else { return nil }
        segments[segment + 1] = "{\(EnglishName.uncapitalized(entity)).\(attribute)}"
        return segments.joined(separator: "/")
    }

    private func attribute(for field: String, of entity: String, _ entities: [ProposedEntity]) -> String? {
        entities.first { $0.name == entity }?.attributes.first { attribute in
            if let source = attribute.source { return source == "{\(field)}" }
            return attribute.from.map { $0.contains([field]) }
                ?? NamingConvention().jsonKeys(for: attribute.name).contains(field)
        }?.name
    }

    // MARK: Details

    private mutating func detail(of source: Source, _ index: Int, _ entities: [ProposedEntity]) -> ProposedEndpoint? {
        guard let detail = source.detail, let entity = entityNames[index].first, source.parent == nil else {
            return nil
        }
        let url = detail.urlField.flatMap { attribute(for: $0, of: entity, entities) }
        guard
            let path = url.map({ "/" + $0 })
                ?? variablePath(detail.path, detail.segment, entity, detail.field, entities)
        else { return nil }
        let isActive = detail.isActive(for: source)
        var result = ProposedEndpoint(
            name: unique(EnglishName.uncapitalized(EnglishName.words(of: entity).last ?? entity) + "Details"),
            path: path)
        let added = detail.added.prefix(6).map { YAMLText.comment($0, limit: 40) }.joined(separator: ", ")
        let more = detail.added.count > 6 ? ", …" : ""
        result.comments = [
            isActive
                ? "One request for every \(entity): its own URL has \(detail.added.count) keys that the list lacks (\(added)\(more))."
                : "One request for every \(entity) would add \(detail.added.count == 1 ? "a key" : "\(detail.added.count) keys") that the list lacks (\(added)\(more)): remove the # to fetch them, and map or ignore them."
        ]
        result.url = url.map { "{\(EnglishName.uncapitalized(entity)).\($0)}" }
        result.forEach = (entity, nil)
        result.lists = [ProposedEndpoint.List(keys: detail.steps, entity: entity)]
        result.isCommentedOut = !isActive
        return result
    }

    /// Moves endpoints behind the ones that list their parents.
    private mutating func sort() {
        var sorted: [ProposedEndpoint] = [], waiting = endpoints
        while !waiting.isEmpty {
            let listed = Set(sorted.flatMap { $0.lists.map(\.entity) })
            let isReady: (ProposedEndpoint) -> Bool = { endpoint in
                guard let entity = endpoint.forEach?.entity else { return true }
                return listed.contains(entity)
            }
            // A path such as `/groups/{user.group.id}` needs what another endpoint sets.
            let isComplete: (ProposedEndpoint) -> Bool = { endpoint in
                guard isReady(endpoint), let entity = endpoint.forEach?.entity else { return isReady(endpoint) }
                return !waiting.contains { other in
                    guard other.name != endpoint.name, let reference = other.forEach?.parent else { return false }
                    return other.lists.contains { $0.entity == entity }
                        && endpoint.path.contains("{\(EnglishName.uncapitalized(entity)).\(reference).")
                }
            }
            let next = waiting.firstIndex(where: isComplete) ?? waiting.firstIndex(where: isReady) ?? 0
            sorted.append(waiting.remove(at: next))
        }
        endpoints = sorted
    }
}

extension Source.Detail {
    /// Whether the list has little more than links, so that the details are what is wanted.
    func isActive(for source: Source) -> Bool {
        guard let shape = source.lists.first?.shape, source.parent == nil else { return false }
        return Source.Detail.isWorthRequests(
            added: added.count, listed: shape.names.count { !added.contains($0) })
    }

    /// Whether single records have so much more than listed ones that each is requested.
    static func isWorthRequests(added: Int, listed: Int) -> Bool { listed <= 4 && added >= 3 }

    /// Adds the keys of a single record to the shape of listed ones, as optional.
    func add(to list: ObjectShape) {
        if let page { list.add(page.json) }
        for page in furtherPages { list.add(page.json) }
        guard let shape else { return }
        for name in added {
            guard let theirs = shape.fields[name] else { continue }
            let copy = list.shape(of: name)
            copy?.addDeclarations(of: theirs)
            copy?.declared?.isRequired = false
        }
    }
}
