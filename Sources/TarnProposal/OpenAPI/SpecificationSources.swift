// From a specification to the sources of a proposal.

import Tarn

/// The sources of a specification, combined with samples of its lists.
struct SpecificationSources {
    var sources: [Source] = []
    private(set) var base = ""
    /// The lists that are not described, each with its reason.
    private(set) var omitted: [String] = []
    /// The other responses without records, each with its reason.
    private(set) var others: [String] = []
    private(set) var authentication: String?
    private(set) var authenticationComment = ""

    /// The maximum number of values of a path parameter that are requested one after the other.
    private static let partitionLimit = 100
    /// The maximum number of proposed endpoints.
    private static let limit = 150
    /// The maximum number of paths with a GET that are looked at.
    private static let pathLimit = 5000
    private(set) var operations: [Operation] = []
    private(set) var lists: [Operation] = []

    init(_ document: OpenAPIDocument, samples: SourceBuilder?, servers: SpecificationServers) {
        base = servers.base
        (authentication, authenticationComment) = SpecificationSecurity.authentication(document)
        let shapes = SchemaShapes(document)
        var count = 0
        for path in document.root["paths"]?.members ?? [] {
            guard let (item, _) = document.resolve(path.value) else {
                omit(path.key, "it " + (document.unresolved(path.value) ?? "refers to itself"))
                continue
            }
            guard item["get"] != nil else { continue }
            count += 1
            guard count <= SpecificationSources.pathLimit else { continue }
            do throws(Operation.Omitted) {
                let operation = try Operation(path.key, item, document, shapes)
                let server = SpecificationServers.first(of: operation.servers, document)
                if let server, server != (servers.declared ?? base) {
                    omit(path.key, "its server is \(YAMLText.comment(server, limit: 120)): describe it under `apis`")
                } else {
                    operations.append(operation)
                }
            } catch {
                if let reason = error.reason { omit(path.key, reason, isList: error.isList) }
            }
        }
        omitted += SpecificationSources.limits(paths: count, shapes)
        // A record with a list in it is no list of its own.
        let listed = Set(operations.filter { $0.list != nil && !$0.isSelfNested }.compactMap(\.records.schemaName))
        for index in operations.indices { operations[index].readAsRecord(ofSchemas: listed) }
        for operation in operations where operation.list != nil {
            guard !operation.isDeprecated else {
                omit(operation.path, "it is deprecated")
                continue
            }
            guard lists.count < SpecificationSources.limit else {
                omit(operation.path, "it is beyond the limit of \(SpecificationSources.limit) lists")
                continue
            }
            let source = source(operation)
            if let problem = problem(of: source, operation) {
                omit(operation.path, problem)
            } else {
                lists.append(operation)
                sources.append(source)
            }
        }
        for index in lists.indices {
            findParent(index)
            findKeyInPaths(index)
        }
        addSingletons()
        findChanges(document)
        if let samples { add(samples) }
    }

    /// Returns remarks about what is not read of a large specification.
    private static func limits(paths count: Int, _ shapes: SchemaShapes) -> [String] {
        var remarks: [String] = []
        if count > pathLimit {
            let more = count - pathLimit
            remarks.append(
                "\(more) more \(more == 1 ? "path is" : "paths are") not looked at: a specification has at most \(pathLimit) with a GET."
            )
        }
        if shapes.isTruncated {
            remarks.append(
                "The schemas have more than \(SchemaShapes.countLimit) values: those behind them have no type, and lists of them are not described. Divide the specification."
            )
        }
        return remarks
    }

    /// Returns the reason why an endpoint cannot have the names and values of an operation.
    ///
    /// One odd operation must not make the whole proposal invalid.
    private func problem(of source: Source, _ operation: Operation) -> String? {
        var endpoint = ProposedEndpoint(name: "records", path: source.path)
        endpoint.parameters = source.parameters
        for name in operation.segments.compactMap(Operation.variable) {
            let parameter = operation.parameters.first { $0.isInPath && $0.name == name }
            if let parameter, SpecificationSources.isPartitioned(by: parameter) {
                endpoint.partitions.append((name, parameter.choices))
            } else {
                endpoint.parameters.append(ProposedParameter(name: name, value: parameter?.value ?? "CHANGE_ME"))
            }
        }
        endpoint.headers = source.headers
        endpoint.pagination = source.lists.allSatisfy { !$0.found.isList } ? "single_page" : source.style.text
        return ProposalCheck.problem(of: endpoint, authentication: authentication).map {
            YAMLText.comment($0, limit: 300)
        }
    }

