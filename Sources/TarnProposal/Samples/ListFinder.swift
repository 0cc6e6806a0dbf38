// The locations of lists of records in a response.

import Tarn

/// A list of records in a response.
struct FoundList: Hashable {
    /// The steps from the root.
    var steps: [ListStep]
    /// Whether the value is a list, or a map of records or of lists, and not a single object.
    var isList: Bool
    /// The names of the values of records that are rows; nil for objects.
    var columns: [String]?
    /// The names of the columns in the first row of the first page; nil for other lists.
    var header: [String]?
    /// Whether the records, or their lists, are the values of an object's members.
    var isMap: Bool { steps.last == .each }
    /// The last key; empty at the root.
    var name: String {
        for case .key(let key) in steps.reversed() where key != "node" { return key }
        return ""
    }
    /// The steps as a key path.
    var path: JSONPath {
        JSONPath(
            .record,
            steps: steps.map { step in
                switch step {
                case .key(let key): .key(key)
                case .each: .each
                case .index(let number): .index(number)
                }
            })
    }
}

extension FoundList {
    // A list is the same one on each page, whatever the samples show of its first row.
    static func == (a: FoundList, b: FoundList) -> Bool {
        a.steps == b.steps && a.isList == b.isList && a.columns == b.columns
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(steps)
        hasher.combine(isList)
    }

    /// Creates a list at a path.
    init(_ path: JSONPath) {
        self.init(
            steps: path.steps.map { step in
                switch step {
                case .key(let key): .key(key)
                case .each: .each
                case .index(let number): .index(number)
                }
            }, isList: true)
    }
}

/// Finds the lists of records in a response.
enum ListFinder {
    /// Keys that wrap a list and do not name it.
    static let wrappers: Set = [
        "data", "items", "results", "result", "records", "entries", "values", "value", "rows", "content", "objects",
        "list", "elements", "nodes", "node", "edges", "hits", "docs", "documents", "response", "payload", "body", "d",
        "collection", "member", "hydra:member", "_embedded", "features", "resources", "page", "search",
    ]
    /// Keys of lists that accompany the records.
    static let companions: Set = ["errors", "warnings", "links", "link", "messages", "facets", "aggregations", "meta"]
    /// Whether a list accompanies the records.
    static func isCompanion(_ name: String) -> Bool { companions.contains(name.lowercased()) || name == "included" }

    /// Words of members that tell something about the answer, and nothing about a record.
    private static let envelopeWords: Set = [
        "page", "pages", "total", "totals", "count", "limit", "offset", "size", "per", "next", "previous", "prev",
        "first", "last", "more", "cursor", "token", "marker", "status", "code", "success", "ok", "error", "errors",
        "message", "msg", "result", "results", "version", "kind", "type", "object", "time", "timestamp", "took",
        "request", "trace", "url", "uri", "href", "link", "self", "etag", "start", "end", "skip", "take", "rows",
        "truncated", "num", "number", "from", "to", "max", "min", "sort", "order", "query", "items", "records", "meta",
        "context", "id", "index", "incomplete", "complete", "done", "remaining", "hits", "response", "class",
    ]

    /// Whether a member beside a list tells something about the answer.
    static func isEnvelope(_ name: String) -> Bool {
        EnglishName.words(of: name).contains(where: envelopeWords.contains)
    }

    /// The depth down to which lists are looked for.
    static let depthLimit = 4

