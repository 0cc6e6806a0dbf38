// Single members of a JSON object, found without a parse of the document.

import Foundation

/// The root object of a document of any size. The document is taken to be sound JSON.
package struct JSONRoot {
    private let body: [UInt8]

    /// - Returns: nil if the document begins as something else than an object.
    package init?(_ body: [UInt8]) {
        guard body.first(where: { $0 > 0x20 && $0 < 0x80 }) == UInt8(ascii: "{") else { return nil }
        self.body = body
    }

    /// Returns the bytes of a member's value.
    ///
    /// A body without the name, which nearly all are, is not scanned.
    ///
    /// - Parameter name: the name, in ASCII.
    package subscript(name: String) -> ArraySlice<UInt8>? {
        let quoted = Array("\"\(name)\"".utf8)
        guard contains(quoted) else { return nil }
        return body.withUnsafeBytes { bytes in
            JSONRoot.value(of: quoted.dropFirst().dropLast(), in: bytes).map { body[$0] }
        }
    }

    /// The letters by which a name is looked for, the rarest in English first.
    private static let rarest = Array("zqjxkvbywgpfmucdlhrsnioate".utf8)

    private func contains(_ name: [UInt8]) -> Bool {
        guard let letter = JSONRoot.rarest.first(where: name.contains), let place = name.firstIndex(of: letter) else {
            return false
        }
        return body.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, bytes.count >= name.count else { return false }
            let last = bytes.count - (name.count - place)
            var index = place
            while index <= last, let found = memchr(start + index, Int32(letter), last - index + 1) {
                let position = start.distance(to: UnsafeRawPointer(found))
                if memcmp(start + position - place, name, name.count) == 0 { return true }
                index = position + 1
            }
            return false
        }
    }

    /// The range of the value of a member of the root.
    private static func value(of name: ArraySlice<UInt8>, in body: UnsafeRawBufferPointer) -> Range<Int>? {
        var depth = 0, index = 0, start: Int?
        while index < body.count {
            switch body[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0, let start { return start..<index }
            case UInt8(ascii: ","): if depth == 1, let start { return start..<index }
            case UInt8(ascii: "\""):
                let text = index + 1
                index = end(ofStringAt: text, body)
                if depth == 1, start == nil, body[text..<index].elementsEqual(name) {
                    start = value(behind: index + 1, body)
                }
            default: break
            }
            index += 1
        }
        return nil
    }

    /// The index of the closing quote of a string.
    private static func end(ofStringAt start: Int, _ body: UnsafeRawBufferPointer) -> Int {
        var index = start
        while index < body.count, body[index] != UInt8(ascii: "\"") {
            index += body[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, body.count)
    }

    /// The index of the value behind a colon; nil if the string before it is a value itself.
    private static func value(behind start: Int, _ body: UnsafeRawBufferPointer) -> Int? {
        guard start < body.count else { return nil }
        guard let colon = body[start...].firstIndex(where: { $0 > 0x20 }), body[colon] == UInt8(ascii: ":") else {
            return nil
        }
        return body[(colon + 1)...].firstIndex { $0 > 0x20 }
    }
}
