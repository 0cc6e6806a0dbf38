/// A collection of findings: all are counted, and the first ones of each code are kept.
final class Findings {
    /// The number of findings that are kept for each code.
    private let limit: Int
    private(set) var list: [Finding] = []
    private(set) var counts: [Finding.Code: Int] = [:]

    init(limit: Int = 100) { self.limit = limit }

    func add(_ code: Finding.Code, _ place: @autoclosure () -> String, _ detail: @autoclosure () -> String) {
        if !once.isEmpty, once.remove(Finding(code, place(), detail())) != nil { return }
        let count = counts[code, default: 0]
        counts[code] = count + 1
        if count < limit { list.append(Finding(code, place(), detail())) }
    }

    /// The findings that `addOnce` has added. A scan may meet the same faults afterwards.
    private var once: Set<Finding> = []

    /// Adds a fault that may be met several times, or that a scan may report as well.
    ///
    /// Faults beyond the limit of their code are not counted.
    func addOnce(_ code: Finding.Code, _ place: String, _ detail: String) {
        guard counts[code, default: 0] < limit, !list.contains(where: { $0.code == code && $0.place == place }) else {
            return
        }
        add(code, place, detail)
        once.insert(Finding(code, place, detail))
    }

    var total: Int { counts.values.reduce(0, +) }
}
