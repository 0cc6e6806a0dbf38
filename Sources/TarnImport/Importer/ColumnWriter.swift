// Rows and columns as objects: the same document, with the names at each value.

internal import TarnStore

/// Writes a document whose rows and columns are objects.
///
/// Everything else, such as what pages are counted by, stays where it is.
struct ColumnWriter: ~Copyable {
    /// The form in which a value is written.
    private enum Form {
        /// A list of rows, or one row, with the names of its columns.
        case rows(Int), row(Int)
        /// An object whose members are columns.
        case columns
        /// The names themselves, in a map beside rows: an empty list.
        case header
    }

    private let tape: Tape
    /// The maximum number of bytes that are written.
    private let limit: Int
    private var forms: [Int: Form] = [:]
    /// The places of the forms, ascending.
    private var places: [Int] = []
    /// The names of columns, as JSON texts.
    private var names: [[[UInt8]]] = []
    /// The places of rows that have the names.
    private var headers: Set<Int> = []
    /// The first rows that have the names, by a path that leads to them.
    private(set) var headerRows: [HeaderRow] = []
    private var text = ByteWriter(capacity: 1 << 12)

    init(_ tape: Tape, limit: Int) {
        self.tape = tape
        self.limit = limit
    }

    // MARK: Finding

    /// Finds the rows or columns of a list, and their names.
    mutating func find(_ list: NamedColumns) throws(ImportError) {
        guard list.written.isEmpty else { return try findWritten(list) }
        guard list.names.origin == .memberName else {
            return try find(list.records.steps[...], list.names.steps[...], from: Tape.root, list)
        }
        for (place, _) in values(at: list.records.steps[...], from: Tape.root) where try isColumns(place, list) {
            forms[place] = .columns
        }
    }

    /// Follows the paths of a list and of its names as far as they are the same: each list of
    /// `series.*.values` has the names of its own `series.*.columns`.
    private mutating func find(
        _ records: ArraySlice<JSONPath.Step>, _ names: ArraySlice<JSONPath.Step>, from start: Int, _ list: NamedColumns
    ) throws(ImportError) {
        if let step = records.first, step == names.first {
            for (child, _) in values(at: [step], from: start) {
                try find(records.dropFirst(), names.dropFirst(), from: child, list)
            }
            return
        }
        let found = rows(at: records, from: start)
        // Without any row, no name is needed: an empty list may come without them.
        guard !found.isEmpty else { return }
        try findNames(names, from: start, list)
        let columns = self.names.count - 1
        if !names.contains(.each), let header = tape.value(at: names, from: start),
            found.contains(where: { !$0.isRow && $0.place < header && header < tape.end($0.place) })
        {
            headerRows.append(HeaderRow(list: list, names: texts(of: header)))
        }
        for (place, isRow) in found {
            forms[place] = !isRow ? .rows(columns) : headers.contains(place) ? .header : .row(columns)
        }
    }

    /// Finds the rows of a list whose names are written in the description. A first row that has
    /// them itself is no record.
    private mutating func findWritten(_ list: NamedColumns) throws(ImportError) {
        let found = rows(at: list.records.steps[...], from: Tape.root)
        guard !found.isEmpty else { return }
        names.append(columnNames(list.written))
        let columns = names.count - 1
        for (place, isRow) in found {
            forms[place] = isRow ? .row(columns) : .rows(columns)
            let first = isRow ? place : place + 1
            guard tape.kind(first) == .array, try isHeader(first, list) else { continue }
            if isRow { forms[place] = .header } else { headers.insert(first) }
        }
    }

    /// Whether a first row has the names that the description has.
    ///
    /// - Throws: if it has most of them, and others or in another order: values would get the names
    ///   of other columns.
    private func isHeader(_ row: Int, _ list: NamedColumns) throws(ImportError) -> Bool {
        var areTexts = true
        tape.forEachElement(row) { if tape.kind($0) != .string { areTexts = false } }
        guard areTexts else { return false }
        let found = texts(of: row)
        guard found != list.written else { return true }
        guard list.written.count(where: found.contains) * 2 > list.written.count else { return false }
        throw .invalidColumns(
            path: list.records.description,
            reason:
                "its first row has the names \(HeaderRow.shown(found)), and the description has \(HeaderRow.shown(list.written)); write them as the response has them"
        )
    }

