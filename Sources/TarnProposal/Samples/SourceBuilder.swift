// From samples to sources: base URL, paths, lists, and the records that a path names.

import Tarn

/// Turns samples into the sources of a proposal.
struct SourceBuilder {
    private(set) var base = ""
    private(set) var baseComment = ""
    private(set) var aliases: [String] = []
    /// The hosts of the API, with their ports as written.
    private(set) var hosts: Set<String> = []
    private(set) var sources: [Source] = []
    /// The samples without a record.
    private(set) var empty: [String] = []
    /// The sources of the samples without a record.
    private(set) var unlisted: [Source] = []
    /// The query parameters with credentials, whose values are not written.
    private(set) var secretParameters: [String] = []

    init(_ samples: [Sample], _ options: ProposalOptions) {
        let urls = samples.filter(\.isURL).compactMap { try? HTTPURL($0.origin) }
        let objects = samples.flatMap { sample in
            sample.pages.prefix(1).flatMap { page in
                page.lists.flatMap { ListFinder.objects(page.json, $0).prefix(5) }
            }
        }
        if let chosen = options.base {
            base = chosen.hasSuffix("/") ? String(chosen.dropLast()) : chosen
        } else if let found = APIRoot.base(of: urls) {
            base = found
        } else if let found = APIRoot.base(in: objects) {
            (base, baseComment) = (found, "a guess from URLs in the file")
        } else {
            (base, baseComment) = ("https://api.example.org", "CHANGE THIS: files do not say where they come from")
        }
        for text in [base] + urls.map(\.origin) + samples.flatMap(\.aliases) {
            if let authority = URLReference(text).authority { hosts.insert(authority.lowercased()) }
        }
        // The aliases of samples stand for the origin; those of a description, for the base URL.
        let root = (try? HTTPURL(base)).map { $0.path == "/" ? "" : $0.path } ?? ""
        aliases = Array(Set(samples.flatMap(\.aliases).map { $0 + root })).filter { $0 != base }.sorted()
        // A list of another parent stands for an empty one.
        for sample in samples { add(options.siblings.samples[sample.origin] ?? sample) }
        findParents()
    }

    // MARK: Sources

    /// Takes what a page behind the last one tells of the end of the list.
    private func takeEnd(_ page: Sample.Page, _ lists: [FoundList], of sample: Sample, to source: inout Source) {
        if lists.filter(\.isList).allSatisfy({ EndPage.lacks($0, page) }) {
            source.endText = EndPage.text(of: page, unlike: sample.pages)
        }
        if let gap = EndPage.gap(page, lists, text: source.endText) { source.gaps.append(gap) }
    }

    /// Adds the remarks about rows and columns.
    private func noteColumns(of sample: Sample, _ shapes: [FoundList: ObjectShape], in source: inout Source) {
        guard let page = sample.pages.first else { return }
        for list in page.columns {
            // Names that only the first page has have a remark of their own.
            let isWritten = sample.pages.dropFirst().contains { other in
                other.columns.contains { $0.records == list.records && !$0.written.isEmpty }
            }
            let isTable = list.records.steps.contains(.each)
            // The samples of further pages may show that the rows of a table are no records.
            guard !isTable || shapes.contains(where: { NestedTable.isTaken(list, below: $0, $1) }) else { continue }
            guard !isWritten || !list.written.isEmpty, let note = ColumnSearch.note(list) else { continue }
            source.notes.append(note)
            if ColumnSearch.isDoubtful(list, in: page.json) { source.gaps.append(note) }
        }
        source.notes += page.doubts
        source.gaps += page.doubts
    }

