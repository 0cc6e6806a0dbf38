/// A collection of findings: all are counted, and the first ones of each code are kept.
final class Findings {
    /// The number of findings that are kept for each code.
    private let limit: Int
    private(set) var list: [Finding] = []
    private(set) var counts: [Finding.Code: Int] = [:]

    init(limit: Int = 100) { self.limit = limit }

    func add(_ code: Finding.Code, _ place: @autoclosure () -> String, _ detail: @autoclosure () -> String) {
        if !once.isEmpty, once.remove(Finding(code, place(), detail()).hashValue) != nil { return }
        let count = counts[code, default: 0]
        counts[code] = count + 1
        guard count < limit else { return }
        let finding = Finding(code, place(), detail())
        places.insert(Findings.place(finding))
        list.append(finding)
    }

    // Hashes are enough here, and take little memory in a file with many faults.
    /// The findings that `addOnce` has added. A scan may meet the same faults afterwards.
    private var once: Set<Int> = []
    /// The codes and places of the findings in the list, and of all that `addOnce` has added.
    private var places: Set<Int> = []

    /// Adds a fault that may be met several times, or that a scan may report as well.
    func addOnce(_ code: Finding.Code, _ place: String, _ detail: String) {
        let finding = Finding(code, place, detail)
        guard places.insert(Findings.place(finding)).inserted else { return }
        add(code, place, detail)
        once.insert(finding.hashValue)
    }

    private static func place(_ finding: Finding) -> Int {
        var hasher = Hasher()
        hasher.combine(finding.code)
        hasher.combine(finding.place)
        return hasher.finalize()
    }

    /// The number of findings of a code that are not in the list.
    func countBeyondList(_ code: Finding.Code) -> Int {
        (counts[code] ?? 0) - list.count { $0.code == code }
    }

    var total: Int { counts.values.reduce(0, +) }
}
