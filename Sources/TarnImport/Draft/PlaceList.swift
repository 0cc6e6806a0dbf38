// Where the values of an object were found: filled for every object, so it is memory that is kept, without counting.

/// For each slot of an entity the place of the best value so far, and the place of a null.
struct PlaceList: ~Copyable {
    struct Place {
        /// On the tape; -1 if there is none.
        var value = -1
        /// Among the slot's alternates.
        var rank = Int.max
        var null = -1
    }

    private var places: UnsafeMutableBufferPointer<Place>
    private var count = 0

    init() {
        places = .allocate(capacity: 64)
        places.initialize(repeating: Place())
    }

    deinit { places.deallocate() }

    /// Forgets what was found, and makes room for that many slots.
    mutating func reset(_ count: Int) {
        if count > places.count {
            places.deallocate()
            places = .allocate(capacity: count * 2)
            places.initialize(repeating: Place())
        }
        for position in 0..<count { places[position] = Place() }
        self.count = count
    }

    subscript(position: Int) -> Place {
        get {
            precondition(position >= 0 && position < count)
            return places[position]
        }
        set {
            precondition(position >= 0 && position < count)
            places[position] = newValue
        }
    }
}