    private mutating func add(_ sample: Sample) {
        var source = sample.isURL ? fromURL(sample) : fromFile(sample)
        let first = sample.pages.first?.lists ?? []
        source.pages = sample.pages
        source.style = sample.style
        source.endStatus = sample.endStatus
        source.gaps = sample.gaps
        if let page = sample.endPage { takeEnd(page, first, of: sample, to: &source) }
        let end = source.endText
        source.notes += sample.notes + source.gaps
        var shapes: [FoundList: ObjectShape] = [:], order: [FoundList] = [], pages: [FoundList: Int] = [:]
        for page in sample.pages {
            for list in ListFinder.lists(in: page.json, like: first) {
                guard SourceBuilder.canBeWritten(list) else { continue }
                if shapes[list] == nil { order.append(list) }
                let shape = shapes[list] ?? ObjectShape()
                shapes[list] = shape
                if !list.isList || ListFinder.hasList(page.json, list) { pages[list, default: 0] += 1 }
                shape.beginList()
                shape.columns = list.columns
                shape.isTable = page.columns.contains { $0.records == list.path }
                if ListFinder.isMapOfLists(page.json, list) { shape.isInNamedLists = true }
                shape.isPartial = !sample.isComplete
                for object in ListFinder.objects(page.json, list) { shape.add(object) }
            }
        }
        for table in sample.pages.first?.columns ?? [] {
            for (list, shape) in shapes { NestedTable.key(of: table, below: list).map(shape.takeTable) }
        }
        noteColumns(of: sample, shapes, in: &source)
        if !sample.isURL { source.notes.append("CHANGE the path: a file does not tell where it comes from.") }
        // Pagination counts the records of the first list.
        if let main = sample.mainList, let place = order.firstIndex(of: main) {
            order.insert(order.remove(at: place), at: 0)
        }
        // Without an object, there is nothing to describe.
        order = order.filter { shapes[$0]?.count ?? 0 > 0 }
        for list in order {
            guard let shape = shapes[list] else { continue }
            let isWrapper = list.name.isEmpty || ListFinder.wrappers.contains(list.name.lowercased())
            let name = isWrapper ? shape.typeBesideURL ?? source.name : list.name
            // A page whose records refer to none of them has no such list.
            let isMissing =
                list.steps.count > 1 && ListFinder.isSideLoaded(list.steps)
                || end == nil && sample.endPage.map { EndPage.lacks(list, $0) } ?? false
                // A statement without a result has no list of series.
                || list.steps.dropLast().last == .each && list.steps.last != .key("node")
            source.lists.append(
                Source.List(
                    found: list, shape: shape, name: name,
                    isOptional: isMissing || (pages[list] ?? 0) < sample.pages.count))
        }
        if let remark = ErrorAnswer.remark(sample, order) {
            source.gaps.append(remark)
            source.notes.append("UNCERTAIN: " + remark)
        }
        guard !source.lists.isEmpty else {
            empty.append(Redaction.url(sample.origin))
            unlisted.append(source)
            return
        }
        let records = source.lists.reduce(0) { $0 + $1.shape.count }
        source.comments = [
            "\(Redaction.url(sample.origin)): looked at \(sample.pages.count == 1 ? "1 page" : "\(sample.pages.count) pages")"
                + " with \(records == 1 ? "1 record" : "\(records) records")"
                + (sample.isComplete ? "" : ", more follow")
        ]
        if let detail = sample.detail { addDetail(detail, to: &source) }
        source.detail?.furtherPages = sample.furtherDetails
        sources.append(source)
    }

    private static func canBeWritten(_ list: FoundList) -> Bool {
        list.steps.allSatisfy { step in
            if case .key(let key) = step { FieldNames.canBeWritten([key]) } else { true }
        }
    }

    private mutating func fromURL(_ sample: Sample) -> Source {
        guard let url = try? HTTPURL(sample.origin) else { return fromFile(sample) }
        // A chosen base replaces that of the samples.
        let path = APIRoot.path(of: url, from: base) ?? url.path
        var source = Source(
            name: SourceBuilder.name(path), path: SourceBuilder.escaped(path),
            lists: [])
        var places: [String: Int] = [:]
        for (name, value) in QueryParameters.values(in: sample.origin) where !sample.style.parameters.contains(name) {
            // A size that the style sends.
            guard !sample.style.text.contains("per_page: { \(YAMLText.scalar(name)): ") else { continue }
            guard !Redaction.isSecret(name, value: value) else {
                if !secretParameters.contains(name) { secretParameters.append(name) }
                continue
            }
            guard !name.isEmpty else { continue }
            guard name != StyleGuess.limitOfAll else {
                let remark = "`$top` is not sent: it limits the whole list, and not a page of it."
                if !source.notes.contains(remark) { source.notes.append(remark) }
                continue
            }
            // A name that comes several times has a list of values.
            if let place = places[name] {
                source.parameters[place].add(value)
                continue
            }
            places[name] = source.parameters.count
            source.parameters.append(ProposedParameter(name: name, value: value))
        }
        return source
    }

    private func fromFile(_ sample: Sample) -> Source {
        let file = sample.origin.split(separator: "/").last.map(String.init) ?? "records"
        let stem = String(file.split(separator: ".").first ?? "records")
        let name = EnglishName.endpoint(stem)
        return Source(name: name, path: "/" + name, lists: [])
    }

