/// The lists of an endpoint that are still to be scanned, by their indexes.
struct ListQueue {
    /// The number of lists to scan.
    private(set) var count: Int
    /// The lists that are done, whatever their outcome.
    var finished: Set<Int> = []
    /// The indexes of the lists in the order of their turns; nil for all, in their order.
    private let order: [Int]?
    private var next = 0
    private var again: [Int] = []

    init(count: Int) { (self.count, order) = (count, nil) }

    /// Creates the queue of some of an endpoint's lists.
    init(order: [Int]) { (count, self.order) = (order.count, order) }

    var isEmpty: Bool { again.isEmpty && next == count }

    /// Removes the next list: first those to repeat, then the others in their order.
    mutating func take() -> (index: Int, isRepeated: Bool)? {
        if !again.isEmpty { return (again.removeFirst(), true) }
        guard next < count else { return nil }
        next += 1
        return (order?[next - 1] ?? next - 1, false)
    }

    /// Adds lists that lost pages, to be scanned again from their last committed page on.
    mutating func `repeat`(_ lists: Set<Int>) {
        again = lists.union(again).sorted()
        finished.subtract(lists)
    }

    /// Adds further lists behind all others. A queue of some of the lists has no further ones.
    mutating func append(_ more: Int) { if order == nil { count += more } }

    /// Removes all lists.
    mutating func removeAll() {
        next = count
        again = []
    }
}