    /// Returns the lists of records: at least one, unless the response has no objects.
    static func lists(in json: JSONValue) -> [FoundList] {
        switch json {
        case .array(let elements):
            if let list = besideObject(elements) { return [list] }
            if let columns = RowList.columns(of: elements, named: nil, in: []) {
                return [FoundList(steps: [], isList: true, columns: columns)]
            }
            return elements.isEmpty || elements.contains(where: \.isObject) ? [FoundList(steps: [], isList: true)] : []
        case .object(let members):
            guard !members.isEmpty else { return [] }
            // Names for the columns of rows tell of records, also beside the id of a query.
            if let rows = RowList.named(in: members) { return [rows] }
            // An object with a key of its own is a record, whatever lists it has.
            if !hasOwnKey(members) {
                if RecordMap.isMap(members) || !RecordMap.exceptions(in: members).isEmpty {
                    return [FoundList(steps: [.each], isList: true)]
                }
                let found = nested(json, [], depth: 0)
                let others = found.filter { !companions.contains($0.name.lowercased()) }
                let named = others.isEmpty ? messages(found, members) : others
                let main = named.filter { list in !isPart(list, of: named, json) }
                let scalars = members.count { !$0.value.isObject && $0.value.scalarText != nil }
                let isEnvelope =
                    main.contains { wrappers.contains($0.name.lowercased()) } || scalars <= 6
                    || areAboutPages(members)
                if !main.isEmpty, isEnvelope, !main.allSatisfy(\.isMap) || !isOwnerOfMap(members) {
                    return preferred(main, json).map { withSeries($0, json) }
                }
                // The owner of a map is the record, and not the map in a wrapper.
                if let inner = wrapped(members), case .object(let own)? = value(of: inner, in: json),
                    !RecordMap.isMap(own)
                {
                    return [inner]
                }
            }
            return [FoundList(steps: [], isList: false)]
        default: return []
        }
    }

    /// Returns the lists of series inside of a list that has nothing else, such as
    /// `results.*.series`, in place of that list.
    private static func withSeries(_ list: FoundList, _ json: JSONValue) -> FoundList {
        guard list.isList, list.columns == nil, !list.steps.contains(.each),
            let name = NestedTable.series(in: value(of: list, in: json)?.elements ?? [])
        else { return list }
        return FoundList(steps: list.steps + [.each, .key(name)], isList: true)
    }

    /// Whether a list is a part of one of several objects of one form, which have values of their
    /// own: `{"home": {"name": "a", "players": […]}, "away": {…}}`. The objects are the records.
    private static func isPart(_ list: FoundList, of lists: [FoundList], _ json: JSONValue) -> Bool {
        guard list.steps.count > 1, !list.steps.contains(.each), case .key? = list.steps.last else { return false }
        let beside = lists.filter { other in
            other.steps.count == list.steps.count && other.steps.last == list.steps.last
                && other.steps.dropLast(2) == list.steps.dropLast(2)
        }
        let owners = beside.compactMap { value(of: FoundList(steps: $0.steps.dropLast(), isList: false), in: json) }
        return owners.count > 1 && RecordMap.isOneForm(owners)
            && owners.allSatisfy { owner in
                owner.members.count { $0.value.scalarText != nil && !isEnvelope($0.key) } > 1
            }
    }

    /// Whether an object with maps is a record that has them: two members of it tell nothing about
    /// an answer, such as `name` beside `versions`.
    private static func isOwnerOfMap(_ members: [JSONValue.Member]) -> Bool {
        members.count { $0.value.scalarText != nil && !isEnvelope($0.key) } > 1
    }

    /// Returns the list of messages of an answer that has no other list and tells of other pages:
    /// otherwise, messages accompany records.
    private static func messages(_ found: [FoundList], _ members: [JSONValue.Member]) -> [FoundList] {
        let scalars = members.filter { !$0.value.isObject && $0.value.scalarText != nil }
        let isSigned = members.contains { member in
            hasSign(.object([member]), orNull: true) || member.value.isObject && hasSign(member.value, orNull: true)
        }
        guard isSigned, scalars.allSatisfy({ isEnvelope($0.key) }) else { return [] }
        return found.filter { $0.steps == [.key("messages")] }
    }

