// Remarks about what a proposal may not reach in an answer.

import Tarn

extension Sampler {
    /// Returns remarks about lists and maps beside records, about lists beside other lists, and
    /// about a list without records that looks like a single object.
    static func gaps(_ json: JSONValue, _ lists: [FoundList], url: String) -> [String] {
        guard lists.contains(where: \.isList) else {
            if let (sign, list) = ListFinder.pagedList(in: json) {
                let path = YAMLText.comment(YAMLText.scalar(list.description), limit: 60)
                return [
                    "`\(YAMLText.comment(sign, limit: 40))` names another page, but the answer looks like a single object: if it is a page of a list, write `records: \(path)`, and the style under `paginate`."
                ]
            }
            if let (name, list) = linkedList(in: json) {
                let path = YAMLText.comment(YAMLText.scalar(list.description), limit: 60)
                return [
                    "`\(YAMLText.comment(name, limit: 40))` has a link to a next page, but the answer looks like a single object: if it is a page of a list, write `records: \(path)`, and the style under `paginate`."
                ]
            }
            if let list = scalarList(in: json, []) { return [list] }
            guard let path = ListFinder.emptyList(in: json)?.description else {
                let remark = HiddenList.find(in: json, url: url)?.remark ?? RecordMap.remark(onWordsIn: json)
                let maps = RecordMap.maps(in: json).map(\.remark) + RecordMap.rowRemarks(in: json)
                return remark.map { [$0] } ?? Array(maps.prefix(8))
            }
            return [
                "`\(YAMLText.comment(path, limit: 60))` is empty, so that the answer looks like a single object: if it is a list of records, name a URL whose list has some."
            ]
        }
        if case .array(let elements) = json, lists[0].steps.isEmpty, lists[0].columns == nil,
            elements.contains(where: { if case .array = $0 { true } else { false } })
        {
            return [
                "the answer is a list of objects and of lists, which is not understood: if one of the lists has the records, name it by its position from 0, such as `records: '[1]'`."
            ]
        }
        let unnamed = ListFinder.listsByData(in: json, lists).map { [remark(onListsByData: $0)] } ?? []
        let records = lists.flatMap { ListFinder.objects(json, $0) }
        let parts = PartialList.find(in: records).map(\.remark)
        return lists.compactMap { RowList.remark($0, in: json) } + unnamed + emptyMain(json, lists, url: url)
            + others(json, lists) + parts
    }

    /// Returns the member with a link to a next page, and the list, of an answer that looks like a
    /// single object, such as a Bundle of FHIR; nil for other answers.
    private static func linkedList(in json: JSONValue) -> (name: String, list: JSONPath)? {
        guard case .object(let members) = json,
            let links = members.first(where: { PageSign.isNextLink($0.key, $0.value.elements) }),
            let list = members.first(where: { member in
                member.key != links.key && !member.value.elements.isEmpty
                    && member.value.elements.allSatisfy(\.isObject)
            })
        else { return nil }
        return (links.key, JSONPath(keys: [list.key]))
    }

    /// Returns a remark about a list of scalars, such as ids, beside a total that is larger; nil
    /// without one.
    private static func scalarList(in json: JSONValue, _ keys: [String]) -> String? {
        guard case .object(let members) = json, keys.count < ListFinder.depthLimit else { return nil }
        let list = members.first { member in
            member.value.elements.count > 1 && member.value.elements.allSatisfy { $0.scalarText != nil }
        }
        let total = members.first { member in
            guard let list, PartialList.isTotal(member.key), let total = Int(member.value.scalarText ?? "") else {
                return false
            }
            return total > list.value.elements.count
        }
        if let list, let total {
            let path = YAMLText.comment(JSONPath(keys: keys + [list.key]).description, limit: 60)
            return
                "`\(path)` has \(list.value.elements.count) values of \(total.value.scalarText ?? "") (`\(YAMLText.comment(total.key, limit: 40))`), and no objects: the answer is described as one record with a part of the list, because `records` names lists of objects."
        }
        return members.prefix(100).lazy.compactMap { scalarList(in: $0.value, keys + [$0.key]) }.first
    }

    /// Returns a remark about the lists of an answer that are none of the described ones.
    private static func others(_ json: JSONValue, _ lists: [FoundList]) -> [String] {
        let others = ListFinder.others(in: json, than: lists)
        guard !others.isEmpty else { return [] }
        let names = others.prefix(8).map { list in
            let count = ListFinder.objects(json, list).count
            return
                "`\(YAMLText.comment(list.path.description, limit: 60))` (\(count == 1 ? "1 object" : "\(count) objects"))"
        }
        let more = others.count > 8 ? ", …" : ""
        return [
            "\(SpecificationSources.besides) \(names.joined(separator: ", "))\(more): not described. Name further lists under `records`."
        ]
    }

    /// Returns a remark about lists whose names may be data.
    private static func remark(onListsByData lists: [FoundList]) -> String {
        let names = lists.prefix(3).map { "`\(YAMLText.comment($0.path.description, limit: 60))`" }
        return
            "\(names.joined(separator: ", "))\(lists.count > 3 ? ", …" : "") look like lists of one kind by names that may be data: each is an entity of its own if its records are other ones, and a list of another name is not imported."
    }

    /// Returns a remark about an empty list that has the name of the path, beside others.
    private static func emptyMain(_ json: JSONValue, _ lists: [FoundList], url: String) -> [String] {
        guard let name = MainList.lastSegment(of: url), case .object(let members) = json,
            let member = members.first(where: { MainList.plain($0.key) == name }),
            case .array(let elements) = member.value,
            elements.isEmpty, !lists.contains(where: { $0.steps == [.key(member.key)] })
        else { return [] }
        let path = YAMLText.comment(JSONPath(keys: [member.key]).description, limit: 60)
        return ["`\(path)` is empty, and is the list that the path names: name a URL whose list has records."]
    }
}
