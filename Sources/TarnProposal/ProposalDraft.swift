// The inference from samples to a proposed description.

import Tarn

/// A proposed description before it is checked.
struct ProposalDraft {
    var description = ProposedDescription()
    private(set) var sources: [Source] = []
    /// The sources of the samples without a record.
    private var unlisted: [Source] = []
    /// The paths of lists of several parents whose pages do not show their style.
    private var unknownStyles: Set<String> = []
    /// The bodies of the samples by the names of their endpoints.
    private(set) var bodies: [Bodies] = []
    private(set) var questions: [Proposal.Question] = []
    /// Remarks about records that the description does not reach, each with its endpoint.
    private(set) var uncertain: [String] = []
    /// The lists of the specification that are not described, each with its reason.
    private(set) var omitted: [String] = []
    private static let omittedLimit = 200

    /// The bodies of an endpoint's samples.
    struct Bodies {
        var endpoint: String
        /// A parent of the listed records.
        var parent: ParentReference?
        var bodies: [[UInt8]]

        fileprivate init(_ endpoint: String, _ pages: [Sample.Page], _ description: ProposedDescription) {
            self.endpoint = endpoint
            bodies = pages.map(\.body)
            guard let each = description.endpoints.first(where: { $0.name == endpoint })?.forEach,
                let relationship = each.parent
            else { return }
            // Any key: the check imports no parents.
            parent = ParentReference(
                relationship: relationship, key: RecordKey(description.sampleKey(of: each.entity)))
        }
    }

    init(_ samples: [Sample], _ specification: OpenAPIDocument?, _ options: ProposalOptions) {
        var options = options
        let servers = specification.map { document in
            SpecificationServers(
                document, chosen: options.base, fetched: samples.filter(\.isURL).map(\.origin))
        }
        if let servers { options.base = servers.base }
        let builder = SourceBuilder(samples, options)
        sources = builder.sources
        unlisted = builder.unlisted
        description.base = builder.base
        description.baseComment = builder.baseComment
        description.aliases = builder.aliases
        var hosts = builder.hosts
        if let specification, let servers {
            let declared = SpecificationSources(specification, samples: builder, servers: servers)
            sources = declared.sources
            description.base = declared.base
            description.baseComment = servers.comment
            omitted = declared.omitted
            if sources.isEmpty { omitted += declared.others }
            description.authentication = declared.authentication
            description.authenticationComment = declared.authenticationComment
            if let host = URLReference(declared.base).authority { hosts.insert(host.lowercased()) }
        }
        addCredentials(options, parameters: builder.secretParameters)
        guard !sources.isEmpty else { return }
        takeStyles(options.siblings.styles)
        build(hosts, options)
        comment(samples, specification)
        description.comments += omitted.prefix(ProposalDraft.omittedLimit)
        if omitted.count > ProposalDraft.omittedLimit {
            description.comments.append("\(omitted.count - ProposalDraft.omittedLimit) more lists are not described.")
        }
        // A list that is left out names the document itself.
        let unread = (specification?.unread ?? []).filter { part in
            !omitted.contains { $0.contains(part.location) }
        }.map { "\($0.location) is not read: \($0.reason). What refers to it has any type." }
        description.comments += unread.prefix(ProposalDraft.omittedLimit)
        uncertain += omitted + unread
        description.comments += builder.empty.map {
            "\(YAMLText.comment($0, limit: 120)) has no records: it is not described."
        }
    }

    /// Takes the styles that lists of other parents show. Without one, each list decides by itself:
    /// the first one may be shorter than a page.
    private mutating func takeStyles(_ styles: [String: SampledStyle]) {
        for index in sources.indices where sources[index].hasUnknownStyle {
            unknownStyles.insert(sources[index].path)
            if let style = styles[sources[index].path] {
                sources[index].style = style
                sources[index].parameters.removeAll { style.sends($0.name) }
            } else {
                sources[index].style.text = "auto"
                sources[index].style.reason = "the first page of each list decides"
            }
        }
    }

