/// The elements with the largest numbers, up to a limit. Of equal numbers the first ones are kept.
struct Largest<Element> {
    private let limit: Int
    private(set) var entries: [(number: Int, element: Element)] = []

    init(_ limit: Int) { self.limit = max(0, limit) }

    /// Whether a number is among the largest so far.
    func takes(_ number: Int) -> Bool {
        entries.count < limit || (entries.last.map { $0.number < number } ?? false)
    }

    mutating func add(_ number: Int, _ element: @autoclosure () -> Element) {
        guard takes(number) else { return }
        var low = 0, high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number >= number { low = middle + 1 } else { high = middle }
        }
        entries.insert((number, element()), at: low)
        if entries.count > limit { entries.removeLast() }
    }
}