    private func texts(of row: Int) -> [String] {
        var texts: [String] = []
        tape.forEachElement(row) { texts.append(tape.scalarText($0) ?? "") }
        return texts
    }

    /// Returns the lists of rows at a path, and the rows in a map of them.
    private func rows(at steps: ArraySlice<JSONPath.Step>, from start: Int) -> [(place: Int, isRow: Bool)] {
        let isMap = steps.last == .each
        var found: [(place: Int, isRow: Bool)] = []
        for (place, name) in values(at: steps, from: start) {
            if isMap, name >= 0, tape.isRow(place) {
                found.append((place, true))
            } else if hasRow(place) {
                found.append((place, false))
            }
        }
        return found
    }

    private func values(at steps: ArraySlice<JSONPath.Step>, from start: Int) -> [(place: Int, name: Int)] {
        var found: [(Int, Int)] = []
        tape.forEach(at: steps, from: start) { place, name in found.append((place, name)) }
        return found
    }

    /// Whether a value is a list with a list in it.
    private func hasRow(_ place: Int) -> Bool {
        guard tape.kind(place) == .array else { return false }
        var element = place + 1
        while element < tape.end(place) {
            if tape.kind(element) == .array { return true }
            element = tape.next(element)
        }
        return false
    }

    /// Adds the names at a path: the elements of a list, or all values that the path leads to.
    private mutating func findNames(
        _ steps: ArraySlice<JSONPath.Step>, from start: Int, _ list: NamedColumns
    ) throws(ImportError) {
        var places: [Int?] = []
        if let last = steps.lastIndex(of: .each) {
            // An object without a name has a column, too.
            places = values(at: steps[...last], from: start).map {
                tape.value(at: steps[(last + 1)...], from: $0.place)
            }
        } else if let place = tape.value(at: steps, from: start) {
            guard tape.kind(place) == .array else {
                throw .invalidColumns(path: list.names.description, reason: "found \(tape.describe(place))")
            }
            tape.forEachElement(place) { places.append($0) }
            headers.insert(place)
        }
        guard let first = places.lazy.compactMap(\.self).first else {
            throw .invalidColumns(
                path: list.names.description, reason: "the rows of this response need names, and it has none there")
        }
        guard places.contains(where: { $0.flatMap(tape.scalarText) != nil }) else {
            let isObject = tape.kind(first) == .object
            throw .invalidColumns(
                path: list.names.description,
                reason: isObject
                    ? "there are objects; write the path of the names in them, such as `\(list.names).*.name`"
                    : "the first one is \(tape.describe(first))")
        }
        names.append(columnNames(places.map { $0.flatMap(tape.scalarText) }))
    }

    /// Returns the names of columns as JSON texts. One that has none of its own, or that of a
    /// column before, gets that of its position.
    private func columnNames(_ texts: [String?]) -> [[UInt8]] {
        var names: [[UInt8]] = [], used: Set<[UInt8]> = []
        for (position, text) in texts.enumerated() {
            let own = text.map { text -> [UInt8] in
                var json = ""
                json.appendJSONString(text)
                return Array(json.utf8)
            }
            let name = own.flatMap { $0.count > 2 && !used.contains($0) ? $0 : nil } ?? ColumnWriter.name(of: position)
            used.insert(name)
            names.append(name)
        }
        return names
    }

    private static func name(of position: Int) -> [UInt8] { Array("\"[\(position)]\"".utf8) }

    /// Whether the members of an object are columns: one is a list, and all lists have one length.
    private func isColumns(_ place: Int, _ list: NamedColumns) throws(ImportError) -> Bool {
        guard tape.kind(place) == .object else { return false }
        var first: (name: Int, count: Int)?, member = place + 1
        while member < tape.end(place) {
            if tape.kind(member + 1) == .array {
                var count = 0
                tape.forEachElement(member + 1) { _ in count += 1 }
                if let first, first.count != count {
                    func shown(_ name: Int, _ count: Int) -> String {
                        "`\(Tape.excerpt(tape.string(name), 80))` has \(count)"
                    }
                    throw .invalidColumns(
                        path: list.records.description,
                        reason: "of values, \(shown(first.name, first.count)), \(shown(member, count))")
                }
                first = first ?? (member, count)
            }
            member = tape.next(member + 1)
        }
        return first != nil
    }

