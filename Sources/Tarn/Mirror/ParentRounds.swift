// The records for which an endpoint is requested, in the order in which a scan has found them.

/// The parents of an endpoint's lists: those that are stored when the scan begins, and those that
/// its own lists bring, as the records of a tree.
///
/// Each list has an index that stays the same when further parents are added.
struct ParentRounds {
    /// All parents; nil for the list without one.
    private(set) var all: [ParentRecord?] = []
    private var partitions: [[Endpoint.Parameter]] = []
    /// The first list of each round, and its parents as indexes of all.
    private var rounds: [(first: Int, parents: Range<Int>)] = []
    /// The keys, and the values of the paths, of all parents; nil before they are needed.
    private var known: (keys: Set<RecordKey>, values: Set<[String: String]>)?

    init() {}

    init(_ parents: [ParentRecord?], partitions: [[Endpoint.Parameter]]) {
        self.partitions = partitions
        append(parents)
    }

    /// The number of lists: one for each parent and each combination of the partitions.
    var count: Int { all.count * partitions.count }

    /// The number of lists that each parent has.
    var listsOfEach: Int { partitions.count }

    /// Adds the parents of a further round.
    mutating func append(_ parents: [ParentRecord?]) {
        rounds.append((count, all.count..<all.count + parents.count))
        all += parents
        guard known != nil else { return }
        known?.keys.formUnion(parents.compactMap { $0?.key })
        known?.values.formUnion(parents.compactMap { $0?.values })
    }

    /// The request of the list with an index.
    func list(at index: Int, of request: EndpointRequest) -> EndpointRequest {
        guard let round = rounds.last(where: { $0.first <= index }), !round.parents.isEmpty else { return request }
        let (partition, parent) = (index - round.first).quotientAndRemainder(dividingBy: round.parents.count)
        return request.list(partitions[partition], all[round.parents.lowerBound + parent])
    }

    /// The records that are not among the parents.
    ///
    /// - Parameter isByKey: whether each record has a list of its own. Otherwise one request stands
    ///   for all records with equal values.
    mutating func others(in found: [ParentRecord], isByKey: Bool) -> [ParentRecord] {
        let known = known ?? (Set(all.compactMap { $0?.key }), Set(all.compactMap { $0?.values }))
        self.known = known
        return found.filter { !known.keys.contains($0.key) && (isByKey || !known.values.contains($0.values)) }
    }
}
