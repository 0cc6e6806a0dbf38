/// The observed records by the keys that have replaced theirs.
///
/// An alias changes with the outbox only: for other commits, no observed key is looked up.
struct ReplacedKeys: Sendable {
    /// The state of the outbox and of the observers.
    struct State: Sendable, Equatable {
        var incarnation: String
        var revision: UInt64
        /// The number of changes of the observed records.
        var observers: UInt64
    }

    private let state: State?
    private var places: [RecordPlace: [RecordPlace]] = [:]

    init() { state = nil }

    /// Looks up the aliases of all observed records.
    ///
    /// - Throws: the errors of the store.
    init(of observed: some Sequence<RecordPlace>, _ state: State, _ access: StoreAccess) throws {
        self.state = state
        for place in observed {
            for key in try access.outbox.replacements(ListedRecord(entity: place.root, storageKey: place.key)) {
                places[RecordPlace(root: place.root, key: key), default: []].append(place)
            }
        }
    }

    func isCurrent(_ state: State) -> Bool { self.state == state }

    /// The observed places of a record that is stored under another key now.
    subscript(place: RecordPlace) -> [RecordPlace] { places[place] ?? [] }
}