    // MARK: Writing

    /// Returns the document; nil if it has neither rows nor columns.
    mutating func named() throws(ImportError) -> [UInt8]? {
        guard !forms.isEmpty else { return nil }
        places = forms.keys.sorted()
        try write(Tape.root)
        return Array(text.bytes)
    }

    private mutating func write(_ place: Int) throws(ImportError) {
        switch forms[place] {
        case .rows(let names): try writeRows(place, names)
        case .row(let names): try writeRow(place, names)
        case .columns: try writeColumns(place)
        case .header: text.append("[]")
        case nil:
            // Deeper than the paths there is nothing to name: this does not go deep.
            guard hasForm(in: place) else {
                tape.appendText(place, to: &text)
                return try checkSize()
            }
            let isObject = tape.kind(place) == .object, end = tape.end(place)
            text.append(UInt8(ascii: isObject ? "{" : "["))
            var child = place + 1
            while child < end {
                if child > place + 1 { text.append(UInt8(ascii: ",")) }
                if isObject {
                    tape.appendText(child, to: &text)
                    text.append(UInt8(ascii: ":"))
                }
                let value = isObject ? child + 1 : child
                try write(value)
                child = tape.next(value)
            }
            text.append(UInt8(ascii: isObject ? "}" : "]"))
        }
    }

    /// Whether a value has rows or columns in it.
    private func hasForm(in place: Int) -> Bool {
        guard tape.kind(place) == .object || tape.kind(place) == .array else { return false }
        var low = 0, high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle] <= place { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low] < tape.end(place)
    }

    private func checkSize() throws(ImportError) {
        guard text.count <= limit else { throw .tooLarge(.rows, limit: limit) }
    }

    /// Writes a list of rows without the one that has the names.
    private mutating func writeRows(_ place: Int, _ names: Int) throws(ImportError) {
        text.append(UInt8(ascii: "["))
        var isFirst = true, element = place + 1
        while element < tape.end(place) {
            if !headers.contains(element) {
                if !isFirst { text.append(UInt8(ascii: ",")) }
                isFirst = false
                if tape.kind(element) == .array {
                    try writeRow(element, names)
                } else {
                    tape.appendText(element, to: &text)
                    try checkSize()
                }
            }
            element = tape.next(element)
        }
        text.append(UInt8(ascii: "]"))
    }

    /// Writes a row. What it has behind the last column gets the name of its position.
    private mutating func writeRow(_ place: Int, _ columns: Int) throws(ImportError) {
        let columns = names[columns]
        text.append(UInt8(ascii: "{"))
        var position = 0, element = place + 1
        while element < tape.end(place) {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            text.append(position < columns.count ? columns[position] : ColumnWriter.name(of: position))
            text.append(UInt8(ascii: ":"))
            tape.appendText(element, to: &text)
            try checkSize()
            position += 1
            element = tape.next(element)
        }
        text.append(UInt8(ascii: "}"))
    }

    /// Writes an object of columns as a list of objects. A member that is no list is the same in
    /// each of them.
    private mutating func writeColumns(_ place: Int) throws(ImportError) {
        var members: [(name: Int, value: Int, isList: Bool)] = [], member = place + 1, rows = 0
        while member < tape.end(place) {
            let value = member + 1, isList = tape.kind(value) == .array
            if isList, rows == 0 { tape.forEachElement(value) { _ in rows += 1 } }
            members.append((member, isList ? value + 1 : value, isList))
            member = tape.next(value)
        }
        text.append(UInt8(ascii: "["))
        for row in 0..<rows {
            text.append(UInt8(ascii: row > 0 ? "," : " "))
            text.append(UInt8(ascii: "{"))
            for index in members.indices {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                tape.appendText(members[index].name, to: &text)
                text.append(UInt8(ascii: ":"))
                tape.appendText(members[index].value, to: &text)
                try checkSize()
                if members[index].isList { members[index].value = tape.next(members[index].value) }
            }
            text.append(UInt8(ascii: "}"))
        }
        text.append(UInt8(ascii: "]"))
    }
}