    /// Whether all scalars of an object tell about the answer, and one of them of pages.
    private static func areAboutPages(_ members: [JSONValue.Member]) -> Bool {
        let scalars = members.filter { !$0.value.isObject && $0.value.scalarText != nil }
        let names: Set = ["count", "offset", "limit", "total", "skip"]
        let signs = scalars.count { PageEvidence.isAboutPages($0.key) || names.contains($0.key.lowercased()) }
        let others = scalars.count { !isEnvelope($0.key) }
        return others == 0 && scalars.contains { PageEvidence.isAboutPages($0.key) } || signs > 2 && others == 1
    }

    /// Returns the member that names another page, and a list of objects, of an answer that looks
    /// like a single object; nil for other answers.
    static func pagedList(in json: JSONValue) -> (sign: String, list: JSONPath)? {
        guard case .object(let members) = json,
            let sign = members.first(where: { member in
                PageEvidence.isSuccessor(member.key)
                    && member.value.scalarText.map { !["", "0", "false"].contains($0) } ?? false
            }),
            let list = nested(json, [], depth: 0).first(where: { !$0.steps.contains { isCompanionStep($0) } })
        else { return nil }
        return (sign.key, list.path)
    }

    /// Whether an object has an id.
    static func hasOwnKey(_ members: [JSONValue.Member]) -> Bool {
        members.contains { ["id", "_id", "uuid", "guid"].contains($0.key) && $0.value.keyText != nil }
    }

    /// Returns the list in an array that also has an object with what tells of the pages:
    /// `[{"page": 1, "pages": 2}, […]]` of the World Bank's API.
    private static func besideObject(_ elements: [JSONValue]) -> FoundList? {
        let lists = elements.indices.filter { index in
            if case .array(let inner) = elements[index] { inner.contains(where: \.isObject) } else { false }
        }
        guard lists.count == 1, let index = lists.first, (2...4).contains(elements.count) else { return nil }
        let others = elements.indices.filter { $0 != index }.map { elements[$0] }
        return others.contains(where: hasCount) ? FoundList(steps: [.index(index)], isList: true) : nil
    }

    /// Whether an object has a member that tells of pages, and is no record.
    private static func hasCount(_ object: JSONValue) -> Bool {
        guard case .object(let members) = object, !members.contains(where: { $0.key == "id" }) else { return false }
        return members.contains { $0.value.scalarText != nil && PageEvidence.isAboutPages($0.key) }
    }

    /// Returns the lists of a further page of a response with these lists.
    ///
    /// An empty list in an envelope looks like nothing by itself, and its envelope like a record.
    static func lists(in json: JSONValue, like first: [FoundList]) -> [FoundList] {
        // A map of few records may not look like one, and lists in them are no lists of the answer.
        let maps = first.filter { $0.isMap && hasList(json, $0) }
        let found = lists(in: json).filter { list in
            !maps.contains { map in list != map && list.isList && list.steps.starts(with: map.steps.dropLast()) }
        }
        if found.contains(where: first.contains) {
            // The last page may not tell of others.
            return found + first.filter { $0.isList && !found.contains($0) && hasList(json, $0) }
        }
        let known = first.filter { $0.isList && hasList(json, $0) }
        // The last page may look like a single object: it does not tell of others.
        if !known.isEmpty, !found.contains(where: \.isList) { return known }
        if !found.contains(where: \.isList), lacks(json, first) { return first.filter(\.isList) }
        let empty = known.filter { objects(json, $0).isEmpty }
        return empty.isEmpty ? found : empty
    }

    /// Returns the value to which a step leads that is none through all elements of an array.
    private static func element(_ step: ListStep, of value: JSONValue) -> JSONValue? {
        switch (step, value) {
        case (.key(let key), .object): return value[key]
        case (.index(let index), .array(let elements)) where elements.indices.contains(index): return elements[index]
        default: return nil
        }
    }

