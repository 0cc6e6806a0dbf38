// Where the values of an object were found: filled for every object, so it is memory that is kept, without counting.

internal import TarnStore

/// For each slot of an entity the place of the best value so far, and the place of a null. Behind them the places from which other
/// sources lead on.
struct PlaceList: ~Copyable {
    struct Place {
        /// -1 if there is none. An index of the document's tape, unless its ``Kind`` says otherwise.
        var value = -1
        /// Among the slot's alternates.
        var rank = Int.max
        var null = -1

        /// Which tape a place is on, in the upper bits of its number.
        enum Kind: Int {
            /// In the record's own JSON, or in what its JSON leads to.
            case inside = 0
            /// On the same tape, elsewhere: nothing is drafted from there.
            case outside
            /// Among the values of the document.
            case document
            /// Among what was made for this record.
            case made
            /// A list of places inside, or outside.
            case list, outerList
            /// The record that this one is nested in.
            case owner
        }

        /// Whether it is there, and in the record's own JSON: nearly always.
        @inline(__always)
        static func isInside(_ value: Int) -> Bool { UInt(bitPattern: value) >> 56 == 0 }

        @inline(__always)
        static func kind(_ value: Int) -> Kind { value < 0 ? .inside : Kind(rawValue: value >> 56) ?? .inside }

        @inline(__always)
        static func index(_ value: Int) -> Int { value & 0x00FF_FFFF_FFFF_FFFF }

        static func number(_ kind: Kind, _ index: Int) -> Int { index | kind.rawValue << 56 }
    }

    private var places: UnsafeMutableBufferPointer<Place>
    private var count = 0
    /// What was made for this record.
    var made = MadeTape()
    /// Lists of places: where each ends in `elements`.
    private(set) var elements: [Int] = []
    private var ends: [Int] = []
    /// The tape of the document's values; set where there are any.
    var document: Tape?

    init() {
        places = .allocate(capacity: 64)
        places.initialize(repeating: Place())
    }

    deinit { places.deallocate() }

    /// Forgets what was found, and makes room for that many places.
    mutating func reset(_ count: Int) {
        if count > places.count {
            places.deallocate()
            places = .allocate(capacity: count * 2)
            places.initialize(repeating: Place())
        }
        for position in 0..<count { places[position] = Place() }
        self.count = count
    }

    /// Forgets what other sources than keys gave.
    mutating func resetExtras() {
        made.removeAll()
        elements.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
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

    mutating func addElement(_ index: Int) { elements.append(index) }

    /// The number of the list of the elements that were added since the last one.
    mutating func finishList() -> Int {
        ends.append(elements.count)
        return ends.count - 1
    }

    /// The elements of a list.
    func list(_ value: Int) -> Range<Int> {
        let number = Place.index(value)
        return (number == 0 ? 0 : ends[number - 1])..<ends[number]
    }

    /// The tape and the index that a place means; not for lists and owners.
    @inline(__always)
    func at(_ value: Int, _ tape: Tape) -> (tape: Tape, index: Int) {
        switch Place.kind(value) {
        case .inside, .list, .outerList, .owner: (tape, value)
        case .outside: (tape, Place.index(value))
        case .document: (document ?? tape, Place.index(value))
        case .made: (made.tape(beside: tape), Place.index(value))
        }
    }
}
