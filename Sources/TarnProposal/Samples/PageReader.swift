// The values that pagination reads from a page.

import Tarn

/// Reads the facts about a page that decide its pagination.
enum PageReader {
    private static let depthLimit = 4
    private static let valueLimit = 200

    /// Returns the facts about a page.
    ///
    /// Of several lists, the first one counts.
    ///
    /// - Parameter wants: the parts of a page that a style reads.
    static func facts(_ page: Sample.Page, _ lists: [FoundList], _ wants: PageWants = PageWants()) -> PageFacts {
        let objects = lists.first.map { ListFinder.objects(page.json, $0) } ?? []
        let others = lists.dropFirst().flatMap { ListFinder.objects(page.json, $0) }
        var values: [String: String] = [:]
        // A map at the root has records, and the members that are excepted.
        if let first = lists.first, first.isList, !first.steps.isEmpty,
            first.steps != [.each] || !ListFinder.exceptions(page.json, first).isEmpty
        {
            for (envelope, steps) in envelopes(of: first, in: page.json) {
                collect(envelope, steps, beside: first, &values)
            }
        }
        for path in wants.values where values[path] == nil {
            values[path] = JSONPath(path).flatMap { value(at: $0.steps, in: page.json) }?.scalarText
        }
        var hasher = Hasher()
        for object in objects + others { hasher.combine(object) }
        var facts = PageFacts(headers: page.headers, recordCount: objects.count, values: values)
        facts.otherRecords = others.count
        facts.digest = hasher.finalize()
        if let keys = wants.record.flatMap({ JSONPath($0) })?.keys {
            facts.records = PageFacts.RecordValues(objects.compactMap { $0.value(at: keys)?.scalarText })
        }
        return facts
    }

    /// Returns the facts about a page of a list.
    ///
    /// - Parameter first: the lists of the first page.
    static func facts(_ page: Sample.Page, like first: [FoundList], _ wants: PageWants = PageWants()) -> PageFacts {
        facts(page, lists(page, like: first), wants)
    }

    /// Returns the lists of a page in the order of those of the first page. The first one of these
    /// may be absent from the page: then it has no records there.
    static func lists(_ page: Sample.Page, like first: [FoundList]) -> [FoundList] {
        let found = ListFinder.lists(in: page.json, like: first)
        guard first.count > 1, found.contains(where: first.contains) else { return found }
        return first + found.filter { !first.contains($0) }
    }

    /// Returns how the records of a page relate to those of a page before, list by list.
    ///
    /// The first list decides. If it is the same on both pages, a longer one may have the pages.
    ///
    /// - Parameter first: the lists of the first page.
    static func relation(of page: Sample.Page, to known: Sample.Page, like first: [FoundList]) -> PageRelation {
        let compared = [(lists(page, like: first), page), (lists(known, like: first), known)].map { lists, page in
            lists.map { PageIdentities(ListFinder.objects(page.json, $0)) }
        }
        guard let main = compared[0].first, let mainBefore = compared[1].first else { return .empty }
        let relation = main.relation(to: mainBefore)
        guard relation == .same else { return relation }
        let others = zip(compared[0], compared[1]).dropFirst().filter { $0.0.count > main.count }
        return others.contains { $0.0.relation(to: $0.1) == .other } ? .other : .same
    }

    /// Returns the records of the first list of a page, to be compared with those of another page.
    ///
    /// - Parameter first: the lists of the first page.
    static func identities(_ page: Sample.Page, like first: [FoundList]) -> PageIdentities {
        PageIdentities(lists(page, like: first).first.map { ListFinder.objects(page.json, $0) } ?? [])
    }

    /// Returns the value at a path without wildcards; nil if there is none.
    private static func value(at steps: [JSONPath.Step], in json: JSONValue) -> JSONValue? {
        var value = json
        for step in steps {
            switch step {
            case .key(let key):
                guard let inner = value[key] else { return nil }
                value = inner
            case .index(let index):
                guard case .array(let elements) = value else { return nil }
                let index = index < 0 ? elements.count + index : index
                guard elements.indices.contains(index) else { return nil }
                value = elements[index]
            case .each: return nil
            }
        }
        return value
    }

    /// Returns the objects around a list: the body, or those beside the list in an array.
    private static func envelopes(of list: FoundList, in json: JSONValue) -> [(JSONValue, [JSONPath.Step])] {
        guard case .array(let elements) = json, case .index(let index)? = list.steps.first else { return [(json, [])] }
        return elements.enumerated().filter { $0.offset != index }.map { ($0.element, [.index($0.offset)]) }
    }

    /// Collects the relations and the targets of a list of links, as the reader of a sync does.
    private static func collect(
        _ elements: [JSONValue], ofLinks name: String, _ steps: [JSONPath.Step], _ values: inout [String: String]
    ) {
        guard PageSign.linkLists.contains(name.lowercased()) else { return }
        let list = JSONPath(.record, steps: steps).description
        for (index, element) in elements.prefix(LinkList.linkLimit).enumerated() {
            for name in LinkList.relations + LinkList.targets {
                if let text = element[name]?.scalarText { values["\(list)[\(index)].\(name)"] = text }
            }
        }
    }

    /// Collects the scalars of an object, those of the outer objects first.
    ///
    /// Beyond the depth, only the objects beside the list are read, such as its `pageInfo`.
    private static func collect(
        _ json: JSONValue, _ steps: [JSONPath.Step], beside list: FoundList, _ values: inout [String: String]
    ) {
        let way = list.path.steps
        var level = [(json: json, steps: steps)]
        for depth in steps.count...depthLimit {
            var inner: [(json: JSONValue, steps: [JSONPath.Step])] = []
            for (json, steps) in level {
                for member in json.members.prefix(100) where values.count < valueLimit && !member.key.isEmpty {
                    let path = steps + [.key(member.key)]
                    switch member.value {
                    case .number(let text), .string(let text): values[JSONPath(.record, steps: path).description] = text
                    case .bool(let flag):
                        values[JSONPath(.record, steps: path).description] = flag ? "true" : "false"
                    // The members of a map are records.
                    case .object where list.isMap && (path == way.dropLast() || way.count == 1): break
                    case .object where depth + 1 < depthLimit || path.dropLast() == way.prefix(path.count - 1):
                        inner.append((member.value, path))
                    case .object: break
                    case .array(let elements): collect(elements, ofLinks: member.key, path, &values)
                    case .null: break
                    }
                }
            }
            level = inner
        }
    }
}