    /// Whether a further page has none of the lists of the first page, and no record in place of
    /// one: null, nothing, or a message.
    private static func lacks(_ json: JSONValue, _ first: [FoundList]) -> Bool {
        let lists = first.filter(\.isList)
        return !lists.isEmpty
            && lists.allSatisfy { list in
                guard !list.steps.isEmpty else { return isMessage(json) }
                return value(of: list, in: json).map { $0.scalarText == nil && !$0.isObject } ?? true
            }
    }

    /// Whether an object in place of a list only tells something about the answer.
    private static func isMessage(_ json: JSONValue) -> Bool {
        guard case .object(let members) = json else { return json == .null }
        return !hasOwnKey(members) && members.allSatisfy { isEnvelope($0.key) || $0.key == "detail" }
    }

    /// Returns the value to which the steps of a list lead; nil if there is none.
    static func value(of list: FoundList, in json: JSONValue) -> JSONValue? {
        var value = json
        for step in list.steps.prefix(while: { $0 != .each }) {
            guard let inner = element(step, of: value) else { return nil }
            value = inner
        }
        return value
    }

    /// Whether the steps of a list lead to an array, or to an object that may be its map.
    static func hasList(_ json: JSONValue, _ list: FoundList) -> Bool {
        switch value(of: list, in: json) {
        case .array: true
        case .object(let members):
            list.isMap
                && (members.allSatisfy { $0.value.scalarText == nil }
                    || !RecordMap.knownExceptions(in: members).isEmpty)
        default: false
        }
    }

    /// Of several lists, those of the outermost level; one under a wrapper excludes the others. A
    /// list further inside comes first if only the objects that lead to it tell of other pages. If
    /// none does, a member such as `next_cursor` tells of them although it is null.
    private static func preferred(_ lists: [FoundList], _ json: JSONValue) -> [FoundList] {
        guard lists.count > 1 else { return lists }
        let outermost = lists.map(\.steps.count).min() ?? 0
        let top = lists.filter { $0.steps.count == outermost }
        if let wrapper = top.first(where: { wrappers.contains($0.name.lowercased()) }) {
            return [wrapper] + lists.filter { $0 != wrapper && isSideLoaded($0.steps) }
        }
        guard outermost <= 1 else { return Array(lists.prefix(8)) }
        guard !hasSign(json) else { return top }
        let inner = lists.filter { $0.steps.count > outermost && !$0.steps.contains { isCompanionStep($0) } }
        let signed = inner.first { envelopes(of: $0, in: json).contains { hasSign($0) } }
        if let signed { return [signed] + top }
        guard !hasSign(json, orNull: true) else { return top }
        let named = inner.first { envelopes(of: $0, in: json).contains { hasSign($0, orNull: true) } }
        return (named.map { [$0] } ?? []) + top
    }

    /// Whether a list has the records to which those of another list refer: `included` of JSON:API,
    /// or `includes.users`, with a list for each kind.
    static func isSideLoaded(_ steps: [ListStep]) -> Bool {
        if case .key(let key)? = steps.last, key.lowercased() == "included" { return true }
        guard case .key(let key)? = steps.first, steps.count == 2 else { return false }
        return ["includes", "linked"].contains(key.lowercased())
    }

    /// Keys of lists that tell about the records of another one.
    private static let descriptions: Set = ["fields", "columns"]

    /// Returns the lists of an answer that are none of the chosen ones, and do not accompany them.
    static func others(in json: JSONValue, than chosen: [FoundList]) -> [FoundList] {
        guard chosen.contains(where: \.isList), case .object(let members) = json, !RecordMap.isMap(members),
            RecordMap.exceptions(in: members).isEmpty
        else { return [] }
        let lists = nested(json, [], depth: 0).filter { list in
            !chosen.contains { $0.steps.starts(with: list.steps) } && !list.steps.contains { isCompanionStep($0) }
                && !descriptions.contains(list.name.lowercased()) && !objects(json, list).isEmpty
        }
        // An object with as much as a record, `info` beside the `releases` of a package, or with an
        // id: the `city` of a forecast.
        let records = members.filter { member in
            let own = member.value.members
            return !isCompanion(member.key) && member.key != "_links"
                && !chosen.contains { $0.steps.first == .key(member.key) }
                && own.count { $0.value.scalarText != nil && !isEnvelope($0.key) } >= (hasOwnKey(own) ? 2 : 5)
        }
        return lists + records.map { FoundList(steps: [.key($0.key)], isList: false) }
    }