    /// Whether a parameter has few enough values to be requested one after the other.
    private static func isPartitioned(by parameter: Operation.Parameter) -> Bool {
        (2...partitionLimit).contains(parameter.choices.count)
    }

    private mutating func omit(_ path: String, _ reason: String, isList: Bool = true) {
        let text = "GET \(YAMLText.comment(path, limit: 120)) is not described: \(reason)."
        isList ? omitted.append(text) : others.append(text)
    }

    // MARK: Lists

    private func source(_ operation: Operation) -> Source {
        var source = Source(name: SpecificationSources.name(operation.segments), path: operation.path, lists: [])
        let declared = DeclaredStyle(operation)
        source.style = declared.style
        source.counted = declared.counted
        source.comments = ["GET \(YAMLText.comment(operation.path, limit: 200)) of the specification"]
        if !operation.besides.isEmpty {
            let names = operation.besides.prefix(8).map { "`\(YAMLText.comment($0, limit: 40))`" }
            let more = operation.besides.count > 8 ? ", …" : ""
            source.gaps = [
                "\(SpecificationSources.besides) \(names.joined(separator: ", "))\(more): not described. Name further lists under `records`."
            ]
            source.notes = source.gaps
        }
        if let found = operation.list {
            let isWrapper = found.name.isEmpty || ListFinder.wrappers.contains(found.name.lowercased())
            source.lists = [
                Source.List(found: found, shape: operation.records, name: isWrapper ? source.name : found.name)
            ]
        }
        for parameter in operation.parameters where parameter.place == .header && parameter.isRequired {
            guard !SpecificationSources.ownHeaders.contains(parameter.name.lowercased()),
                !isCredential(parameter)
            else { continue }
            source.headers.append(SpecificationSources.placeholder(parameter))
        }
        for parameter in operation.parameters where parameter.place == .cookie && parameter.isRequired {
            guard !isCredential(parameter) else { continue }
            let name = YAMLText.comment(YAMLText.scalar(parameter.name), limit: 40)
            source.gaps.append(
                "`\(name)` is a required cookie, which this file does not send: write it under `auth`, or `headers: { Cookie: … }`."
            )
            source.notes.append(source.gaps[source.gaps.count - 1])
        }
        for parameter in operation.parameters where parameter.place == .query && parameter.isRequired {
            guard parameter.name != StyleGuess.limitOfAll, !isCredential(parameter) else { continue }
            guard !declared.style.parameters.contains(parameter.name),
                !declared.parameters.contains(where: { $0.name == parameter.name }),
                !declared.style.text.contains("{ \(YAMLText.scalar(parameter.name)): ")
            else { continue }
            source.parameters.append(SpecificationSources.placeholder(parameter))
            if let remark = SpecificationSources.selection(by: parameter) {
                source.gaps.append(remark)
                source.notes.append(remark)
            }
        }
        source.parameters += declared.parameters
        let since = operation.parameters.first { parameter in
            let name = EnglishName.words(of: parameter.name).joined(separator: "_")
            return parameter.place == .query
                && [
                    "since", "updated_since", "updated_after", "modified_since", "modified_after", "updated_at_min",
                    "updated_from", "changed_since", "updated_gte", "updated_at_gte", "updated_at_gt",
                ].contains(name)
        }
        // The time is sent as the record has it: as text, and not as a number.
        if let since, !since.isNumeric { source.since = (since.name, nil) }
        if let detail = detail(of: operation) { source.detail = detail }
        return source
    }

    /// Header parameters that OpenAPI ignores, and those that the transport sets.
    private static let ownHeaders: Set = [
        "accept", "content-type", "authorization", "host", "content-length", "connection",
    ]

    /// Whether the authentication sends a parameter.
    private func isCredential(_ parameter: Operation.Parameter) -> Bool {
        let part = " \(parameter.place.rawValue): \(YAMLText.scalar(parameter.name)) }".lowercased()
        return authentication?.lowercased().contains(part) ?? false
    }

