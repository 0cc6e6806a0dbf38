// The labels that tell series of measurements apart: `{"name": "cpu", "tags": {"host": "a"}}`.

import Tarn

/// The texts of records with a table each that together are the key: of the series.
struct SeriesLabels: Equatable {
    /// Keys of objects that only have labels.
    private static let objectNames: Set = [
        "tags", "metric", "stream", "labels", "dimensions", "attributes", "label", "tag",
    ]
    /// Keys of texts that name a series.
    private static let textNames: Set = [
        "name", "target", "metric", "measurement", "scope", "series", "symbol", "label", "title", "host", "station",
    ]
    private static let limit = 16

    /// The keys that lead to each of them.
    let paths: [[String]]

    /// Finds the labels of records; nil if there are none, or too many.
    init?(of records: [JSONValue]) {
        var paths: [[String]] = []
        let texts = records.first?.members.map(\.key).filter { name in
            SeriesLabels.textNames.contains(name.lowercased())
                && records.allSatisfy { if case .string(let text)? = $0[name] { !text.isEmpty } else { false } }
        }
        paths += (texts ?? []).map { [$0] }
        for record in records {
            for member in record.members where SeriesLabels.objectNames.contains(member.key.lowercased()) {
                guard case .object(let labels) = member.value else { continue }
                for label in labels where !paths.contains([member.key, label.key]) {
                    guard case .string = label.value, paths.count < SeriesLabels.limit,
                        FieldNames.canBeWritten([member.key, label.key])
                    else { return nil }
                    paths.append([member.key, label.key])
                }
            }
        }
        guard !paths.isEmpty, paths.allSatisfy(FieldNames.canBeWritten) else { return nil }
        self.paths = paths
    }

    /// Whether no two records of an answer have the same labels.
    func tellApart(_ records: [JSONValue]) -> Bool {
        let keys = records.map { record in paths.map { ExactText(record.value(at: $0)?.scalarText ?? "") } }
        return Set(keys).count == keys.count
    }
}