    /// Returns the name of an endpoint from its path.
    static func name(_ path: String) -> String {
        let segments = path.split(separator: "/").map { segment in
            String(segment.hasSuffix(".json") ? segment.dropLast(5) : segment)
        }
        let verbs: Set = ["search", "list", "all", "index", "query", "find", "latest", "recent"]
        let named = segments.last { segment in
            !verbs.contains(segment.lowercased()) && !segment.hasPrefix("{") && !isVersion(segment)
                && segment.unicodeScalars.contains { ("a"..."z").contains($0) || ("A"..."Z").contains($0) }
                && !TextForm.isUUID(segment)
        }
        return EnglishName.endpoint(named ?? segments.last ?? "records")
    }

    /// Whether a segment of a path is the version of the API, such as `v58.0`.
    private static func isVersion(_ segment: String) -> Bool {
        guard let first = segment.first, "vV".contains(first), segment.count > 1 else { return false }
        return segment.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }

    /// Returns a path in which no character has a meaning in a template.
    private static func escaped(_ path: String) -> String {
        path.replacing("{", with: "%7B").replacing("}", with: "%7D").replacing("/:", with: "/%3A")
    }

    // MARK: Details

    private func addDetail(_ page: Sample.Page, to source: inout Source) {
        guard let url = try? HTTPURL(page.url), let path = APIRoot.path(of: url, from: base) else { return }
        guard let list = source.lists.first, let object = list.shape.samples.first,
            case .object(let members) = page.json
        else { return }
        let added = members.map(\.key).filter { list.shape.fields[$0] == nil }
        guard !added.isEmpty else { return }
        // The response is that of the same record.
        let found = SourceBuilder.segment(of: path, in: [object], shape: list.shape).flatMap { found in
            page.json[found.field]?.scalarText == object[found.field]?.scalarText ? found : nil
        }
        guard let found else {
            let own = ["url", "self", "href", "uri"].first { key in
                object[key]?.scalarText.flatMap { try? url.resolving($0).path } == url.path
            }
            guard let own else { return }
            source.detail = Source.Detail(path: path, field: "", segment: 0, urlField: own, added: added, page: page)
            return
        }
        source.detail = Source.Detail(
            path: SourceBuilder.escaped(path), field: found.field, segment: found.segment, added: added, page: page)
    }

    /// Returns the last segment of a path that is the value of a field of an object, and the field.
    private static func segment(
        of path: String, in objects: [JSONValue], shape: ObjectShape, from start: Int = 0
    ) -> (segment: Int, field: String)? {
        let segments = path.split(separator: "/").map { PercentEncoding.decode(String($0)) }
        let preferred = ["id", "number", "uuid", "slug", "login", "username", "key", "code", "name"]
        let fields = shape.names.filter { shape.fields[$0]?.isScalar == true }.sorted {
            (preferred.firstIndex(of: $0) ?? 99) < (preferred.firstIndex(of: $1) ?? 99)
        }
        for index in segments.indices.reversed() where index >= start {
            for field in fields {
                if objects.contains(where: { $0[field]?.scalarText == segments[index] }) { return (index, field) }
            }
        }
        return nil
    }

    // MARK: Parents

    /// Finds the sources whose records are named by the paths of other sources.
    private mutating func findParents() {
        for index in sources.indices { sources[index].parent = parent(ofPath: sources[index].path) }
        for index in unlisted.indices { unlisted[index].parent = parent(ofPath: unlisted[index].path) }
    }

    private func parent(ofPath path: String) -> Source.Parent? {
        let segments = path.split(separator: "/")
        var last: Source.Parent?
        for (index, parent) in sources.enumerated() where parent.lists.count == 1 {
            let prefix = parent.path.split(separator: "/")
            // The path of the source itself has no more segments.
            guard parent.lists[0].found.isList, segments.count > prefix.count,
                Array(segments.prefix(prefix.count)) == prefix
            else { continue }
            let start = String(segments[...prefix.count].joined(separator: "/"))
            guard
                let found = SourceBuilder.segment(
                    of: start, in: parent.lists[0].shape.samples, shape: parent.lists[0].shape, from: prefix.count)
            else { continue }
            last = Source.Parent(source: index, field: found.field, segment: found.segment)
        }
        return last
    }
}