    private static func placeholder(_ parameter: Operation.Parameter) -> ProposedParameter {
        guard !Redaction.isSecret(parameter.name) else {
            return ProposedParameter(
                name: parameter.name, value: "CHANGE_ME",
                comment: "a credential, by its name: `auth` reads it from the environment")
        }
        var placeholder = ProposedParameter(
            name: parameter.name, value: parameter.value ?? parameter.values.first ?? "CHANGE_ME")
        if parameter.value == nil {
            placeholder.values = parameter.values
            if parameter.values.isEmpty { placeholder.comment = "required: write its value" }
        }
        return placeholder
    }

    /// Words of parameters that choose the form or the order of the records, and not the records.
    private static let formWords: Set = [
        "sort", "order", "direction", "format", "output", "unit", "lang", "language", "locale", "version", "field",
        "include", "expand", "view", "timezone", "tz", "encoding", "callback",
    ]

    /// Returns a remark about a required parameter with one of several values, by which the server
    /// may choose the records; nil for other parameters, and for the server's default.
    private static func selection(by parameter: Operation.Parameter) -> String? {
        let words = EnglishName.words(of: parameter.name).map { EnglishName.singular($0) }
        guard let value = parameter.value, parameter.schema["default"] == nil, formWords.isDisjoint(with: words),
            !(StyleGuess.sizeNames + StyleGuess.pageNames + StyleGuess.offsetNames).contains(parameter.name),
            !Redaction.isSecret(parameter.name)
        else { return nil }
        let name = YAMLText.comment(YAMLText.scalar(parameter.name), limit: 40)
        let start =
            "`\(name)` is required, and its value \(YAMLText.comment(value, limit: 40)) may select the records: others are not listed."
        guard isPartitioned(by: parameter) else { return start }
        let choices = parameter.choices.prefix(6).map { YAMLText.comment(YAMLText.scalar($0), limit: 40) }
        let more = parameter.choices.count > 6 ? ", …" : ""
        return
            "\(start) For those of every value, write `partitions: { \(name): [\(choices.joined(separator: ", "))\(more)] }` instead."
    }

    /// The beginning of a remark about what else an answer has.
    static let besides = "The answer also has"

    private static func name(_ segments: [String]) -> String {
        let path = "/" + segments.filter { Operation.variable($0) == nil }.joined(separator: "/")
        return SourceBuilder.name(path)
    }

    // MARK: Details

    /// Returns the operation that returns one record of a list.
    private func detail(of list: Operation) -> Source.Detail? {
        // `/issues/{id}`; or `/{kind}/{id}` at another place, with the same schema.
        let direct = operations.first { operation in
            operation.isDetail && Operation.isSamePath(operation.segments.dropLast(), list.segments[...])
        }
        let other = operations.first { operation in
            operation.isDetail && operation.segments.count { Operation.variable($0) != nil } == 1
                && operation.records.schemaName != nil && operation.records.schemaName == list.records.schemaName
        }
        guard let detail = direct ?? other, let last = detail.segments.last, let variable = Operation.variable(last),
            let field = field(for: variable, of: list, detail.parameters)
        else { return nil }
        let added = detail.records.names.filter { list.records.fields[$0] == nil }
        guard !added.isEmpty else { return nil }
        return Source.Detail(
            path: detail.path, field: field, segment: detail.segments.count - 1, steps: detail.objectSteps,
            added: added, shape: detail.records)
    }

    /// Returns the key of a list's records whose value a variable of a path has.
    ///
    /// - Parameter parameters: those of the path.
    func field(for variable: String, of list: Operation, _ parameters: [Operation.Parameter]) -> String? {
        let fields = list.records.fields, words = EnglishName.words(of: variable)
        let types = parameters.first { $0.isInPath && $0.name == variable }?.schema["type"]
        let isText = types?.scalarText == "string", isNumber = types?.scalarText == "integer"
        func usable(_ name: String) -> Bool {
            guard let field = fields[name], field.isScalar else { return false }
            let declared = field.declared?.types ?? []
            // A text names no number, nor the other way round.
            return !(isText && declared == ["integer"]) && !(isNumber && declared == ["string"])
        }
        if usable(variable) { return variable }
        if let same = list.records.names.first(where: { EnglishName.words(of: $0) == words && usable($0) }) {
            return same
        }
        // `issue_number` → `number`, `userId` → `id`.
        if let last = words.last,
            let same = list.records.names.first(where: { EnglishName.words(of: $0) == [last] && usable($0) })
        {
            return same
        }
        // `org` → `id`, or the text that names it.
        let names = ["id", "uuid", "_id", "login", "slug", "key", "code", "username", "name"]
        return names.first(where: usable)
    }

