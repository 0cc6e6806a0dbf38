// The positions of numbers in a document's text: simdjson's tape has only their values.

/// The tape indexes of doubles and their byte offsets in the document, in ascending order.
struct NumberTexts {
    private var places: [Int] = []
    private var offsets: [UInt32] = []

    init() {}

    /// Adds a double. Calls must be in ascending order.
    mutating func add(place: Int, offset: Int) {
        places.append(place)
        offsets.append(UInt32(offset))
    }

    /// Locates all doubles by a pass over the tape and the tokens in parallel.
    ///
    /// A container has one token at each end, and a comma between elements. In an object, a colon
    /// follows each key. Everything else is one token.
    init(_ tape: Tape, _ structurals: UnsafeBufferPointer<UInt32>) {
        struct Container {
            var isObject: Bool
            var end: Int
            var isEmptySoFar = true
            var isAtKey = true
        }
        var containers: [Container] = [], token = 0, index = Tape.root
        let end = tape.next(Tape.root)
        while index < end {
            if let last = containers.last, index == last.end {
                containers.removeLast()
                token += 1
                index += 1
                continue
            }
            if var container = containers.popLast() {
                if container.isObject {
                    if container.isAtKey {
                        if !container.isEmptySoFar { token += 1 }  // the comma
                        container.isEmptySoFar = false
                        container.isAtKey = false
                        containers.append(container)
                        token += 2  // the key and the colon
                        index += 1
                        continue
                    }
                    container.isAtKey = true
                } else {
                    if !container.isEmptySoFar { token += 1 }
                    container.isEmptySoFar = false
                }
                containers.append(container)
            }
            switch tape.kind(index) {
            case .object?, .array?:
                containers.append(Container(isObject: tape.kind(index) == .object, end: tape.end(index)))
                token += 1
                index += 1
            case .double?:
                if token < structurals.count {
                    places.append(index)
                    offsets.append(structurals[token])
                }
                token += 1
                index = tape.next(index)
            default:
                token += 1
                index = tape.next(index)
            }
        }
    }

    /// Returns the byte offset of the double at a tape index; nil if it is not a known double.
    func offset(of place: Int) -> Int? {
        var low = 0, high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low] == place ? Int(offsets[low]) : nil
    }

    static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
