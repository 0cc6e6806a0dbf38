// From a specification to the sources of a proposal.

import Tarn

/// The sources of a specification, combined with samples of its lists.
struct SpecificationSources {
    private(set) var sources: [Source] = []
    private(set) var base = ""
    private(set) var baseComment = ""
    private(set) var authentication: String?
    private(set) var authenticationComment = ""

    /// The maximum number of proposed endpoints.
    private static let limit = 150
    private var operations: [Operation] = []
    private var lists: [Operation] = []

    init(_ document: OpenAPIDocument, samples: SourceBuilder?, base chosen: String?) {
        let servers = SpecificationServers(document)
        base = chosen ?? servers.base
        baseComment = chosen == nil ? servers.comment : ""
        (authentication, authenticationComment) = SpecificationSecurity.authentication(document)
        let shapes = SchemaShapes(document)
        for path in document.root["paths"]?.members.prefix(5000) ?? [] {
            guard let (item, _) = document.resolve(path.value),
                let operation = Operation(path.key, item, document, shapes)
            else { continue }
            operations.append(operation)
        }
        lists = Array(operations.filter { $0.list != nil && !$0.isDeprecated }.prefix(SpecificationSources.limit))
        for operation in lists { sources.append(source(operation)) }
        for index in lists.indices { findParent(index) }
        addSingletons()
        if let samples { add(samples) }
    }

    // MARK: Lists

    private func source(_ operation: Operation) -> Source {
        var source = Source(name: SpecificationSources.name(operation.segments), path: operation.path, lists: [])
        let declared = DeclaredStyle(operation)
        source.style = declared.style
        source.comments = ["GET \(YAMLText.comment(operation.path, limit: 200)) of the specification"]
        if let found = operation.list {
            let isWrapper = found.name.isEmpty || ListFinder.wrappers.contains(found.name.lowercased())
            source.lists = [
                Source.List(found: found, shape: operation.records, name: isWrapper ? source.name : found.name)
            ]
        }
        for parameter in operation.parameters where !parameter.isInPath && parameter.isRequired {
            guard !declared.style.parameters.contains(parameter.name),
                !declared.parameters.contains(where: { $0.name == parameter.name }),
                !declared.style.text.contains("{ \(YAMLText.scalar(parameter.name)): ")
            else { continue }
            source.parameters.append(SpecificationSources.placeholder(parameter))
        }
        source.parameters += declared.parameters
        let since = operation.parameters.first { parameter in
            let name = EnglishName.words(of: parameter.name).joined(separator: "_")
            return !parameter.isInPath
                && [
                    "since", "updated_since", "updated_after", "modified_since", "modified_after", "updated_at_min",
                    "updated_from", "changed_since", "updated_gte", "updated_at_gte", "updated_at_gt",
                ].contains(name)
        }
        source.since = since.map { ($0.name, nil) }
        if let detail = detail(of: operation) { source.detail = detail }
        return source
    }

    private static func placeholder(_ parameter: Operation.Parameter) -> ProposedParameter {
        ProposedParameter(
            name: parameter.name, value: parameter.value ?? "CHANGE_ME",
            comment: parameter.value == nil ? "required: write its value" : "")
    }

    private static func name(_ segments: [String]) -> String {
        let path = "/" + segments.filter { Operation.variable($0) == nil }.joined(separator: "/")
        return SourceBuilder.name(path)
    }

    // MARK: Details

    /// Returns the operation that returns one record of a list.
    private func detail(of list: Operation) -> Source.Detail? {
        // `/issues/{id}`; or `/{kind}/{id}` at another place, with the same schema.
        let direct = operations.first { operation in
            operation.isDetail && operation.segments.dropLast() == list.segments[...]
        }
        let other = operations.first { operation in
            operation.isDetail && operation.segments.count { Operation.variable($0) != nil } == 1
                && operation.records.schemaName != nil && operation.records.schemaName == list.records.schemaName
        }
        guard let detail = direct ?? other, let last = detail.segments.last, let variable = Operation.variable(last),
            let field = field(for: variable, of: list, in: detail)
        else { return nil }
        let added = detail.records.names.filter { list.records.fields[$0] == nil }
        guard !added.isEmpty else { return nil }
        return Source.Detail(
            path: detail.path, field: field, segment: detail.segments.count - 1, steps: detail.objectSteps,
            added: added, shape: detail.records)
    }

