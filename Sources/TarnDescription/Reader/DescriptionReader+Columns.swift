// The names of columns, of lists whose records are rows or columns.

import Tarn
import TarnImport
import TarnStore

extension DescriptionReader {
    /// Reads the places of the names of columns: of the records, or of several lists.
    ///
    /// - Parameter records: the path of the records, unless there are several.
    mutating func columns(_ section: Section, isEnvelope: Bool, _ records: JSONPath) -> [NamedColumns] {
        let field = section.path("columns")
        guard let value = section["columns"] else { return [] }
        guard case .mapping = value.content else {
            guard !isEnvelope else {
                report(
                    section, "columns",
                    "there are several key paths under records: write those of the rows or columns with their names, such as columns: { rows: names }"
                )
                return []
            }
            return columns(of: records, value, field).map { [$0] } ?? []
        }
        return entries(section, "columns", of: "key paths of lists to those of their names").compactMap { entry in
            let field = "\(field).\(entry.key)"
            return plainKeyPath(entry.key, field, entry.keyMark).flatMap { columns(of: $0, entry.value, field) }
        }
    }

    /// Reads the place of the names of a list's columns: a key path, or `@memberName`; or a list of
    /// the names themselves.
    private mutating func columns(of records: JSONPath, _ value: YAMLValue, _ field: String) -> NamedColumns? {
        if case .list(let elements) = value.content {
            let names = elements.compactMap { text($0, field) }
            guard names.count == elements.count else { return nil }
            guard !names.isEmpty, !names.contains(""), Set(names.map { ExactText($0) }).count == names.count else {
                report(
                    field, value.mark,
                    "expected the names of all columns in their order, each of them once, such as [time, value]")
                return nil
            }
            return NamedColumns(records, written: names)
        }
        guard let text = text(value, field) else { return nil }
        if text == JSONPath.Origin.memberName.rawValue {
            return NamedColumns(records, names: JSONPath(.memberName, steps: []))
        }
        guard let names = plainKeyPath(text, field, value.mark) else { return nil }
        guard names != records else {
            let first = JSONPath(.record, steps: records.steps + [.index(0)])
            report(
                field, value.mark,
                "these are the rows: write the path of the names, such as columns, or '\(first)' for the first row, or '@memberName' if the members of an object are the columns"
            )
            return nil
        }
        return NamedColumns(records, names: names)
    }
}
