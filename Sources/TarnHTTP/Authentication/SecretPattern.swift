// A secret in all the forms in which servers repeat it: in JSON, in URLs, in HTML. Pure, on bytes.

import Foundation

/// A secret, and the ways in which texts escape its characters.
struct SecretPattern: Sendable {
    /// The parts of the secret in order, each in all its forms.
    ///
    /// Letters, digits and `-._~` are not escaped anywhere: a run of them is one part of one form.
    private var parts: [[[UInt8]]] = []
    /// The index of the longest part of one form; nil if there is none.
    private var anchor: Int?
    /// The number of bytes of the secret.
    let length: Int

    init(_ secret: String) {
        length = secret.utf8.count
        var run: [UInt8] = []
        func finish(_ parts: inout [[[UInt8]]]) {
            if !run.isEmpty { parts.append([run]) }
            run = []
        }
        for scalar in secret.unicodeScalars {
            if SecretPattern.isPlain(scalar) {
                run.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                finish(&parts)
                parts.append(SecretPattern.forms(of: scalar))
            }
        }
        finish(&parts)
        anchor = parts.indices.filter { parts[$0].count == 1 }.max { parts[$0][0].count < parts[$1][0].count }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": true
        default: false
        }
    }

    /// The names of characters in HTML (HTML §13.5).
    private static let names: [Unicode.Scalar: [String]] = [
        "&": ["&amp;"], "<": ["&lt;"], ">": ["&gt;"], "\"": ["&quot;"], "'": ["&apos;"], "+": ["&plus;"],
        "=": ["&equals;"], "/": ["&sol;"],
    ]

    /// Returns the forms of a character.
    private static func forms(of scalar: Unicode.Scalar) -> [[UInt8]] {
        func hexadecimal(_ number: some BinaryInteger, _ width: Int) -> [String] {
            let digits = String(number, radix: 16)
            let padded = String(repeating: "0", count: max(0, width - digits.count)) + digits
            return [padded, padded.uppercased()]
        }
        let character = String(scalar), bytes = Array(character.utf8)
        var texts = [character]
        for isUpper in [0, 1] {
            // RFC 3986 §2.1
            texts.append(bytes.map { "%" + hexadecimal($0, 2)[isUpper] }.joined())
            // RFC 8259 §7
            texts.append(character.utf16.map { "\\u" + hexadecimal($0, 4)[isUpper] }.joined())
            texts.append("&#x\(hexadecimal(scalar.value, 1)[isUpper]);")
        }
        texts.append("&#\(scalar.value);")
        if scalar == " " { texts.append("+") }
        if ["\"", "\\", "/"].contains(scalar) { texts.append("\\" + character) }
        texts += names[scalar] ?? []
        var forms = Set(texts.map { Array($0.utf8) })
        // ISO-8859-1
        if let byte = UInt8(exactly: scalar.value), byte >= 0x80 { forms.insert([byte]) }
        return Array(forms)
    }

    /// Returns the places of the secret, in order and without overlaps.
    func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        guard !parts.isEmpty else { return [] }
        var found: [Range<Int>] = [], from = 0
        let first = anchor ?? 0, known = anchor.map { parts[$0][0] } ?? []
        let before = parts[..<first], after = parts[(anchor.map { $0 + 1 } ?? 0)...]
        while let place = SecretPattern.place(of: known, in: bytes, from: from) {
            from = place + 1
            guard let end = SecretPattern.end(after, in: bytes, from: place + known.count),
                let start = SecretPattern.start(before, in: bytes, upTo: place),
                start >= found.last?.upperBound ?? 0
            else { continue }
            found.append(start..<end)
            from = max(from, end)
        }
        return found
    }

    /// Returns the first place of a text, which is `from` for an empty one; nil if there is none.
    private static func place(of text: [UInt8], in bytes: [UInt8], from: Int) -> Int? {
        guard from < bytes.count, bytes.count - from >= text.count else { return nil }
        guard let first = text.first else { return from }
        return bytes.withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress else { return nil }
            return text.withUnsafeBytes { text -> Int? in
                guard let wanted = text.baseAddress else { return nil }
                var from = from
                while from + text.count <= bytes.count {
                    let length = bytes.count - text.count + 1 - from
                    guard let hit = memchr(base + from, Int32(first), length) else { return nil }
                    let place = base.distance(to: UnsafeRawPointer(hit))
                    if memcmp(base + place, wanted, text.count) == 0 { return place }
                    from = place + 1
                }
                return nil
            }
        }
    }

    /// Returns the farthest end of consecutive parts from a place on; nil if they are not there.
    private static func end(_ parts: ArraySlice<[[UInt8]]>, in bytes: [UInt8], from: Int) -> Int? {
        var places: Set<Int> = [from]
        for forms in parts {
            var next: Set<Int> = []
            for place in places {
                for form in forms where bytes[place...].starts(with: form) { next.insert(place + form.count) }
            }
            if next.isEmpty { return nil }
            places = next
        }
        return places.max()
    }

    /// Returns the farthest start of consecutive parts that end at a place; nil if they do not.
    private static func start(_ parts: ArraySlice<[[UInt8]]>, in bytes: [UInt8], upTo end: Int) -> Int? {
        var places: Set<Int> = [end]
        for forms in parts.reversed() {
            var next: Set<Int> = []
            for place in places {
                for form in forms
                where form.count <= place && bytes[(place - form.count)..<place].elementsEqual(form) {
                    next.insert(place - form.count)
                }
            }
            if next.isEmpty { return nil }
            places = next
        }
        return places.min()
    }
}