    /// Returns the lists of an answer that look like those of one kind by names that are data, such
    /// as dates or states; nil without such lists. Two plurals name lists of two kinds.
    static func listsByData(in json: JSONValue, _ lists: [FoundList]) -> [FoundList]? {
        Dictionary(grouping: lists.filter(\.isList)) { Array($0.steps.dropLast()) }.values.first { group in
            guard group.count > 1 else { return false }
            let forms = group.map { list in
                objects(json, list).first.map { Set($0.members.map(\.key)) } ?? []
            }
            let odd = group.count { !ObjectShape.isName($0.name) }
            let areWords = group.allSatisfy { EnglishName.singularWords(of: $0.name) == EnglishName.words(of: $0.name) }
            return forms[0].count > 1 && Set(forms).count == 1
                && (odd * 2 > group.count || group.count > 2 || areWords)
        }
    }

    /// Whether the steps of a list lead to an array without objects.
    static func isEmpty(_ list: FoundList, in json: JSONValue) -> Bool {
        hasList(json, list) && objects(json, list).isEmpty
    }

    /// Returns the path of an empty array, if an answer has one and otherwise only members that
    /// tell about the answer; nil for other answers.
    static func emptyList(in json: JSONValue) -> JSONPath? {
        switch json {
        case .array(let elements): return elements.isEmpty ? JSONPath(.record, steps: []) : nil
        case .object(let members):
            var found: JSONPath?
            guard !hasOwnKey(members) else { return nil }
            for member in members where !isCompanion(member.key) && member.key != "_links" {
                switch member.value {
                case .array(let elements) where elements.isEmpty:
                    found = found ?? JSONPath(.record, steps: [.key(member.key)])
                case .object:
                    let isEntered = PageEvidence.memberNames.objects.contains(member.key)
                    guard isEntered || isEnvelope(member.key) || wrappers.contains(member.key.lowercased()) else {
                        return nil
                    }
                    if let inner = emptyList(in: member.value) {
                        found = found ?? JSONPath(.record, steps: [.key(member.key)] + inner.steps)
                    }
                case .array: return nil
                default: guard isEnvelope(member.key) else { return nil }
                }
            }
            return found
        default: return nil
        }
    }

    private static func isCompanionStep(_ step: ListStep) -> Bool {
        if case .key(let key) = step { companions.contains(key.lowercased()) } else { false }
    }

    /// The objects that lead to a list, without the outermost one.
    private static func envelopes(of list: FoundList, in json: JSONValue) -> [JSONValue] {
        var found: [JSONValue] = [], value = json
        for case .key(let key) in list.steps.prefix(while: { $0 != .each }) {
            guard let inner = value[key], inner.isObject else { break }
            found.append(inner)
            value = inner
        }
        return found
    }

    /// Whether a member of an object tells of other pages.
    ///
    /// - Parameter orNull: whether its value may be null.
    private static func hasSign(_ object: JSONValue, orNull: Bool = false) -> Bool {
        guard case .object(let members) = object else { return false }
        return members.contains {
            ($0.value.scalarText != nil || orNull && $0.value == .null) && PageEvidence.isSign($0.key)
        }
    }

    /// Whether most elements of an array are objects, and the others no arrays: a server may leave
    /// null in place of a record.
    private static func isMostlyObjects(_ elements: [JSONValue]) -> Bool {
        let objects = elements.count(where: \.isObject)
        return objects * 2 > elements.count
            && (objects == elements.count || elements.allSatisfy { $0.isObject || $0.elements.isEmpty })
    }