    private mutating func build(_ hosts: Set<String>, _ options: ProposalOptions) {
        var collector = PlaceCollector(bases: [description.base] + description.aliases), sourceNames: [String] = []
        var lists: [[Int]] = []
        for source in sources {
            lists.append([])
            for list in source.lists {
                lists[lists.count - 1].append(sourceNames.count)
                let key = options.keys[EnglishName.entity(list.name)]
                // The key is that of the list; the details may lack it.
                collector.addList(
                    list.shape, source: sourceNames.count, name: list.name, key: key,
                    named: source.namedFields)
                if let detail = source.detail, detail.isActive(for: source) { detail.add(to: list.shape) }
                sourceNames.append(source.name)
            }
        }
        collector.addNested()
        if KeyStyle.isCamelCase(collector.places.map(\.shape)) { description.naming = .camelCase }
        let clusters = ClusterFinder.clusters(collector.places)
        EntityNames.assign(clusters, chosen: options.entityNames)
        var nameOfList: [Int: String] = [:]
        for cluster in clusters {
            for place in cluster.places { if let source = place.source { nameOfList[source] = cluster.name } }
        }
        var entities = EntityBuilder(
            clusters, hosts: hosts, sourceNames: sourceNames,
            requested: Set(sources.compactMap { $0.detail?.urlField.map { [$0] } })
        ).entities()
        let entityNames = lists.map { $0.map { nameOfList[$0] ?? "Record" } }
        let endpoints = EndpointBuilder(sources, entityNames, &entities, siblings: options.siblings.records)
        description.endpoints = endpoints.endpoints
        description.entities = ProposalDraft.reachable(entities, from: description.endpoints)
        addWrites(endpoints)
        ask(clusters)
        findOverwritten(clusters)
        uncertain += description.entities.compactMap { entity in entity.keyDoubt.map { "entity \(entity.name): \($0)." }
        }
        for (index, source) in sources.enumerated() {
            guard let name = endpoints.name(ofSource: index) else { continue }
            let filled = endpoints.filledGaps[index] ?? [:]
            let gaps =
                source.gaps.filter { filled[$0] == nil }
                + [source.style.unreached?.remark, source.style.doubt?.remark].compactMap(\.self)
            let endpoint = endpoints.endpoints.first { $0.name == name }
            let doubts = [endpoint?.parentDoubt, endpoint?.parameterDoubt]
            let shared = shareEntity(endpoint: name) + doubts.compactMap(\.self)
            uncertain += (gaps + shared + placeholders(of: name)).map { "endpoint \(name): \($0)" }
            guard !source.pages.isEmpty else { continue }
            bodies.append(Bodies(name, source.pages, description))
            if let detail = source.detail, detail.isActive(for: source), let page = detail.page,
                let name = endpoints.detailName(ofSource: index)
            {
                bodies.append(Bodies(name, [page] + detail.furtherPages, description))
            }
        }
    }

    /// Adds the requests that change the records of lists, as a specification declares them.
    private mutating func addWrites(_ endpoints: EndpointBuilder) {
        let keyTypes = description.keyTypes
        for (index, source) in sources.enumerated() where !source.changes.isEmpty && source.lists.count == 1 {
            guard let name = endpoints.name(ofSource: index),
                let endpoint = description.endpoints.first(where: { $0.name == name && !$0.isCommentedOut }),
                let list = endpoint.lists.first, let entity = description.position(of: list.entity)
            else { continue }
            var writes = description.entities[entity].writes ?? ProposedWrites()
            let builder = ChangeBuilder(
                description.entities[entity], endpoint, source.lists[0].shape, description.naming ?? .snakeCase,
                keyTypes: keyTypes)
            builder.add(source, to: &writes)
            description.entities[entity].writes = writes
        }
    }

    /// Removes the requests of entities whose declaration is not valid: one odd operation must not
    /// make the whole proposal invalid.
    mutating func dropInvalidWrites() {
        guard description.entities.contains(where: { $0.writes?.requests.isEmpty == false }) else { return }
        do throws(DescriptionError) {
            _ = try Description.parse(ProposalWriter.text(description), file: "tarn.yaml")
        } catch {
            for index in description.entities.indices {
                let start = "entities.\(description.entities[index].name).write"
                guard let problem = error.problems.first(where: { $0.field.hasPrefix(start) }) else { continue }
                let reason = YAMLText.comment(problem.message, limit: 300)
                description.entities[index].writes = ProposedWrites(
                    remarks: ["The requests that change records are not described: \(reason)."])
            }
        }
    }

