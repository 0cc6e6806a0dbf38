/// The endpoints that are still to be scanned, by their indexes.
///
/// They may be thousands: an API that has no room, or no further endpoint, costs one look for all
/// of its endpoints.
struct EndpointQueue {
    private let predecessors: [BitSet]
    /// The APIs, and the number of that of each endpoint.
    private let apis: [String?], api: [Int]
    private let isSequential: Bool
    /// The maximum number of endpoints of an API that are scanned side by side.
    var most: [String?: Int] = [:]
    /// Whether the maximum is for all APIs together.
    var isShared = false
    private var waiting: [Int]
    private var unfinished: BitSet
    /// The numbers of endpoints that are being scanned, by API.
    private var running: [Int]

    /// - Parameters:
    ///   - groups: the API of each endpoint.
    ///   - isSequential: whether the order of the description counts, and no other.
    init(_ order: SyncOrder, groups: [String?], isSequential: Bool) {
        predecessors = order.predecessors
        waiting = Array(order.predecessors.indices)
        unfinished = BitSet(bound: waiting.count)
        for index in waiting { unfinished.insert(index) }
        var apis: [String?] = [], numbers: [String?: Int] = [:]
        api = groups.map { group in
            if let known = numbers[group] { return known }
            numbers[group] = apis.count
            apis.append(group)
            return apis.count - 1
        }
        self.apis = apis
        running = Array(repeating: 0, count: apis.count)
        self.isSequential = isSequential
    }

    private func hasRoom(_ api: Int) -> Bool {
        let count = isSequential || isShared ? running.reduce(0, +) : running[api]
        return count < most[apis[api]] ?? 1
    }

    /// Removes the first endpoint that may begin; nil if all of them wait for others.
    ///
    /// - Parameter isStopped: whether no further endpoint of an API is to begin.
    mutating func take(unless isStopped: (String?) -> Bool) -> Int? {
        let isOpen = apis.map { !isStopped($0) }
        let isFree = apis.indices.map { isOpen[$0] && hasRoom($0) }
        guard isFree.contains(true) else { return nil }
        let first = waiting.firstIndex { isOpen[api[$0]] }
        let position = isSequential ? first : waiting.firstIndex { isFree[api[$0]] && isReady($0) }
        // Endpoints that wait for one another begin in the order of the description.
        let isIdle = running.allSatisfy { $0 == 0 }
        guard let position = position ?? (isIdle ? first : nil), isFree[api[waiting[position]]] else { return nil }
        running[api[waiting[position]]] += 1
        return waiting.remove(at: position)
    }

    private func isReady(_ index: Int) -> Bool { predecessors[index].isDisjoint(with: unfinished) }

    mutating func ended(_ index: Int) {
        running[api[index]] -= 1
        unfinished.remove(index)
    }
}
