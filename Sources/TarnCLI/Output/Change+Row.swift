// A change of the change log as a row of output.

import Tarn

extension Change {
    /// The titles of the cells.
    static let columns = ["change", "operation", "entity", "key", "fields"]

    /// The change as the members of an object.
    func members(_ style: OutputStyle) -> [RowWriter.Member] {
        var key = ""
        self.key.appendJSON(to: &key)
        var members: [RowWriter.Member] = [
            ("sequence", .json("\(sequence)")), ("ordinal", .json("\(ordinal)")),
            ("operation", .text(operation.rawValue)),
            ("entity", .text(entity)), ("key", .json(key)),
        ]
        guard let fields else { return members }
        if isPartial { members.append(("partial", .json("true"))) }
        members.append(("fields", .json(RowWriter.object(fields.map { ($0.name, .value($0.value)) }, style))))
        return members
    }

    /// The change as the cells of a row. For programs, the fields are one JSON object.
    func cells(_ style: OutputStyle) -> [OutputValue] {
        [
            .text("\(sequence).\(ordinal)"), .text(operation.rawValue), .text(entity), .value(.reference(key)),
            fieldsCell(style),
        ]
    }

    private func fieldsCell(_ style: OutputStyle) -> OutputValue {
        guard let fields else { return .absent }
        guard style.format.isForPeople else {
            return .json(RowWriter.object(fields.map { ($0.name, .value($0.value)) }, style))
        }
        return .text(fields.map { "\($0.name)=\(OutputValue.value($0.value).cell(style))" }.joined(separator: " "))
    }
}
