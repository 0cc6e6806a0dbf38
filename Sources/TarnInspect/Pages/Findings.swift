/// A collection of findings: all are counted, and the first ones of each code are kept.
final class Findings {
    /// The number of findings that are kept for each code.
    private let limit: Int
    private(set) var list: [Finding] = []
    private(set) var counts: [Finding.Code: Int] = [:]

    init(limit: Int = 100) { self.limit = limit }

    func add(_ code: Finding.Code, _ place: @autoclosure () -> String, _ detail: @autoclosure () -> String) {
        let count = counts[code, default: 0]
        counts[code] = count + 1
        if count < limit { list.append(Finding(code, place(), detail())) }
    }

    var total: Int { counts.values.reduce(0, +) }
}