    /// - Parameter isRecord: whether an object that leads to this one is a record, to which its
    ///   maps belong: `{"data": {"id": 1, "settings": {…}}}`.
    private static func nested(
        _ json: JSONValue, _ steps: [ListStep], depth: Int, isRecord: Bool = false
    ) -> [FoundList] {
        guard case .object(let members) = json, depth < depthLimit else { return [] }
        let isRecord = isRecord || depth > 0 && (hasOwnKey(members) || isOwnerOfMap(members))
        var found: [FoundList] = []
        for member in members.prefix(200) {
            let path = steps + [.key(member.key)]
            switch member.value {
            case .array(let elements) where isMostlyObjects(elements):
                // A list of edges, each with a node.
                let areEdges = elements.allSatisfy { !$0.isObject || $0["node"]?.isObject == true }
                found.append(FoundList(steps: areEdges ? path + [.each, .key("node")] : path, isList: true))
            case .array(let elements) where RowList.isRows(elements):
                if let columns = RowList.columns(of: elements, named: member.key, in: members) {
                    found.append(FoundList(steps: path, isList: true, columns: columns))
                }
            case .array(let elements)
            where elements.isEmpty && depth == 0 && wrappers.contains(member.key.lowercased()):
                found.append(FoundList(steps: path, isList: true))
            // The lists of the records of a map are no lists of the response.
            case .object(let inner)
            where RecordMap.isMap(inner) || RecordMap.isMapOfLists(inner) || !RecordMap.exceptions(in: inner).isEmpty:
                // The resources that are embedded in a record of HAL are parts of it.
                if !isRecord, !isCompanion(member.key), !["_links", "_embedded"].contains(member.key) {
                    found.append(FoundList(steps: path + [.each], isList: true))
                }
            case .object: found += nested(member.value, path, depth: depth + 1, isRecord: isRecord)
            default: break
            }
        }
        return found
    }

    /// Returns the single record in a wrapper: `{"data": {…}}`.
    private static func wrapped(_ members: [JSONValue.Member]) -> FoundList? {
        let objects = members.filter { $0.value.isObject && wrappers.contains($0.key.lowercased()) }
        guard objects.count == 1, let member = objects.first else { return nil }
        return FoundList(steps: [.key(member.key)], isList: false)
    }

    /// Whether a list is a map in which some records are in lists: several of them have one name.
    static func isMapOfLists(_ json: JSONValue, _ list: FoundList) -> Bool {
        list.isMap
            && value(of: list, in: json)?.members.contains { if case .array = $0.value { true } else { false } } == true
    }

    /// Returns the names of the members beside the records of a map, which are no records.
    static func exceptions(_ json: JSONValue, _ list: FoundList) -> [String] {
        guard list.isMap, case .object(let members)? = value(of: list, in: json) else { return [] }
        return RecordMap.knownExceptions(in: members)
    }

    /// Returns the objects at a list. Those of a map have a further member with the name of theirs:
    /// see ``RecordMap/nameField``.
    static func objects(_ json: JSONValue, _ list: FoundList) -> [JSONValue] {
        if list.isMap, let map = value(of: list, in: json) { return RecordMap.records(in: map) }
        if let columns = list.columns { return RowList.objects(value(of: list, in: json)?.elements ?? [], columns) }
        var values = [json]
        for step in list.steps {
            switch step {
            case .key, .index: values = values.compactMap { element(step, of: $0) }
            case .each:
                values = values.flatMap { value -> [JSONValue] in
                    if case .array(let elements) = value { elements } else { [] }
                }
            }
        }
        guard list.isList, list.steps.last != .key("node") || !list.steps.contains(.each) else { return values }
        return values.flatMap { value -> [JSONValue] in
            if case .array(let elements) = value { elements } else { [] }
        }.filter(\.isObject)
    }
}
