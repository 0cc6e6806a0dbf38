// Rows of values in every format, written as they come.

import Tarn
import TarnInspect

struct RowWriter {
    /// A value with its name, of an object.
    typealias Member = (name: String, value: OutputValue)

    let style: OutputStyle
    private let columns: [String]
    private var table: TableStream?
    private(set) var count = 0
    /// Whether the only row is an object, not a list of one.
    private let isSingle: Bool

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - columns: the titles of the cells.
    ///   - rightAligned: the columns of numbers, by index.
    ///   - named: the column whose cells a table cuts in the middle; nil for none.
    ///   - isSingle: whether there is one row at most: JSON and YAML then have no list.
    init(
        _ columns: [String], _ style: OutputStyle, rightAligned: Set<Int> = [], named: Int? = nil,
        isSingle: Bool = false
    ) {
        self.columns = columns
        self.style = style
        self.isSingle = isSingle
        switch style.format {
        case .table: table = TableStream(columns, rightAligned: rightAligned, width: Output.width, named: named)
        case .csv, .tsv: header()
        case .markdown:
            header()
            Output.line("|" + columns.indices.map { rightAligned.contains($0) ? " ---: |" : " --- |" }.joined())
        case .ndjson, .json, .yaml: break
        }
    }

    private func header() { line(columns.map(OutputValue.text)) }

    /// Adds a row: its members for formats of objects, its cells for the others.
    mutating func add(
        members: @autoclosure () throws -> [Member], cells: @autoclosure () throws -> [OutputValue]
    ) rethrows {
        switch style.format {
        case .table:
            let row = try cells().map { $0.cell(style) }
            table?.add(row)
        case .csv, .tsv, .markdown: line(try cells())
        case .ndjson, .json:
            var text = RowWriter.object(try members(), style)
            text.withUTF8 { line(object: UnsafeRawBufferPointer($0)) }
        case .yaml:
            Output.yaml(YAMLText.mapping(try members(), style, isInList: !isSingle))
        }
        count += 1
    }

    /// Adds a row of JSON or NDJSON, which is an object in UTF-8.
    mutating func add(object: UnsafeRawBufferPointer) {
        line(object: object)
        count += 1
    }

    private func line(object: UnsafeRawBufferPointer) {
        guard style.format == .json, !isSingle else { return Output.json(object) }
        Output.json(object, after: count == 0 ? "[\n" : ",\n", terminator: "")
    }

    /// Adds a row whose cells and members are the same; an absent value is no member.
    mutating func add(_ cells: [OutputValue]) {
        let members = zip(columns, cells).filter { !$1.isAbsent }
        add(members: members.map { ($0, $1) }, cells: cells)
    }

    /// Writes what is left; the writer must not be used again.
    mutating func end() {
        switch style.format {
        case .table: table?.end()
        case .json where !isSingle: Output.json(count == 0 ? "[]" : "]", after: count == 0 ? "" : "\n")
        case .yaml where count == 0 && !isSingle: Output.line("[]")
        default: break
        }
    }

    /// Returns members as a JSON object.
    static func object(_ members: [Member], _ style: OutputStyle) -> String {
        var text = "{"
        for (index, member) in members.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(member.name)
            text += ":" + member.value.json(style)
        }
        return text + "}"
    }

    private func line(_ cells: [OutputValue]) {
        switch style.format {
        case .csv:
            Output.text { bytes in
                let start = bytes.count
                for (index, value) in cells.enumerated() {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    SeparatedText.appendCSV(cell(value), isSafe: RowWriter.isSafe(value, style), to: &bytes)
                }
                // Most readers skip an empty line: the row would be lost.
                if cells.count == 1, bytes.count == start { bytes += "\"\"".utf8 }
            }
        case .tsv:
            Output.text { bytes in
                for (index, value) in cells.enumerated() {
                    if index > 0 { bytes.append(UInt8(ascii: "\t")) }
                    bytes += SeparatedText.tsv(cell(value), isSafe: RowWriter.isSafe(value, style)).utf8
                }
            }
        default: Output.line("|" + cells.map { " " + SeparatedText.markdown(cell($0)) + " |" }.joined(), limit: .max)
        }
    }

    private func cell(_ value: OutputValue) -> String { value.cell(style) }

    /// Whether the cell needs no mark: a number that begins with a sign is no formula.
    static func isSafe(_ value: OutputValue, _ style: OutputStyle) -> Bool {
        guard style.isSpreadsheetSafe else { return true }
        switch value {
        case .number, .absent, .value(.int), .value(.uint), .value(.double), .value(.decimal), .value(.bool):
            return true
        // As in exported tables: a text that is a plain number is no formula.
        default: return value.cell(style).isSpreadsheetNumber
        }
    }
}
