// The outcomes of records that several lists have missed.

import Testing

@testable import Tarn

@Suite("Orphans: outcomes")
struct OrphanOutcomeTests {
    private func report(_ record: Int, _ change: (inout OrphanReport) -> Void) -> OrphanReport {
        var report = OrphanReport()
        change(&report)
        report.noteOutcome(of: record)
        return report
    }

    @Test("a record counts once, for the outcome that outweighs the others, whichever list decides first")
    func outweighing() {
        let reports = [
            report(7) { $0.waiting = 1 }, report(7) { $0.deleted = 1 }, report(7) { $0.listedElsewhere = 1 },
            report(8) { $0.kept = 1 },
        ]
        for order in [reports, reports.reversed()] {
            var sum = OrphanReport()
            for report in order { sum.add(report) }
            #expect(sum.count(.deleted, sum: 9) == 1 && sum.count(.kept, sum: 9) == 1)
            #expect(sum.count(.waiting, sum: 9) == 0 && sum.count(.listedElsewhere, sum: 9) == 0)
        }
    }
}