    // MARK: Parents

    /// Finds the list whose records a path names.
    private mutating func findParent(_ index: Int) {
        let segments = lists[index].segments
        var values: [Int: ProposedParameter] = [:], parent: Source.Parent?
        for position in segments.indices {
            guard let variable = Operation.variable(segments[position]) else { continue }
            let owner = lists.indices.first { other in
                other != index && Operation.isSamePath(lists[other].segments[...], segments[..<position])
            }
            if let owner, let field = field(for: variable, of: lists[owner], lists[index].parameters) {
                var found = Source.Parent(source: owner, field: field, segment: position)
                if let outer = parent { found.outer = [(outer.source, outer.field, outer.segment)] + outer.outer }
                parent = found
            } else {
                let parameter = lists[index].parameters.first { $0.isInPath && $0.name == variable }
                if let parameter, SpecificationSources.isPartitioned(by: parameter) {
                    sources[index].partitions.append((variable, parameter.choices))
                    continue
                }
                var value = ProposedParameter(name: variable, value: parameter?.value ?? "CHANGE_ME")
                value.comment = parameter?.value == nil ? "part of the path: write its value" : ""
                values[position] = value
            }
        }
        sources[index].parent = parent
        sources[index].parameters.insert(
            contentsOf: values.sorted { $0.key < $1.key }.map(\.value), at: 0)
    }

    /// Finds the fields by which the paths of details name the records of a list.
    private mutating func findKeyInPaths(_ index: Int) {
        let list = lists[index]
        for detail in operations where detail.isDetail {
            let isDirect = Operation.isSamePath(detail.segments.dropLast(), list.segments[...])
            let isSame = list.records.schemaName != nil && detail.records.schemaName == list.records.schemaName
            // There may be hundreds of lists and details: few pairs have fields to compare.
            guard isDirect || isSame, let last = detail.segments.last.flatMap(Operation.variable),
                let field = field(for: last, of: list, detail.parameters)
            else { continue }
            // `/tags/{tag_id}` does not say that a tag is named by its name.
            if EnglishName.words(of: last).last == EnglishName.words(of: field).last {
                sources[index].namedFields.append(field)
            }
            if detail.segments.count(where: { Operation.variable($0) != nil }) > 1 {
                if isDirect { sources[index].localKey = field }
            } else if isSame {
                sources[index].globalKey = field
            }
        }
    }

    // MARK: Single objects

    /// Adds single objects that no list has, such as the own user.
    private mutating func addSingletons() {
        let listed = Set(lists.compactMap(\.records.schemaName))
        for operation in operations where operation.list == nil && !operation.isDetail && !operation.isDeprecated {
            guard !operation.segments.contains(where: { Operation.variable($0) != nil }),
                !operation.parameters.contains(where: { $0.isRequired && $0.values.isEmpty && $0.place != .cookie }),
                sources.count < SpecificationSources.limit, operation.records.fields["id"]?.isScalar == true,
                operation.records.schemaName.map({ !listed.contains($0) }) ?? true
            else { continue }
            var source = Source(name: SpecificationSources.name(operation.segments), path: operation.path, lists: [])
            source.lists = [
                Source.List(
                    found: FoundList(steps: operation.objectSteps, isList: false), shape: operation.records,
                    name: source.name)
            ]
            source.comments = [
                "GET \(YAMLText.comment(operation.path, limit: 200)) of the specification: a single object"
            ]
            if let problem = problem(of: source, operation) {
                omit(operation.path, problem, isList: false)
            } else {
                sources.append(source)
            }
        }
    }

    // MARK: Samples

