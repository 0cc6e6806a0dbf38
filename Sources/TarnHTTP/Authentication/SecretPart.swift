// A part of a secret in all the forms in which servers repeat it. Pure, on bytes.

/// A run of characters that nothing escapes, or one other character with all its escapes.
struct SecretPart: Sendable, Hashable {
    /// The forms, apart from the numeric references of HTML, which have any number of zeros.
    private let forms: [[UInt8]]
    /// The character of ``forms``; nil for a run.
    private let character: Unicode.Scalar?
    /// Whether a form may begin with a byte.
    private let isBeginning: [Bool]

    /// The part's only form; nil for a character that texts escape.
    var onlyForm: [UInt8]? { character == nil ? forms[0] : nil }

    /// Whether most bytes with which the forms begin are rare in JSON.
    var isRare: Bool { character.map { !"\"{}[]:, /".unicodeScalars.contains($0) } ?? true }

    /// Creates a part that is not escaped anywhere.
    init(run: [UInt8]) { self.init([run], nil) }

    /// Creates a part that texts escape.
    init(_ character: Unicode.Scalar) { self.init(SecretPart.forms(of: character), character) }

    private init(_ forms: [[UInt8]], _ character: Unicode.Scalar?) {
        self.forms = forms
        self.character = character
        var isBeginning = Array(repeating: false, count: 256)
        for form in forms { isBeginning[Int(form[0])] = true }
        if character != nil { isBeginning[Int(UInt8(ascii: "&"))] = true }
        self.isBeginning = isBeginning
    }

    // MARK: Forms

    /// The names of characters in HTML (HTML §13.5).
    private static let names: [Unicode.Scalar: [String]] = [
        "&": ["&amp;", "&AMP;"], "<": ["&lt;"], ">": ["&gt;"], "\"": ["&quot;"], "'": ["&apos;"], "+": ["&plus;"],
        "=": ["&equals;"], "/": ["&sol;"], "?": ["&quest;"],
    ]

    private static func forms(of scalar: Unicode.Scalar) -> [[UInt8]] {
        func hexadecimal(_ number: some BinaryInteger, _ width: Int) -> [String] {
            let digits = String(number, radix: 16)
            let padded = String(repeating: "0", count: max(0, width - digits.count)) + digits
            return [padded, padded.uppercased()]
        }
        let character = String(scalar), bytes = Array(character.utf8)
        var texts = [character]
        for isUpper in [0, 1] {
            // RFC 3986 §2.1; also of a URL in a parameter of another one, as of a login page.
            for percent in ["%", "%25"] { texts.append(bytes.map { percent + hexadecimal($0, 2)[isUpper] }.joined()) }
            // RFC 8259 §7
            texts.append(character.utf16.map { "\\u" + hexadecimal($0, 4)[isUpper] }.joined())
        }
        if scalar == " " { texts += ["+", "%2B", "%2b"] }
        if ["\"", "\\", "/"].contains(scalar) { texts.append("\\" + character) }
        for name in names[scalar] ?? [] { texts += [name, "\\u0026" + name.dropFirst()] }
        var forms = Set(texts.map { Array($0.utf8) })
        // ISO-8859-1
        if let byte = UInt8(exactly: scalar.value), byte >= 0x80 { forms.insert([byte]) }
        return Array(forms)
    }

    // MARK: Places

    /// Returns the first place from `from` on at which a form of the part may be; nil if there is
    /// none.
    func place(in text: UnsafeRawBufferPointer, from: Int) -> Int? {
        isBeginning.withUnsafeBufferPointer { isBeginning in
            var place = from
            while place < text.count {
                if isBeginning[Int(text[place])] { return place }
                place += 1
            }
            return nil
        }
    }

    /// Adds the ends of the forms that begin at a place.
    func addEnds(from place: Int, in text: UnsafeRawBufferPointer, to ends: inout [Int]) {
        func add(_ end: Int) { if !ends.contains(end) { ends.append(end) } }
        guard place < text.count, isBeginning[Int(text[place])] else { return }
        for form in forms where text.has(form, at: place) { add(place + form.count) }
        guard let character else { return }
        // JSON in a string of JSON has two backslashes for each one.
        let last = text.endOfBackslashes(from: place) - 1
        if last > place {
            for form in forms where form[0] == UInt8(ascii: "\\") && text.has(form, at: last) {
                add(last + form.count)
            }
        }
        if let found = text.characterReference(at: place), found.number == character.value { add(found.end) }
    }

