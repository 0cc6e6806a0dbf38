// Sums of reports, as a sync makes them page by page.

import TarnStore
import Testing

@testable import TarnImport

@Suite("Import: sums of reports")
struct ImportReportTests {
    private func report(_ paths: [(String, String, Int)]) -> ImportReport {
        var report = ImportReport()
        report.unmapped = paths.map { ImportReport.UnmappedPath(entity: $0.0, path: $0.1, count: $0.2) }
        return report
    }

    @Test("unmapped paths of reports are added up, in order, also where a report has them in no order")
    func unmapped() {
        var sum = ImportReport()
        sum.add(report([("A", "x", 1), ("B", "a", 2), ("B", "c", 3)]))
        sum.add(report([("B", "b", 1), ("A", "x", 4), ("C", "z", 1), ("B", "b", 1), ("A", "a", 5)]))
        sum.add(report([]))
        sum.add(report([("A", "y", 1), ("C", "z", 9)]))
        let expected = report([
            ("A", "a", 5), ("A", "x", 5), ("A", "y", 1), ("B", "a", 2), ("B", "b", 2), ("B", "c", 3), ("C", "z", 10),
        ])
        #expect(sum.unmapped == expected.unmapped)
    }

    @Test("diagnostics of thousands of fields are counted by field, page after page")
    func groups() {
        let fields = 5000
        var page = ImportReport()
        page.diagnosticGroups = (0..<fields).map { number in
            DiagnosticGroup(
                Diagnostic(
                    code: .keyMissing, path: "$", entity: "Row", key: nil, field: "f\(number)", message: "no value"))
        }
        var sum = ImportReport()
        for _ in 0..<20 { sum.add(page) }
        #expect(sum.diagnosticGroups.count == fields)
        #expect(sum.diagnosticGroups.allSatisfy { $0.count == 20 })
        #expect(sum.diagnosticGroups.first?.field == "f0" && sum.diagnosticGroups.last?.field == "f4999")
    }
}
