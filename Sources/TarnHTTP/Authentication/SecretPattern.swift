// A secret in all the forms in which servers repeat it: in JSON, in URLs, in HTML. Pure, on bytes.

import Foundation

/// A secret, and the ways in which texts escape its characters.
struct SecretPattern: Sendable, Hashable {
    /// The parts of the secret in order.
    ///
    /// Letters, digits and `-._~` are not escaped anywhere: a run of them is one part of one form.
    private var parts: [SecretPart] = []
    /// The index of the part that is looked for first.
    ///
    /// It is the longest part of one form. If there is none, it is a part whose forms are rare.
    private let anchor: Int
    /// The number of bytes of the secret.
    let length: Int

    init(_ secret: String) {
        length = secret.utf8.count
        var run: [UInt8] = []
        func finish(_ parts: inout [SecretPart]) {
            if !run.isEmpty { parts.append(SecretPart(run: run)) }
            run = []
        }
        for scalar in secret.unicodeScalars {
            if SecretPattern.isPlain(scalar) {
                run.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                finish(&parts)
                parts.append(SecretPart(scalar))
            }
        }
        finish(&parts)
        anchor = SecretPattern.anchor(of: parts)
    }

    private static func anchor(of parts: [SecretPart]) -> Int {
        func length(_ index: Int) -> Int { parts[index].onlyForm?.count ?? 0 }
        let longest = parts.indices.max { length($0) < length($1) }
        if let longest, length(longest) > 0 { return longest }
        return parts.firstIndex(where: \.isRare) ?? 0
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": true
        default: false
        }
    }

    /// Returns the places of the secret, in order and without overlaps.
    func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        guard !parts.isEmpty else { return [] }
        return bytes.withUnsafeBytes(ranges)
    }

    private func ranges(in text: UnsafeRawBufferPointer) -> [Range<Int>] {
        var found: [Range<Int>] = [], from = 0
        while let place = place(in: text, from: from) {
            from = place + 1
            guard let end = end(in: text, from: place), let start = start(in: text, upTo: place),
                start >= found.last?.upperBound ?? 0
            else { continue }
            found.append(start..<end)
            from = max(from, end)
        }
        return found
    }

    /// Returns the first place at which the anchor may be; nil if there is none.
    private func place(in text: UnsafeRawBufferPointer, from: Int) -> Int? {
        guard let run = parts[anchor].onlyForm else { return parts[anchor].place(in: text, from: from) }
        guard let base = text.baseAddress, let first = run.first else { return nil }
        return run.withUnsafeBytes { run -> Int? in
            guard let wanted = run.baseAddress else { return nil }
            var from = from
            while from + run.count <= text.count {
                let length = text.count - run.count + 1 - from
                guard let hit = memchr(base + from, Int32(first), length) else { return nil }
                let place = base.distance(to: UnsafeRawPointer(hit))
                if memcmp(base + place, wanted, run.count) == 0 { return place }
                from = place + 1
            }
            return nil
        }
    }

    /// Returns the farthest end of the parts from the anchor on; nil if they are not there.
    private func end(in text: UnsafeRawBufferPointer, from: Int) -> Int? {
        var places = [from]
        for part in parts[anchor...] {
            var next: [Int] = []
            for place in places { part.addEnds(from: place, in: text, to: &next) }
            if next.isEmpty { return nil }
            places = next
        }
        return places.max()
    }

    /// Returns the farthest start of the parts before the anchor; nil if they are not there.
    private func start(in text: UnsafeRawBufferPointer, upTo end: Int) -> Int? {
        var places = [end]
        for part in parts[..<anchor].reversed() {
            var next: [Int] = []
            for place in places { part.addStarts(upTo: place, in: text, to: &next) }
            if next.isEmpty { return nil }
            places = next
        }
        return places.min()
    }
}
