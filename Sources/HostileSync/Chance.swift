// The random numbers of one input; equal seeds and numbers give equal inputs.

struct Chance {
    private var state: UInt64

    init(seed: UInt64, input: Int) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: input) &* 0xD1B5_4A32_D192_ED03
        _ = next()
    }

    /// Returns the next number (SplitMix64).
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    /// Returns a number from 0 up to, but not including, the bound.
    mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(next() % UInt64(bound)) }

    mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Returns true once in `times` calls on average.
    mutating func once(in times: Int) -> Bool { below(times) == 0 }

    /// Returns a length below the bound, mostly a small one.
    mutating func length(_ bound: Int) -> Int {
        var limit = 4
        while limit < bound, once(in: 2) { limit *= 4 }
        return below(min(limit, bound))
    }
}
