// The verification of the whole store.

import Foundation
import TarnInspect

struct VerificationState: BackgroundState {
    var phase = "idle"
    var pages = 0
    var total = 0
    /// The time at which the check began, in seconds since 1970.
    var began = 0.0
    var seconds = 0.0
    /// The LMDB transaction and the commit whose state was checked; 0 if the file is no store.
    var transaction = 0
    var sequence = "0"
    /// The incarnation: another store in its place may have as many transactions.
    var incarnation = ""
    var isSound: Bool?
    var findings: [String] = []
    /// The number of all findings: not all are listed.
    var findingCount = 0
    /// The comparisons that were impossible because one side is unreadable.
    var notCompared: [String] = []
    /// The reason why no read transaction held the state; nil if one did.
    var readWithoutLocks: String?
    var records: [String: Int] = [:]
    var failure: String?

    /// The most findings that are shown.
    private static let findings = 500

    static func scan(_ inspector: StoreInspector, progress: @escaping (Int, Int) -> Void) throws -> VerificationState {
        let started = ContinuousClock.now, began = Date().timeIntervalSince1970
        let report = try inspector.verification { progress($0.pages, $0.total) }
        var state = VerificationState()
        state.began = began
        (state.transaction, state.sequence) = (Int(clamping: report.transaction), String(report.sequence))
        state.isSound = report.isSound
        state.findings = report.findings.prefix(findings).map { "\($0.code.rawValue) \($0.place): \($0.detail)" }
        state.incarnation = report.incarnation
        (state.findingCount, state.notCompared) = (report.total, report.notCompared)
        state.readWithoutLocks = report.aloneBecause
        state.records = Dictionary(report.records.map { ($0.entity, $0.count) }) { first, _ in first }
        state.seconds = (ContinuousClock.now - started) / .seconds(1)
        return state
    }
}
