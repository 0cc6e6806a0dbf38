// Lists of rows: each record is a list of values, whose names are beside the list, or nowhere.

import Tarn

/// Finds lists of rows in a response: `{"columns": ["id", "name"], "rows": [[1, "a"], [2, "b"]]}`.
enum RowList {
    /// Keys of lists with the names of columns.
    private static let columnNames: Set = [
        "columns", "cols", "fields", "header", "headers", "meta", "names", "keys", "schema", "columnnames",
        "column_names",
    ]
    /// Words of members whose fields are some of the columns, in an order of their own.
    private static let queryWords: Set = ["filter", "sort", "sorting", "order", "group", "facet"]
    /// The maximum number of columns.
    private static let columnLimit = 200

    /// Whether the elements of an array are rows of one length, of scalars first of all.
    static func isRows(_ elements: [JSONValue]) -> Bool {
        guard elements.count > 1, case .array(let first) = elements[0], (1...columnLimit).contains(first.count) else {
            return false
        }
        // Below a row of names, others may lack their last values.
        let isHeader = areNames(texts(first), count: first.count)
        return elements.allSatisfy { row in
            guard case .array(let values) = row, values.count <= first.count, isHeader || values.count == first.count
            else { return false }
            return values.first?.scalarText != nil
        }
    }

    /// Returns the place of the names of a list's columns: a list of texts beside it, or a member
    /// of each object of one; nil if there is none.
    ///
    /// - Parameters:
    ///   - members: those around the list.
    ///   - depth: how many objects further inside it may be.
    static func place(ofNamesIn members: [JSONValue.Member], count: Int, depth: Int = 3) -> [JSONPath.Step]? {
        for member in members where columnNames.contains(member.key.lowercased()) {
            let elements = member.value.elements
            guard elements.count == count else { continue }
            if areNames(elements.compactMap(\.scalarText), count: count) { return [.key(member.key)] }
            for field in ["fieldName", "name", "id", "key", "field"]
            where areNames(elements.compactMap { $0[field]?.scalarText }, count: count) {
                return [.key(member.key), .each, .key(field)]
            }
        }
        // Further inside, such as in `meta.view.columns`.
        guard depth > 0 else { return nil }
        for member in members.prefix(100) {
            guard case .object(let inner) = member.value,
                queryWords.isDisjoint(with: EnglishName.words(of: member.key).map(EnglishName.singular))
            else { continue }
            if let place = place(ofNamesIn: inner, count: count, depth: depth - 1) { return [.key(member.key)] + place }
        }
        return nil
    }

    /// Returns the list of rows with names of their columns beside it, if it is the only one of an
    /// object with an id.
    static func named(in members: [JSONValue.Member]) -> FoundList? {
        guard ListFinder.hasOwnKey(members) else { return nil }
        let found = members.compactMap { member -> FoundList? in
            let rows = member.value.elements
            guard isRows(rows), let names = names(in: members, count: rows[0].elements.count) else { return nil }
            return FoundList(steps: [.key(member.key)], isList: true, columns: names)
        }
        return found.count == 1 ? found[0] : nil
    }