    /// Notes the entities of which samples with different values share a key.
    private mutating func findOverwritten(_ clusters: [Cluster]) {
        for cluster in clusters where cluster.key.isByURL || !cluster.key.fields.isEmpty {
            // A key with the parent in it tells apart what the samples do not.
            guard let index = description.position(of: cluster.name), description.entities[index].keyDoubt == nil,
                description.entities[index].key.count == max(1, cluster.key.fields.count)
            else { continue }
            let ignored = Set(description.entities[index].ignore.compactMap(\.first))
            // Elsewhere, an object with a URL may be an excerpt with fields of its own.
            var consistency =
                cluster.key.isByURL ? cluster.listConsistency(except: ignored) : cluster.consistency(except: ignored)
            // In a list, other counters and times are lost, too.
            if consistency.conflicts == 0 { consistency = cluster.listConsistency(except: ignored) }
            guard consistency.conflicts > 0 else { continue }
            let fields = consistency.differing, more = fields.count > 3 ? ", …" : ""
            let names = fields.prefix(3).map { "`\(YAMLText.comment($0, limit: 40))`" }.joined(separator: ", ")
            description.entities[index].keyDoubt =
                "\(consistency.conflicts == 1 ? "a key names" : "\(consistency.conflicts) keys name") samples with different values (\(names)\(more)): the store has one record for them, with the values of the last one"
        }
    }

    /// Notes lists of one answer that have one entity: the store does not have the list in which a
    /// record is.
    ///
    /// - Returns: the remarks.
    private mutating func shareEntity(endpoint name: String) -> [String] {
        guard let index = description.endpoints.firstIndex(where: { $0.name == name }) else { return [] }
        // Side-loaded records are of any kind.
        let lists = description.endpoints[index].lists.filter { !ListFinder.isSideLoaded($0.keys) }
        let shared = Dictionary(grouping: lists, by: \.entity).filter { $0.value.count > 1 }
        let remarks = shared.sorted { $0.key < $1.key }.map { entity, lists in
            let paths = lists.prefix(4).map { "`\(YAMLText.comment(ProposalWriter.path($0.keys), limit: 60))`" }
            return
                "\(paths.joined(separator: ", "))\(lists.count > 4 ? ", …" : "") list records of one entity, \(entity): the name of the list is not stored with a record. To keep it, write an entity with `parent: \(entity)` for each list, and name it under `records`."
        }
        description.endpoints[index].remarks += remarks
        return remarks
    }

    /// Returns remarks about the values of an endpoint that a person has to write.
    private func placeholders(of endpoint: String) -> [String] {
        guard let endpoint = description.endpoints.first(where: { $0.name == endpoint }) else { return [] }
        return (endpoint.parameters + endpoint.headers).filter { $0.value == "CHANGE_ME" }.map {
            "write the value of `\(YAMLText.comment($0.name, limit: 40))`, which is CHANGE_ME."
        }
    }

    /// Returns the lists whose keys, styles or records depend on what other parents have.
    ///
    /// - Parameter options: the options of the proposal.
    static func siblings(
        _ samples: [Sample], _ specification: OpenAPIDocument?, _ options: ProposalOptions
    ) -> [SiblingList] {
        // Without samples, no parent is known.
        guard !samples.isEmpty else { return [] }
        let draft = ProposalDraft(samples, specification, options)
        let inDoubt = Set(
            draft.description.entities.filter { $0.keyDoubt != nil || $0.keyComment.contains("unique only") }.map(
                \.name))
        // A specification declares where a list is.
        let unlisted = specification == nil ? draft.unlisted : []
        guard !inDoubt.isEmpty || !draft.unknownStyles.isEmpty || !unlisted.isEmpty else { return [] }
        return SiblingList.lists(
            draft.sources, unlisted: unlisted, base: draft.description.base, mayBeEmpty: specification == nil
        ).compactMap { list in
            var list = list
            list.isKeyInDoubt = !inDoubt.isEmpty || list.emptyAnswer != nil
            list.hasUnknownStyle = draft.unknownStyles.contains(list.path)
            return list.isKeyInDoubt || list.hasUnknownStyle ? list : nil
        }
    }

    /// Returns the entities that a response can have: those of lists, their kinds, and the targets
    /// of their relationships. Objects inside of JSON values become no records.
    private static func reachable(
        _ entities: [ProposedEntity], from endpoints: [ProposedEndpoint]
    ) -> [ProposedEntity] {
        var found = Set(endpoints.flatMap { $0.lists.map(\.entity) }), count = 0
        while found.count > count {
            count = found.count
            for entity in entities {
                if let parent = entity.parent, found.contains(parent) { found.insert(entity.name) }
                if found.contains(entity.name) { found.formUnion(entity.relationships.map(\.target)) }
            }
        }
        return entities.filter { found.contains($0.name) }
    }

    /// Collects the uncertain guesses.
    private mutating func ask(_ clusters: [Cluster]) {
        for cluster in clusters where cluster.main[0].isListed && description.position(of: cluster.name) != nil {
            questions.append(
                Proposal.Question(
                    subject: .entityName, entity: cluster.name, proposed: cluster.name, others: [],
                    reason: "the records of `\(YAMLText.comment(cluster.main[0].name, limit: 60))`"))
            guard !cluster.key.isCertain else { continue }
            let last = lastResort(of: cluster)
            questions.append(
                Proposal.Question(
                    subject: .key, entity: cluster.name,
                    proposed: last?.field ?? cluster.key.fields.joined(separator: ","),
                    others: cluster.key.alternatives.filter { $0 != last?.field },
                    reason: last?.reason ?? cluster.key.reason))
        }
    }