    /// Combines the samples of lists with their declarations.
    private mutating func add(_ samples: SourceBuilder) {
        for sample in samples.sources {
            let path = sample.path
            guard let index = sources.firstIndex(where: { $0.path == path }),
                let positions = SpecificationSources.positions(of: sources[index].lists, in: sample.lists)
            else {
                sources.append(sample)
                continue
            }
            for (declared, position) in positions.enumerated() {
                let shape = sample.lists[position].shape
                shape.addDeclarations(of: sources[index].lists[declared].shape)
                sources[index].lists[declared].shape = shape
                sources[index].lists[declared].found = sample.lists[position].found
                sources[index].lists[declared].isOptional = sample.lists[position].isOptional
            }
            // Further lists of one page are described, too. A total may be that of one list only.
            if sample.style.text == "single_page", sources[index].style.text == "auto" {
                let others = sample.lists.indices.filter { !positions.contains($0) }
                sources[index].lists += others.map { sample.lists[$0] }
                if !others.isEmpty {
                    sources[index].notes.removeAll { $0.hasPrefix(SpecificationSources.besides) }
                    sources[index].gaps.removeAll { $0.hasPrefix(SpecificationSources.besides) }
                }
            }
            sources[index].pages = sample.pages
            sources[index].comments += sample.comments
            SpecificationSources.combine(&sources[index], with: sample)
        }
    }

    /// Takes the style of a sample, if it is more certain than the declared one.
    private static func combine(_ source: inout Source, with sample: Source) {
        let isUnreached =
            sample.style.unreached != nil || sample.style.text == "single_page" && sample.style.doubt != nil
        let isDoubtful = sample.style.unreached != nil || sample.style.doubt != nil
        let isKnown = sample.style.text != "single_page" || isDoubtful
        // A declared style is more certain than none, or than a guess, for a list that goes on.
        let keepsDeclared = (isUnreached || sample.style.isGuess) && source.style.text != "auto"
        let namesOthers = source.gaps.contains { $0.hasPrefix(besides) }
        func concerns(_ remark: String) -> Bool {
            !(keepsDeclared && remark.hasPrefix(Sampler.unfetched)) && !(namesOthers && remark.hasPrefix(besides))
        }
        if isKnown || !sample.notes.isEmpty, !keepsDeclared {
            source.style = sample.style
            source.endStatus = sample.endStatus
            source.endText = sample.endText
            source.parameters.removeAll { sample.style.sends($0.name) }
        }
        source.notes += sample.notes.filter(concerns)
        source.gaps += sample.gaps.filter(concerns)
    }

    /// Returns the positions of declared lists among those of a sample; nil if it has others.
    private static func positions(of declared: [Source.List], in sample: [Source.List]) -> [Int]? {
        if declared.count == sample.count { return Array(sample.indices) }
        let found = declared.map { list in sample.firstIndex { $0.found == list.found } }
        return found.contains(nil) ? nil : found.compactMap(\.self)
    }

    /// Returns the lists that can be requested as they are.
    func requestable() -> [DeclaredList] {
        var found: [DeclaredList] = []
        for (index, operation) in lists.enumerated() {
            let source = sources[index]
            guard source.parent == nil, !source.parameters.contains(where: { $0.value == "CHANGE_ME" }),
                source.headers.isEmpty, !operation.segments.contains(where: { Operation.variable($0) != nil })
            else { continue }
            var parameters = source.parameters.flatMap(\.pairs), plain: String?
            if let size = source.counted?.size, !parameters.contains(where: { $0.name == size.name }) {
                plain = QueryParameters.append(parameters, to: base + operation.path)
                parameters.append((size.name, String(size.value)))
            }
            found.append(
                DeclaredList(
                    url: QueryParameters.append(parameters, to: base + operation.path), urlWithoutSize: plain,
                    style: source.counted))
        }
        return Array(found.prefix(30))
    }
}

/// A list of a specification that can be requested as it is.
package struct DeclaredList: Sendable {
    package var url: String
    /// The URL without the declared page size; nil if it has none.
    var urlWithoutSize: String?
    /// The style that the parameters suggest.
    var style: CountedStyle?
}

extension OpenAPIDocument {
    /// Returns the lists that need no values from a person, at most 30.
    ///
    /// - Parameters:
    ///   - base: the base URL that a person has chosen.
    ///   - fetched: URLs that answered: the lists are requested from their server.
    package func lists(base: String?, fetched: [String] = []) -> [DeclaredList] {
        let servers = SpecificationServers(self, chosen: base, fetched: fetched)
        return SpecificationSources(self, samples: nil, servers: servers).requestable()
    }
}