    /// Adds the starts of the forms that end at a place.
    func addStarts(upTo end: Int, in text: UnsafeRawBufferPointer, to starts: inout [Int]) {
        func add(_ start: Int) { if !starts.contains(start) { starts.append(start) } }
        for form in forms where form.count <= end && text.has(form, at: end - form.count) {
            add(end - form.count)
            if form[0] == UInt8(ascii: "\\") { add(text.startOfBackslashes(upTo: end - form.count)) }
        }
        guard let character, end > 0, text[end - 1] == UInt8(ascii: ";") else { return }
        let earliest = max(0, end - UnsafeRawBufferPointer.longestReference)
        guard let mark = (earliest..<end).last(where: { text[$0] == UInt8(ascii: "#") }) else { return }
        for ampersand in UnsafeRawBufferPointer.ampersands where ampersand.count <= mark {
            let start = mark - ampersand.count
            guard text.has(ampersand, at: start), let found = text.characterReference(at: start), found.end == end,
                found.number == character.value
            else { continue }
            add(start)
            if ampersand.count > 1 { add(text.startOfBackslashes(upTo: start)) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The begin of a character reference of HTML, also in JSON.
    fileprivate static let ampersands = ["&", "\\u0026"].map { Array($0.utf8) }
    /// The longest part of a numeric reference from `#` on: more zeros are not expected.
    fileprivate static let longestReference = 16

    /// Returns whether bytes are at a place.
    @inline(__always)
    fileprivate func has(_ bytes: [UInt8], at place: Int) -> Bool {
        guard bytes.count <= count - place, self[place] == bytes[0] else { return false }
        for index in bytes.indices.dropFirst() where self[place + index] != bytes[index] { return false }
        return true
    }

    /// The most backslashes in a row that are those of one escape.
    private static let mostBackslashes = 16

    /// Returns the end of the backslashes that begin at a place; the place itself if none does.
    fileprivate func endOfBackslashes(from place: Int) -> Int {
        let latest = Swift.min(count, place + Self.mostBackslashes)
        var end = place
        while end < latest, self[end] == UInt8(ascii: "\\") { end += 1 }
        return end
    }

    /// Returns the start of the backslashes that end at a place; the place itself if none does.
    fileprivate func startOfBackslashes(upTo place: Int) -> Int {
        let earliest = Swift.max(0, place - Self.mostBackslashes)
        var start = place
        while start > earliest, self[start - 1] == UInt8(ascii: "\\") { start -= 1 }
        return start
    }

    /// Returns the end of the ampersand that begins at a place, of any of its forms in JSON; nil if
    /// none does.
    private func endOfAmpersand(_ place: Int) -> Int? {
        let last = Swift.max(place, endOfBackslashes(from: place) - 1)
        for ampersand in Self.ampersands where has(ampersand, at: last) { return last + ampersand.count }
        return nil
    }

    /// Returns the number and the end of a numeric character reference (HTML §13.5), such as
    /// `&#038;` or `&#x26;`; nil if there is none.
    fileprivate func characterReference(at place: Int) -> (number: UInt32, end: Int)? {
        guard let mark = endOfAmpersand(place), mark < count, self[mark] == UInt8(ascii: "#") else { return nil }
        var index = mark + 1, digits: [UInt8] = []
        let isHexadecimal = index < count && self[index] | 0x20 == UInt8(ascii: "x")
        if isHexadecimal { index += 1 }
        while index < count, index - mark < Self.longestReference, self[index] != UInt8(ascii: ";") {
            digits.append(self[index])
            index += 1
        }
        guard index < count, self[index] == UInt8(ascii: ";"), digits.first != UInt8(ascii: "+"),
            let number = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10)
        else { return nil }
        return (number, index + 1)
    }

    /// Returns the end of the character reference that begins at a place, by number or by name;
    /// nil if none does.
    func endOfReference(at place: Int) -> Int? {
        if let found = characterReference(at: place) { return found.end }
        guard let start = endOfAmpersand(place) else { return nil }
        let rest = self[start...].prefix(32)
        let name = rest.prefix { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
        guard name.count > 1, name.endIndex < rest.endIndex, self[name.endIndex] == UInt8(ascii: ";") else {
            return nil
        }
        return name.endIndex + 1
    }
}
