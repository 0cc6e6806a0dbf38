// Where the numbers of a document stand in its text: simdjson's tape keeps only their values.

internal import TarnStore

/// Places of doubles on a tape, and their byte offsets, in order.
struct NumberTexts {
    private var places: [Int] = []
    private var offsets: [UInt32] = []

    init() {}

    /// In order.
    mutating func add(place: Int, offset: Int) {
        places.append(place)
        offsets.append(UInt32(offset))
    }

    /// Walks the tape beside the tokens: a container has one token at each end, a comma between its elements, and in an object
    /// a colon behind each key; everything else is one token.
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
            UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }
}
