// The values that pagination reads from a page.

import Tarn

/// Reads the facts about a page that decide its pagination.
enum PageReader {
    private static let depthLimit = 3
    private static let valueLimit = 200

    /// Returns the facts about a page.
    ///
    /// - Parameter wants: the parts of a page that a style reads.
    static func facts(_ page: Sample.Page, _ lists: [FoundList], _ wants: PageWants = PageWants()) -> PageFacts {
        let objects = lists.flatMap { ListFinder.objects(page.json, $0) }
        var values: [String: String] = [:]
        if let first = lists.first, first.isList, !first.steps.isEmpty {
            for (envelope, steps) in envelopes(of: first, in: page.json) {
                collect(envelope, steps, &values, except: lists)
            }
        }
        for path in wants.values where values[path] == nil {
            values[path] = JSONPath(path).flatMap { value(at: $0.steps, in: page.json) }?.scalarText
        }
        var hasher = Hasher()
        for object in objects { hasher.combine(object) }
        var facts = PageFacts(headers: page.headers, recordCount: objects.count, values: values)
        facts.digest = hasher.finalize()
        if let keys = wants.record.flatMap({ JSONPath($0) })?.keys {
            facts.records = PageFacts.RecordValues(objects.compactMap { $0.value(at: keys)?.scalarText })
        }
        return facts
    }

    /// Returns the records of a page, to be compared with those of another page.
    ///
    /// - Parameter first: the lists of the first page.
    static func identities(_ page: Sample.Page, like first: [FoundList]) -> PageIdentities {
        PageIdentities(ListFinder.lists(in: page.json, like: first).flatMap { ListFinder.objects(page.json, $0) })
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

    private static func collect(
        _ json: JSONValue, _ steps: [JSONPath.Step], _ values: inout [String: String], except lists: [FoundList]
    ) {
        guard case .object(let members) = json, steps.count < depthLimit else { return }
        for member in members.prefix(100) where values.count < valueLimit && !member.key.isEmpty {
            let path = steps + [.key(member.key)]
            switch member.value {
            case .number(let text), .string(let text): values[JSONPath(.record, steps: path).description] = text
            case .bool(let flag): values[JSONPath(.record, steps: path).description] = flag ? "true" : "false"
            case .object: collect(member.value, path, &values, except: lists)
            case .null, .array: break
            }
        }
    }
}