    /// Returns the key of a list's records whose value a variable of a path has.
    private func field(for variable: String, of list: Operation, in operation: Operation) -> String? {
        let fields = list.records.fields, words = EnglishName.words(of: variable)
        let types = operation.parameters.first { $0.isInPath && $0.name == variable }?.schema["type"]
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
                other != index && lists[other].segments == Array(segments[..<position])
            }
            if let owner, let field = field(for: variable, of: lists[owner], in: lists[index]) {
                var found = Source.Parent(source: owner, field: field, segment: position)
                if let outer = parent {
                    if lists[owner].segments.count > outer.segment { found.outer = (outer.field, outer.segment) }
                }
                parent = found
            } else {
                let parameter = lists[index].parameters.first { $0.isInPath && $0.name == variable }
                var value = ProposedParameter(name: variable, value: parameter?.value ?? "CHANGE_ME")
                value.comment = parameter?.value == nil ? "part of the path: write its value" : ""
                values[position] = value
            }
        }
        sources[index].parent = parent
        sources[index].parameters.insert(
            contentsOf: values.sorted { $0.key < $1.key }.map(\.value), at: 0)
    }

    // MARK: Single objects

    /// Adds single objects that no list has, such as the own user.
    private mutating func addSingletons() {
        let listed = Set(lists.compactMap(\.records.schemaName))
        for operation in operations where operation.list == nil && !operation.isDetail && !operation.isDeprecated {
            guard !operation.segments.contains(where: { Operation.variable($0) != nil }),
                !operation.parameters.contains(where: { $0.isRequired && $0.value == nil }),
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
            sources.append(source)
        }
    }

    // MARK: Samples

    /// Combines the samples of lists with their declarations.
    private mutating func add(_ samples: SourceBuilder) {
        for sample in samples.sources {
            let path = sample.path
            guard let index = sources.firstIndex(where: { $0.path == path && $0.lists.count == sample.lists.count })
            else {
                sources.append(sample)
                continue
            }
            for position in sample.lists.indices {
                let shape = sample.lists[position].shape
                shape.addDeclarations(of: sources[index].lists[position].shape)
                sources[index].lists[position].shape = shape
                sources[index].lists[position].found = sample.lists[position].found
            }
            sources[index].pages = sample.pages
            sources[index].notes += sample.notes
            sources[index].gaps += sample.gaps
            sources[index].comments += sample.comments
            // A declared style is more certain than none for a list that goes on.
            let isUnreached = sample.style.unreached != nil && sources[index].style.text != "auto"
            let isKnown = sample.style.text != "single_page" || sample.style.unreached != nil
            if isKnown || !sample.notes.isEmpty, !isUnreached {
                sources[index].style = sample.style
            }
        }
    }

    /// Returns the URLs of the lists that can be requested as they are.
    func urls() -> [String] {
        var urls: [String] = []
        for (index, operation) in lists.enumerated() {
            let source = sources[index]
            guard source.parent == nil, !source.parameters.contains(where: { $0.value == "CHANGE_ME" }),
                !operation.segments.contains(where: { Operation.variable($0) != nil })
            else { continue }
            let size = operation.parameters.first { !$0.isInPath && StyleGuess.sizeNames.contains($0.name) }
            var parameters = source.parameters.map { ($0.name, $0.value) }
            if let size, let value = size.schema["default"]?.scalarText,
                !parameters.contains(where: { $0.0 == size.name })
            {
                parameters.append((size.name, value))
            }
            urls.append(QueryParameters.append(parameters, to: base + operation.path))
        }
        return Array(urls.prefix(30))
    }
}

extension OpenAPIDocument {
    /// Returns the URLs of the lists that need no values from a person, at most 30.
    package func listURLs(base: String?) -> [String] {
        SpecificationSources(self, samples: nil, base: base).urls()
    }
}
