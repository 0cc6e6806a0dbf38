/// The counts of a report that the end of one list adds to: a list that is repeated counts once.
struct EndCounts: Equatable {
    var ignored = 0
    var cutOff = 0
    var withoutValue = 0
    var inDoubt = 0
    var inDoubtAgain = 0
    /// The reason why the list may go on; nil if nothing shows one.
    var doubt: EndDoubt?
}

extension SyncReport.Endpoint {
    /// Adds the counts of a list, or takes them back.
    fileprivate mutating func add(_ counts: EndCounts, times factor: Int = 1) {
        ignored += factor * counts.ignored
        cutOff += factor * counts.cutOff
        withoutValue += factor * counts.withoutValue
        inDoubt += factor * counts.inDoubt
        inDoubtAgain += factor * counts.inDoubtAgain
        guard let doubt = counts.doubt else { return }
        let count = (doubts[doubt] ?? 0) + factor
        doubts[doubt] = count > 0 ? count : nil
    }
}

extension EndpointScan {
    /// Counts the end of a list in the report.
    func note(_ counts: EndCounts, ofList index: Int) {
        guard counts != EndCounts() else { return }
        forgetEnd(ofList: index)
        report.add(counts)
        endCounts[index] = counts
    }

    /// Takes back the counts of a list that is scanned again.
    func forgetEnd(ofList index: Int) {
        guard let counts = endCounts.removeValue(forKey: index) else { return }
        report.add(counts, times: -1)
    }
}
