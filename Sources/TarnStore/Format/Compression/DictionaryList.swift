// The dictionaries of a store at one generation.

/// All dictionaries by id. The current one of an entity has the highest id.
struct DictionaryList: Sendable {
    private var byID: [RowDictionary?] = []
    private var byEntity: [RowDictionary?] = []
    /// Those of `byID`, which retains them.
    private var unretained: [Unmanaged<RowDictionary>?] = []

    init(_ list: [(entity: UInt16, dictionary: RowDictionary)]) {
        for (entity, dictionary) in list.sorted(by: { $0.dictionary.id < $1.dictionary.id }) {
            DictionaryList.set(&byID, Int(dictionary.id), dictionary)
            DictionaryList.set(&byEntity, Int(entity), dictionary)
        }
        unretained = byID.map { $0.map(Unmanaged.passUnretained) }
    }

    var isEmpty: Bool { byID.isEmpty }

    /// Returns a dictionary, which the list retains.
    subscript(id: UInt16) -> Unmanaged<RowDictionary>? { Int(id) < unretained.count ? unretained[Int(id)] : nil }

    func current(of entity: UInt16) -> RowDictionary? { Int(entity) < byEntity.count ? byEntity[Int(entity)] : nil }

    private static func set(_ list: inout [RowDictionary?], _ position: Int, _ dictionary: RowDictionary) {
        while list.count <= position { list.append(nil) }
        list[position] = dictionary
    }
}
