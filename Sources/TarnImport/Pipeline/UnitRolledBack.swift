/// The end of a unit of a dry run: its transaction is rolled back, and its report is the result.
struct UnitRolledBack: Error {
    var report: ImportReport
}
