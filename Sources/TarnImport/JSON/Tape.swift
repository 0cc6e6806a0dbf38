import CSimdJSON
internal import TarnStore

/// The parsed document as simdjson's tape. Valid as long as its parser keeps the document.
///
/// A word has 64 bits: a type in the top 8 bits, and a payload in the rest (simdjson's
/// `doc/tape.md`).
///
/// The tape is raw memory of the parser: drafting reads each of its words. It is well-formed, as
/// simdjson or `ExactParser` has written it, and every index comes from it: from `root`, `next`,
/// `end`, or the position of a key before its value. No index or length comes from the document
/// itself.
struct Tape {
    let words: UnsafeBufferPointer<UInt64>
    let strings: UnsafeRawPointer
    /// The owner of the document's memory. The user of a tape must keep the parser alive.
    unowned(unsafe) let parser: JSONParser

    enum Kind: UInt8 {
        case object = 0x7B, array = 0x5B, string = 0x22, int = 0x6C, uint = 0x75, double = 0x64
        case `true` = 0x74, `false` = 0x66, null = 0x6E
    }

    /// The index of the document's value.
    static let root = 1

    @inline(__always)
    func kind(_ index: Int) -> Kind? { Kind(rawValue: UInt8(truncatingIfNeeded: words[index] >> 56)) }

    @inline(__always)
    private func payload(_ index: Int) -> UInt64 { words[index] & 0x00FF_FFFF_FFFF_FFFF }

    /// Returns the index after a value.
    @inline(__always)
    func next(_ index: Int) -> Int {
        switch words[index] >> 56 {
        case 0x7B, 0x5B: Int(payload(index) & 0xFFFF_FFFF)
        case 0x6C, 0x75, 0x64: index + 2
        default: index + 1
        }
    }

    /// Returns the index of the closing word of an object or array.
    @inline(__always)
    func end(_ index: Int) -> Int { Int(payload(index) & 0xFFFF_FFFF) - 1 }

    /// Returns whether an object or array has no elements.
    func isEmpty(_ index: Int) -> Bool { end(index) == index + 1 }

    /// Returns the unescaped UTF-8 text of a string or key.
    @inline(__always)
    func string(_ index: Int) -> Bytes {
        let start = strings + Int(payload(index))
        return Bytes(start: start + 4, count: Int(start.loadUnaligned(as: UInt32.self)))
    }

    /// Returns the bytes of all strings from one to another, each with its preceding length.
    ///
    /// simdjson writes strings side by side, in the order of the document.
    func strings(from first: Int, through last: Int) -> Bytes {
        let start = Int(payload(first)), lastText = string(last)
        return Bytes(start: strings + start, count: Int(payload(last)) + 4 + lastText.count - start)
    }

    @inline(__always)
    func int(_ index: Int) -> Int64 { Int64(bitPattern: words[index + 1]) }

    @inline(__always)
    func uint(_ index: Int) -> UInt64 { words[index + 1] }

    @inline(__always)
    func double(_ index: Int) -> Double { Double(bitPattern: words[index + 1]) }

    /// Returns the text, as written, of a number that is a double on the tape.
    func numberText(_ index: Int) -> Bytes? { parser.numberText(index, self) }

    /// Calls the closure with the index of every element of an array.
    @inline(__always)
    func forEachElement<Failure: Error>(_ index: Int, _ body: (Int) throws(Failure) -> Void) throws(Failure) {
        let end = end(index)
        var i = index + 1
        while i < end {
            try body(i)
            i = next(i)
        }
    }

    /// Calls the closure with every element of an array, or every value of an object, and the index
    /// of its name; -1 for an element (RFC 9535 §2.3.2).
    ///
    /// - Returns: whether the value is an array or an object.
    @discardableResult
    func forEachChild(_ index: Int, _ body: (_ value: Int, _ name: Int) -> Void) -> Bool {
        let kind = kind(index)
        guard kind == .array || kind == .object else { return false }
        let end = end(index)
        var i = index + 1
        while i < end {
            let value = kind == .object ? i + 1 : i
            body(value, kind == .object ? i : -1)
            i = next(value)
        }
        return true
    }

    /// Whether a value is an object or an array that names no next page and should: it has values,
    /// and is no object of a link, whose `href` or `url` may be null.
    func isOtherContainer(_ index: Int) -> Bool {
        switch kind(index) {
        case .object?:
            guard value(of: "href", in: index) == nil, value(of: "url", in: index) == nil else { return false }
            var member = index + 1
            while member < end(index) {
                if kind(member + 1) != .null { return true }
                member = next(member + 1)
            }
            return false
        case .array?:
            var hasValue = false
            forEachElement(index) { hasValue = hasValue || kind($0) != .null }
            return hasValue
        default: return false
        }
    }

