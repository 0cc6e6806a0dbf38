// One record for people: a line for each field, with whole texts.

import Tarn

struct RecordView {
    private let fields: [(name: String, text: String)]
    private let style: OutputStyle

    /// Creates a view of fields with their texts.
    init(_ fields: [(name: String, text: String)], style: OutputStyle) {
        self.fields = fields
        self.style = style
    }

    /// Writes the fields; the lines of a text are below each other.
    func write(title: String, _ key: String) {
        guard style.format == .table else {
            for (name, text) in [(title, key)] + fields {
                Output.line(
                    "| \(SeparatedText.markdown(name)) | \(SeparatedText.markdown(text)) |", limit: .max)
                if name == title, text == key { Output.line("| --- | --- |") }
            }
            return
        }
        let all = [(name: title, text: key)] + fields
        let width = all.map { VisibleText.columns(of: VisibleText.cell($0.name)) }.max() ?? 0
        let indent = String(repeating: " ", count: width + 2)
        for (name, text) in all {
            let name = VisibleText.cell(name)
            let padding = String(repeating: " ", count: max(0, width + 2 - VisibleText.columns(of: name)))
            let lines = VisibleText.lines(text.replacing("\t", with: "    ")).unicodeScalars
                .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
            let shown = lines.enumerated().map {
                $0.offset == 0 || $0.element.isEmpty ? $0.element : indent + $0.element
            }
            // A text with several lines ends where its next field begins.
            var block = name + padding + shown.joined(separator: "\n")
            while block.utf8.last == 0x0A || block.utf8.last == 0x20 { block.removeLast() }
            Output.block(block)
        }
    }
}

extension RecordPrinter {
    /// The fields of a record for people: all that it has, or the named ones.
    func views(_ record: Record, _ reader: borrowing StoreReader) throws -> [(name: String, text: String)] {
        var views: [(name: String, text: String)] = []
        for (name, value) in try members(record, reader) where name != RecordColumn.kindName {
            guard !included.contains(name) else { continue }
            let isNull = if case .value(.null) = value { true } else { false }
            views.append((name, isNull ? "null" : value.cell(style)))
        }
        for name in included {
            var labels: [String] = []
            try reader.forEachRelated(entity.name, record.key, name) { target in
                labels.append(RecordPrinter.label(target))
                return true
            }
            views.append((name, labels.joined(separator: ", ")))
        }
        return views
    }
}
