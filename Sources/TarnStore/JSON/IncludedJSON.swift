/// The included targets of a query as JSON objects, each written once.
struct IncludedJSON {
    /// The name of the member: those of the path, joined with dots.
    let name: String
    let first: RelatedKeys
    private let isToMany: Bool
    private let plan: Unmanaged<RowPlan>
    private let follow: () throws -> (chain: [IncludedPlaces], last: RelatedKeys)
    private var chain: [IncludedPlaces] = []
    private var places: IncludedPlaces?
    /// The objects, one after the other, and the end of each.
    private var objects: [UInt8] = []
    private var ends: [Int] = []

    init<Column: RelationshipColumn>(
        _ reader: StoreReader, _ owner: Unmanaged<RowPlan>, _ column: Column
    ) throws {
        let path = try reader.path(column, owner)
        name = column.names.joined(separator: ".")
        isToMany = Column.isToMany
        first = path.first
        plan = try path.plan()
        follow = path.follow
    }

    /// Reads the targets, after all records have been added to ``first``.
    mutating func load() throws {
        let (chain, last) = try follow()
        var text = JSONText(), ends: [Int] = []
        places = try last.load(plan) { row in
            try row.appendJSON(to: &text)
            ends.append(text.count)
            return true
        }
        self.chain = chain
        self.ends = ends
        objects = Array(text.writer.bytes)
    }

    /// Appends the targets of the record at a position.
    func append(of position: Int, to text: inout JSONText) {
        var targets: [Int] = [position]
        for places in chain { targets = targets.flatMap { places.targets(of: $0).map(Int.init) } }
        if let places { targets = targets.flatMap { places.targets(of: $0).map(Int.init) } }
        if isToMany { text.append(UInt8(ascii: "[")) }
        for (place, target) in (isToMany ? targets[...] : targets.prefix(1)).enumerated() {
            if place > 0 { text.append(UInt8(ascii: ",")) }
            objects.withUnsafeBytes { objects in
                text.append(json: Bytes(rebasing: objects[(target == 0 ? 0 : ends[target - 1])..<ends[target]]))
            }
        }
        if isToMany { text.append(UInt8(ascii: "]")) } else if targets.isEmpty { text.append(json: "null") }
    }
}