    /// The field that is the key of a listed entity because its records contain no other one; nil
    /// if there is none.
    private func lastResort(of cluster: Cluster) -> KeyGuess.LastResort? {
        guard let last = cluster.key.lastResort, let index = description.position(of: cluster.name),
            description.entities[index].key == [EnglishName.field(last.field)]
        else { return nil }
        return last
    }

    // MARK: Credentials

    /// Names of header fields with credentials, besides those that other rules recognize.
    private static let secretFields: Set = [
        "access", "x-access", "x-pat", "x-bearer", "bearer", "pat", "pin", "x-pin", "ticket", "x-ticket",
    ]

    /// Whether a header field may hold a credential. A wrong yes costs a line to be corrected.
    private static func isSecret(field name: String) -> Bool {
        CacheRules.isCredential(name) || Redaction.isSecret(name) || secretFields.contains(name.lowercased())
    }

    private mutating func addCredentials(_ options: ProposalOptions, parameters: [String]) {
        let fields = options.headers.filter { ProposalDraft.isSecret(field: $0.name) }
        var left = fields.map(\.name) + parameters
        if let variable = options.tokenVariable {
            description.authentication = "{ bearer: { env: \(variable) } }"
            description.authenticationComment = ""
            left.removeAll { $0.lowercased() == "authorization" }
        } else if let (name, value) = fields.first(where: { $0.name.lowercased() == "authorization" }) ?? fields.first {
            let isBearer = name.lowercased() == "authorization" && value.lowercased().hasPrefix("bearer ")
            description.authentication =
                isBearer
                ? "{ bearer: { env: API_TOKEN } }"
                : "{ api_key: { key: { env: API_TOKEN }, header: \(YAMLText.scalar(name)) } }"
            description.authenticationComment = "the value of --header is not written: put it into the environment"
            left.removeAll { $0 == name }
        } else if let name = parameters.first {
            description.authentication = "{ api_key: { key: { env: API_KEY }, query: \(YAMLText.scalar(name)) } }"
            description.authenticationComment = "the key was in the URL: put it into the environment"
            left.removeAll { $0 == name }
        }
        left += addHeaders(options.headers.filter { !ProposalDraft.isSecret(field: $0.name) })
        guard !left.isEmpty else { return }
        let names = left.map { "`\(YAMLText.comment($0, limit: 40))`" }.joined(separator: ", ")
        let remark = "\(names): not written, and not sent by a sync"
        description.authenticationComment += (description.authenticationComment.isEmpty ? "" : "; ") + remark
    }

    /// Adds header fields. Several of one name become one (RFC 9110 §5.3).
    ///
    /// - Returns: the names of those that a description cannot have, such as `Host`.
    private mutating func addHeaders(_ fields: [(name: String, value: String)]) -> [String] {
        var refused: [String] = []
        for (name, value) in fields {
            let known = description.headers.firstIndex { $0.name.lowercased() == name.lowercased() }
            let value = known.map { "\(description.headers[$0].value), \(value)" } ?? value
            var endpoint = ProposedEndpoint(name: "records", path: "/")
            endpoint.headers = [ProposedParameter(name: name, value: value)]
            if ProposalCheck.problem(of: endpoint, authentication: description.authentication) != nil {
                refused.append(name)
            } else if let known {
                description.headers[known].value = value
            } else {
                description.headers.append(ProposedDescription.Header(name: name, value: value))
            }
        }
        return refused
    }

    // MARK: Comments

    private mutating func comment(_ samples: [Sample], _ specification: OpenAPIDocument?) {
        let looked = samples.map { YAMLText.comment($0.isURL ? Redaction.url($0.origin) : $0.origin, limit: 120) }
        var origins: [String] = specification.map { [YAMLText.comment($0.name, limit: 120)] } ?? []
        origins += looked
        description.comments = [
            "Proposed by `tarn init` from \(origins.prefix(8).joined(separator: ", "))\(origins.count > 8 ? ", …" : "")."
        ]
        description.comments.append(
            "Each guess has its reason beside it; a line that begins with `# or` is another definition that the samples allow. A `?` marks what was null or missing in some sample. Read it, correct it, then run `tarn sync`."
        )
    }
}
