internal import TarnStore

/// The bodies of a unit that may have to be drafted at its commit, in the order of the unit.
struct KeptBodies {
    struct Body {
        var bytes: [UInt8]
        var lists: RecordLists
        var context: ImportContext
        /// The recognised part of the body; nil if all of it is drafted.
        var repeated: RepeatedBodies.Body?
    }

    private(set) var bodies: [Body] = []
    /// Whether a body was drafted that is not kept: no later one can be recognised.
    private var hasGaps = false
    /// The number of elements whose records were noted.
    private(set) var elementCount = 0
    private(set) var byteCount = 0

    /// Whether a body is recognised, or elements of one. All bodies are kept then.
    private(set) var hasRepeated = false

    /// The size of all bodies of a unit above which the next ones are not recognised.
    private static let mostBytes = 64 << 20

    /// Whether the next body may be recognised.
    var canRecognize: Bool { !hasGaps && byteCount <= KeptBodies.mostBytes }

    /// Adds a body. A drafted one is kept if another one of the unit is recognised, or may be.
    ///
    /// - Parameter hasEntry: whether its request has an entry: those of later bodies do, too.
    mutating func add(_ body: Body, hasEntry: Bool) {
        guard hasRepeated || body.repeated != nil || hasEntry && canRecognize else {
            (hasGaps, bodies, byteCount) = (true, [], 0)
            return
        }
        hasRepeated = hasRepeated || body.repeated != nil
        bodies.append(body)
        byteCount += body.bytes.count
    }

    /// Returns the number of the next element.
    mutating func nextElement() -> Int {
        elementCount += 1
        return elementCount
    }
}
