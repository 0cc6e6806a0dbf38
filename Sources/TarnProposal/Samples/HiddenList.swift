// Lists in answers that look like single objects.

import Tarn

/// A member of an answer that looks like a single object, and may be a list of records.
struct HiddenList {
    private static let depthLimit = 12

    var path: JSONPath
    /// The reason why it may be a list, after its path.
    var reason: String

    /// The remark for the endpoint.
    var remark: String {
        let path = YAMLText.comment(YAMLText.scalar(path.description), limit: 60)
        return
            "`\(path)` \(reason), but the answer looks like a single object: if it is a list of records, write `records: \(path)`, and the style under `paginate`."
    }

    /// Returns the member that may be a list; nil for other objects.
    ///
    /// An object that its own URL names is a record, whatever lists it has.
    static func find(in json: JSONValue, url: String) -> HiddenList? {
        guard case .object(let members) = json else { return nil }
        let id = key(json)
        let segments = URLReference(url).path.split(separator: "/").map { PercentEncoding.decode(String($0)) }
        if let id, segments.contains(id) { return nil }
        if let name = MainList.lastSegment(of: url), let found = named(name, members) { return found }
        if id != nil {
            // With an id it is a record, unless its other members are lists or describe the answer.
            guard members.allSatisfy({ isList($0.value) || ListFinder.isEnvelope($0.key) || isWrapper($0) }) else {
                return nil
            }
        }
        let wrapper = members.first { isWrapper($0) && isList($0.value) }
        if let wrapper {
            return HiddenList(path: JSONPath(keys: [wrapper.key]), reason: "has several elements")
        }
        return id == nil ? deep(json, []) : nil
    }

    /// Returns the member that has the name of the path.
    private static func named(_ name: String, _ members: [JSONValue.Member]) -> HiddenList? {
        guard let member = members.first(where: { MainList.plain($0.key) == name }) else { return nil }
        let path = JSONPath(keys: [member.key])
        switch member.value {
        case .array(let elements) where !elements.isEmpty:
            return HiddenList(path: path, reason: "has the name of the path")
        // A server may write a list of one record as an object.
        case .object where EnglishName.singular(member.key) != member.key && key(member.value) != nil:
            return HiddenList(path: path, reason: "has the name of the path, and is an object today")
        default: return nil
        }
    }

    /// Returns a list of objects below the depth that ``ListFinder`` searches.
    private static func deep(_ json: JSONValue, _ keys: [String]) -> HiddenList? {
        guard case .object(let members) = json, keys.count < depthLimit else { return nil }
        for member in members.prefix(50) {
            let inner = keys + [member.key]
            if inner.count > ListFinder.depthLimit, member.value.elements.count > 1,
                member.value.elements.allSatisfy(\.isObject)
            {
                return HiddenList(path: JSONPath(keys: inner), reason: "has several objects")
            }
            if let found = deep(member.value, inner) { return found }
        }
        return nil
    }

    private static func key(_ object: JSONValue) -> String? {
        ["id", "_id", "uuid", "guid"].lazy.compactMap { object[$0]?.keyText }.first
    }

    private static func isWrapper(_ member: JSONValue.Member) -> Bool {
        ListFinder.wrappers.contains(member.key.lowercased())
    }

    /// Whether a value has several objects, or several lists.
    private static func isList(_ value: JSONValue) -> Bool {
        guard value.elements.count > 1 else { return false }
        return value.elements.allSatisfy { element in
            if case .array = element { true } else { element.isObject }
        }
    }
}
