// Records that are rows or columns, and the places of the names of their columns.

import Tarn

/// Makes objects of the records of an answer that are rows or columns, as an import does.
///
/// Everything else is found in the result as in an answer that has objects.
enum ColumnSearch {
    /// Returns an answer with objects, and what a description says of its lists.
    ///
    /// - Parameter first: the lists of the first page; empty for this page. Of a further page, one
    ///   row is enough.
    static func named(_ json: JSONValue, like first: [FoundList] = []) -> (json: JSONValue, columns: [NamedColumns]) {
        let columns = find(in: json, like: first)
        guard !columns.isEmpty, let named = try? NamedColumns.named(columns, in: Array(json.text.utf8)),
            let result = try? JSONValue(String(decoding: named, as: UTF8.self))
        else { return (json, []) }
        return (result, columns)
    }

    /// Returns the page of an answer.
    ///
    /// - Parameter first: the lists of the first page; empty for this page.
    static func page(_ page: Sample.Page, like first: [FoundList] = []) -> Sample.Page {
        var result = page
        (result.json, result.columns) = named(page.json, like: first)
        if first.isEmpty { result.doubts = result.columns.compactMap { doubt($0, in: page.json) } }
        return result
    }

    /// Returns a remark about columns with values beside them, as one record with lists has, and
    /// about rows in an object with an id; nil about others.
    private static func doubt(_ list: NamedColumns, in json: JSONValue) -> String? {
        guard list.names.origin == .memberName else { return doubt(ofRows: list, in: json) }
        guard case .object(let members)? = ListFinder.value(of: FoundList(list.records), in: json) else { return nil }
        let beside = members.filter { member in
            if case .array = member.value { false } else { !ListFinder.isEnvelope(member.key) }
        }
        guard !beside.isEmpty else { return nil }
        let names = beside.prefix(3).map { "`\(YAMLText.comment($0.key, limit: 40))`" }.joined(separator: ", ")
        return
            "the lists of one length are taken for columns of records, and \(names) for the same in each of them: if it is one record with lists, remove `columns`."
    }

    private static func doubt(ofRows list: NamedColumns, in json: JSONValue) -> String? {
        let around = JSONPath(.record, steps: Array(list.records.steps.dropLast()))
        guard !list.records.steps.isEmpty,
            case .object(let members)? = ListFinder.value(of: FoundList(around), in: json),
            ListFinder.hasOwnKey(members)
        else { return nil }
        let rows = YAMLText.comment(list.records.description, limit: 60)
        return
            "the object around `\(rows)` has an id, and is not described: if it is one record with rows, remove `records` and `columns`."
    }

    /// Returns a note about a list of columns, or one whose first row has the names; nil about
    /// others.
    static func note(_ list: NamedColumns) -> String? {
        let place =
            list.records.steps.isEmpty ? "the answer" : "`\(YAMLText.comment(list.records.description, limit: 60))`"
        if list.records.steps.contains(.each) {
            let names =
                list.written.isEmpty
                ? "" : " The answer has no names for their columns: correct those under `columns`."
            return
                "the rows at \(place) are records of their own, each with the record around it in its key.\(names) To keep them as they are, remove them from `columns`, and make the list an attribute of type `json`."
        }
        if list.names.origin == .record, list.names.steps == list.records.steps + [.index(0)] {
            return
                "\(place) has the names of its columns in its first row: if that is a record, too, remove `columns`, and write `from: '[0]'` and so on in the attributes."
        }
        guard list.names.origin == .memberName else { return nil }
        return
            "\(place) has its records as columns: the n-th values of all lists are one. If it is one record with lists, remove `columns`."
    }

    /// Whether columns may as well be lists of one record, by chance of one length: texts only, and
    /// none by the name of an id or a time.
    ///
    /// - Parameter json: the answer with objects.
    static func isDoubtful(_ list: NamedColumns, in json: JSONValue) -> Bool {
        let place = FoundList(steps: list.records.keys.map(ListStep.key), isList: true)
        guard list.names.origin == .memberName, let rows = ListFinder.value(of: place, in: json)?.elements else {
            return false
        }
        return !(rows.first?.members ?? []).contains { member in
            if EnglishName.words(of: member.key).last.map(decidingNames.contains) ?? false { return true }
            let values = rows.prefix(100).compactMap { $0[member.key] }.filter { $0 != .null }
            // A value that all records share was no list.
            return values.allSatisfy(RowList.isCounted) && Set(values).count > 1
        }
    }

    /// Names of columns that tell records apart.
    private static let decidingNames: Set = ["id", "uuid", "key", "time", "date", "day", "timestamp"]

    private static func find(in json: JSONValue, like first: [FoundList]) -> [NamedColumns] {
        guard first.isEmpty else {
            return NestedTable.find(in: json, first)
                + first.compactMap { list in
                    // Rows without names on the first page have none here.
                    guard list.columns == nil, !list.steps.contains(.each),
                        let value = ListFinder.value(of: list, in: json)
                    else { return nil }
                    if case .object(let members) = value {
                        guard ColumnarRecords(members, list.path.keys, least: 1) != nil else { return nil }
                        return NamedColumns(list.path, names: JSONPath(.memberName, steps: []))
                    }
                    return rows(list, value.elements, in: json, isCertain: true)
                }
        }
        let lists = ListFinder.lists(in: json)
        guard lists.contains(where: \.isList) else {
            // An object whose path cannot be written stays a part of a single record.
            return ColumnarRecords.all(in: json).filter { $0.keys.isEmpty || FieldNames.canBeWritten($0.keys) }.map {
                NamedColumns(JSONPath(keys: $0.keys), names: JSONPath(.memberName, steps: []))
            }
        }
        return NestedTable.find(in: json, lists)
            + lists.compactMap { list in
                list.columns == nil
                    ? nil : rows(list, ListFinder.value(of: list, in: json)?.elements ?? [], in: json, isCertain: false)
            }
    }

    /// Returns the place of the names of a list of rows: beside it, or in its first row.
    ///
    /// - Parameter isCertain: whether the first row has the names if it may have them.
    private static func rows(
        _ list: FoundList, _ rows: [JSONValue], in json: JSONValue, isCertain: Bool
    ) -> NamedColumns? {
        guard let row = rows.first, case .array(let values) = row else { return nil }
        let path = list.path
        if case .key? = list.steps.last {
            let around = FoundList(steps: Array(list.steps.dropLast()), isList: false)
            if case .object(let members)? = ListFinder.value(of: around, in: json),
                let names = RowList.place(ofNamesIn: members, count: values.count)
            {
                return NamedColumns(path, names: JSONPath(.record, steps: around.path.steps + names))
            }
        }
        let isHeader = RowList.isHeader(rows, isCertain: isCertain)
        if let header = list.header, !isHeader || !RowList.hasNames(values, like: header) {
            // Names on the first page only.
            return NamedColumns(path, written: header)
        }
        guard isHeader else { return nil }
        return NamedColumns(path, names: JSONPath(.record, steps: path.steps + [.index(0)]))
    }
}
