import TarnImport

extension Endpoint {
    /// The lists whose records are rows or columns, and the places of their names.
    package var namedColumns: [NamedColumns] {
        (columns.map { [NamedColumns(records, names: $0)] } ?? [])
            + envelope.compactMap { part in part.columns.map { NamedColumns(part.path, names: $0) } }
    }
}
