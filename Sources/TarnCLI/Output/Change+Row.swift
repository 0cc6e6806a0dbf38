// A change of the change log as a row of output.

import Tarn

extension Change {
    /// The titles of the cells.
    static let columns = ["change", "operation", "entity", "key", "fields"]

    /// The change as the members of an object.
    var members: [RowWriter.Member] {
        var key = ""
        self.key.appendJSON(to: &key)
        var members: [RowWriter.Member] = [
            ("sequence", .json("\(sequence)")), ("ordinal", .json("\(ordinal)")),
            ("operation", .text(operation.rawValue)),
            ("entity", .text(entity)), ("key", .json(key)),
        ]
        guard let fields else { return members }
        if isPartial { members.append(("partial", .json("true"))) }
        var text = ""
        Record(entity: entity, key: self.key, fields: fields).appendFieldsJSON(to: &text)
        members.append(("fields", .json(text)))
        return members
    }

    func cells(_ style: OutputStyle) -> [OutputValue] {
        let fields = fields?.map { "\($0.name)=\(OutputValue.value($0.value).cell(style))" }.joined(separator: " ")
        return [
            .text("\(sequence).\(ordinal)"), .text(operation.rawValue), .text(entity), .text(key.description),
            fields.map(OutputValue.text) ?? .absent,
        ]
    }
}
