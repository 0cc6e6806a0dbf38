import ArgumentParser
import TarnInspect

/// The format of `tarn inspect dump`: of records, or of tables.
enum DumpFormat: String, CaseIterable, ExpressibleByArgument {
    case ndjson, json, csv, yaml, hex, text

    /// The format of records; nil if there is none.
    var ofRecords: RecordDumper.Format? { RecordDumper.Format(rawValue: rawValue) }

    /// The form of tables; nil if there is none.
    var ofTables: TableDumpForm? {
        switch self {
        case .hex: .hex
        case .text: .text
        case .ndjson, .json: .json
        case .csv, .yaml: nil
        }
    }
}