    /// Whether a value is a row: a list that is not empty, of neither lists nor objects.
    func isRow(_ index: Int) -> Bool {
        guard kind(index) == .array, !isEmpty(index) else { return false }
        var element = index + 1
        while element < end(index) {
            if kind(element) == .array || kind(element) == .object { return false }
            element = next(element)
        }
        return true
    }

    /// Returns the value of a key of an object; the last one if the key occurs several times.
    func value(of key: String, in object: Int) -> Int? {
        var found: Int?, i = object + 1
        let end = end(object)
        var key = key
        key.withUTF8 { key in
            while i < end {
                if Bytes.equal(string(i), Bytes(key)) { found = i + 1 }
                i = next(i + 1)
            }
        }
        return found
    }

    /// Returns whether each key of a path occurs exactly once in its object.
    func isUnique(_ keys: [String]) -> Bool {
        var object = Tape.root
        for key in keys {
            guard kind(object) == .object, let value = value(of: key, in: object) else { return false }
            var key = key, occurrences = 0
            var member = object + 1
            key.withUTF8 { key in
                while member < end(object) {
                    if Bytes.equal(string(member), Bytes(key)) { occurrences += 1 }
                    member = next(member + 1)
                }
            }
            guard occurrences == 1 else { return false }
            object = value
        }
        return true
    }

    /// Returns the path to a value, such as `$[3].user.id`.
    ///
    /// It scans the document, so it is for diagnostics only.
    func path(to target: Int) -> String {
        path(to: target, from: Tape.root, parser.origin.path, parser.origin.firstElement)
    }

    /// Returns the path to a value from one of its ancestors, whose own path is `prefix`.
    func path(to target: Int, from start: Int, _ prefix: String, _ firstElement: Int = 0) -> String {
        var path = ByteWriter()
        path.append(prefix)
        appendPath(to: target, from: start, firstElement, into: &path)
        return String(decoding: path.bytes, as: UTF8.self)
    }

    /// Appends the path to a value from one of its ancestors.
    func appendPath(to target: Int, from start: Int, _ firstElement: Int = 0, into path: inout ByteWriter) {
        var index = start, first = firstElement
        while index < target {
            let from = index
            switch kind(index) {
            case .object:
                var i = index + 1
                while i < end(from), index == from {
                    let value = i + 1
                    if value <= target, target < next(value) {
                        Tape.appendStep(string(i), to: &path)
                        index = value
                    }
                    i = next(value)
                }
            case .array:
                var i = index + 1, position = first
                while i < end(from), index == from {
                    if i <= target, target < next(i) {
                        path.append("[\(position)]")
                        index = i
                    }
                    i = next(i)
                    position += 1
                }
            default: return
            }
            if index == from { return }
            first = 0
        }
    }

    /// Returns a key as a step of a path.
    static func step(_ key: String) -> String {
        var path = ByteWriter(), key = key
        key.withUTF8 { appendStep(Bytes($0), to: &path) }
        return String(decoding: path.bytes, as: UTF8.self)
    }

    private static func appendStep(_ key: Bytes, to path: inout ByteWriter) {
        path.append(UInt8(ascii: "."))
        // A key may be as long as the document.
        let isCut = key.count > 200, key = isCut ? Bytes(rebasing: key.prefix(200)) : key
        let isQuoted = key.contains(UInt8(ascii: "."))
        if isQuoted { path.append(UInt8(ascii: "'")) }
        path.append(key)
        if isCut { path.append("…") }
        if isQuoted { path.append(UInt8(ascii: "'")) }
    }

    /// Appends a value as compact JSON text.
    func appendText(_ index: Int, to writer: inout ByteWriter) {
        switch kind(index) {
        case .object:
            writer.append(UInt8(ascii: "{"))
            var i = index + 1
            while i < end(index) {
                if i > index + 1 { writer.append(UInt8(ascii: ",")) }
                appendText(i, to: &writer)
                writer.append(UInt8(ascii: ":"))
                appendText(i + 1, to: &writer)
                i = next(i + 1)
            }
            writer.append(UInt8(ascii: "}"))
        case .array:
            writer.append(UInt8(ascii: "["))
            var first = true
            forEachElement(index) { element in
                if !first { writer.append(UInt8(ascii: ",")) }
                first = false
                appendText(element, to: &writer)
            }
            writer.append(UInt8(ascii: "]"))
        case .string:
            var text = ""
            text.appendJSONString(String(decoding: string(index), as: UTF8.self))
            writer.append(text)
        case .int: writer.append(String(int(index)))
        case .uint: writer.append(String(uint(index)))
        case .double:
            // The written text: a double may have fewer digits.
            if let text = numberText(index) { writer.append(text) } else { writer.append("\(double(index))") }
        case .true: writer.append("true")
        case .false: writer.append("false")
        case .null, nil: writer.append("null")
        }
    }
}