    private static func texts(_ values: [JSONValue]) -> [String] {
        values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    private static func areNames(_ names: [String], count: Int) -> Bool {
        names.count == count && Set(names).count == count && names.allSatisfy { FieldNames.canBeWritten([$0]) }
    }

    /// Whether the first row has the names of the columns: other rows have numbers below a name.
    ///
    /// - Parameter isCertain: whether it has them if it may have them.
    static func isHeader(_ rows: [JSONValue], isCertain: Bool) -> Bool {
        guard let first = rows.first, case .array(let names) = first else { return false }
        let texts = texts(names)
        guard areNames(texts, count: names.count), texts.allSatisfy({ Double($0) == nil }) else { return false }
        let others = rows.dropFirst().prefix(100)
        guard !isCertain else { return true }
        let counted = names.indices.filter { column in
            let values = others.compactMap { $0.elements.indices.contains(column) ? $0.elements[column] : nil }
            return values.contains { $0 != .null } && values.allSatisfy { $0 == .null || isCounted($0) }
        }
        // A date above dates is the value of a first record.
        return !counted.isEmpty && !counted.contains { isCounted(names[$0]) }
    }

    /// Whether a first row has half of the names that another page has, in any order.
    static func hasNames(_ row: [JSONValue], like header: [String]) -> Bool {
        Set(texts(row)).intersection(header).count * 2 >= header.count
    }

    /// Whether a value is a number, a boolean, or a text of a number or a date: not `2nd street`.
    static func isCounted(_ value: JSONValue) -> Bool {
        switch value {
        case .number, .bool: true
        case .string(let text):
            Double(text) != nil
                || text.utf8.first { $0 != UInt8(ascii: "-") }.map { (0x30...0x39).contains($0) } ?? false
                    && text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-:./, %TZ".utf8.contains($0) }
        default: false
        }
    }

    /// Returns the names of the columns of a list, from the objects around it; nil without any.
    ///
    /// - Parameter count: the number of columns.
    static func names(in members: [JSONValue.Member], count: Int) -> [String]? {
        guard let place = place(ofNamesIn: members, count: count, depth: 0), case .key(let key)? = place.first,
            let elements = members.first(where: { $0.key == key })?.value.elements
        else { return nil }
        guard case .key(let field)? = place.dropFirst().last else { return elements.compactMap(\.scalarText) }
        return elements.compactMap { $0[field]?.scalarText }
    }

    /// Returns the columns of a list of rows; nil if the list is not one of records.
    ///
    /// - Parameters:
    ///   - members: those around the list; empty for one at the root.
    ///   - name: the key of the list; nil at the root.
    static func columns(of elements: [JSONValue], named name: String?, in members: [JSONValue.Member]) -> [String]? {
        guard isRows(elements) else { return nil }
        let count = elements[0].elements.count
        if let names = names(in: members, count: count) { return names }
        if isHeader(elements, isCertain: false) { return (0..<count).map { "column\($0)" } }
        // A list of pairs inside of a record may be a line on a map.
        let isWrapped = name.map { ListFinder.wrappers.contains($0.lowercased()) } ?? true
        let isEnvelope = members.allSatisfy { $0.value.scalarText == nil || ListFinder.isEnvelope($0.key) }
        guard isWrapped || isMixed(elements), isEnvelope, count > 1 else { return nil }
        return (0..<count).map { "column\($0)" }
    }

    /// Whether each row has a text beside other values: no list of points has.
    private static func isMixed(_ rows: [JSONValue]) -> Bool {
        rows.allSatisfy { row in
            row.elements.count > 2 && texts(row.elements).contains { Double($0) == nil }
        }
    }

    /// Whether columns have no names of their own.
    static func areUnnamed(_ columns: [String]) -> Bool { columns == columns.indices.map { "column\($0)" } }

    /// Returns the rows of a list as objects, by the names of the columns.
    static func objects(_ rows: [JSONValue], _ columns: [String]) -> [JSONValue] {
        rows.compactMap { row in
            guard case .array(let values) = row, !values.isEmpty else { return nil }
            return .object(zip(columns, values).map { JSONValue.Member($0, $1) })
        }
    }

    /// Returns a remark about rows whose columns have no names; nil for others.
    static func remark(_ list: FoundList, in json: JSONValue) -> String? {
        guard let columns = list.columns, areUnnamed(columns), let rows = ListFinder.value(of: list, in: json)?.elements
        else { return nil }
        let place = list.steps.isEmpty ? "the answer" : "`\(YAMLText.comment(list.path.description, limit: 60))`"
        let names = YAMLText.scalar(JSONPath(.record, steps: list.path.steps + [.index(0)]).description)
        let header =
            isHeader(rows, isCertain: true)
            ? " If the first row has their names, write `columns: \(YAMLText.comment(names, limit: 60))`, and remove `from` of the attributes: now it is a record, too."
            : ""
        return "\(place) is a list of rows without names: name the attributes as the server's manual does.\(header)"
    }
}
