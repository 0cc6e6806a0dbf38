// The places of an object's values. A list is filled for every object, so its memory is reused.

/// For each slot of an entity, the place of the best value so far and the place of a null.
///
/// The places where extra sources start follow the slots. The places are raw memory, which is
/// reset for every object; the subscript checks each position in every build.
struct PlaceList: ~Copyable {
    struct Place {
        /// An index of the document's tape, unless its ``Kind`` differs; -1 if there is no value.
        var value = -1
        /// The rank of the value among the slot's alternates.
        var rank = Int.max
        var null = -1

        /// The tape of a place, in the upper bits of its number.
        enum Kind: Int {
            /// In the record's own JSON, or in JSON that its paths lead to.
            case inside = 0
            /// Elsewhere on the same tape: nothing is drafted from there.
            case outside
            /// On the tape of the document's values.
            case document
            /// On the tape of values made for this record.
            case made
            /// A list of inside places, or of outside places.
            case list, outerList
            /// The enclosing record.
            case owner
        }

        /// Returns whether a value exists and is in the record's own JSON: nearly always true.
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
    /// The values made for this record.
    var made = MadeTape()
    /// The elements of all lists of places; `ends` has the end of each list.
    private(set) var elements: [Int] = []
    private var ends: [Int] = []
    /// The places of the names of the members in which values were found, by the places of these.
    private var names: [Int: Int] = [:]
    /// The tape of the document's values; nil if there are none.
    var document: Tape?

    init() {
        places = .allocate(capacity: 64)
        places.initialize(repeating: Place())
    }

    deinit { places.deallocate() }

    /// Removes all places, and reserves this number of places.
    mutating func reset(_ count: Int) {
        if count > places.count {
            places.deallocate()
            places = .allocate(capacity: count * 2)
            places.initialize(repeating: Place())
        }
        for position in 0..<count { places[position] = Place() }
        self.count = count
        // A record without extra sources has values at the same places of another tape.
        if !names.isEmpty { names.removeAll(keepingCapacity: true) }
    }

    /// Removes the results of extra sources.
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

    /// Notes the name of the member in which a value was found.
    mutating func note(name: Int, of value: Int) { names[value] = name }

    /// Returns the place of the name of the member in which a value was found; -1 for none.
    func name(of value: Int) -> Int { names.isEmpty ? -1 : names[value] ?? -1 }

    /// Ends the list of the elements added since the previous list, and returns its number.
    mutating func finishList() -> Int {
        ends.append(elements.count)
        return ends.count - 1
    }

    /// Returns the range of a list's elements.
    func list(_ value: Int) -> Range<Int> {
        let number = Place.index(value)
        return (number == 0 ? 0 : ends[number - 1])..<ends[number]
    }

    /// Returns the tape and the index of a place that is neither a list nor the owner.
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
