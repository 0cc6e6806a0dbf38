// The keys of a terminal in raw mode: UTF-8, control characters, and escape sequences (ECMA-48).

import Foundation

/// A key that was pressed.
enum KeyStroke: Hashable {
    case text(String)
    case enter, tab, backspace, delete
    case left, right, up, down, home, end, wordLeft, wordRight
    case killToEnd, killToStart, killWord, clear
    case interrupt
    /// Ctrl-D: the end of the input on an empty line.
    case endOfInput
    /// The terminal is gone: no key follows.
    case inputEnded
    /// A key without a meaning here.
    case other

    /// Reads the next key.
    ///
    /// - Parameters:
    ///   - byte: A closure that waits for the next byte; nil at the end of the input.
    ///   - hasMore: A closure that tells whether a byte comes at once: an escape sequence does, a
    ///     lone Escape does not.
    static func next(byte: () -> UInt8?, hasMore: () -> Bool) -> KeyStroke {
        guard let first = byte() else { return .inputEnded }
        switch first {
        case 0x1B: return hasMore() ? escape(byte) : .other
        case 0..<0x20, 0x7F: return control(first)
        case 0..<0x80: return .text(String(UnicodeScalar(first)))
        default: return scalar(first, byte)
        }
    }

    /// The control characters as in readline and libedit.
    private static func control(_ byte: UInt8) -> KeyStroke {
        switch byte {
        case 0x0A, 0x0D: .enter
        case 0x09: .tab
        case 0x08, 0x7F: .backspace
        case 0x01: .home
        case 0x02: .left
        case 0x03: .interrupt
        case 0x04: .endOfInput
        case 0x05: .end
        case 0x06: .right
        case 0x0B: .killToEnd
        case 0x0C: .clear
        case 0x0E: .down
        case 0x10: .up
        case 0x15: .killToStart
        case 0x17: .killWord
        default: .other
        }
    }

    private static func escape(_ byte: () -> UInt8?) -> KeyStroke {
        guard let kind = byte() else { return .inputEnded }
        switch kind {
        case UInt8(ascii: "b"): return .wordLeft
        case UInt8(ascii: "f"): return .wordRight
        case 0x7F, 0x08: return .killWord
        case UInt8(ascii: "["), UInt8(ascii: "O"): break
        default: return .other
        }
        // Parameters, then the final byte. A sequence is short; a longer one is none.
        var parameters: [UInt8] = []
        while let next = byte(), parameters.count < 16 {
            if (0x40...0x7E).contains(next) { return sequence(next, String(decoding: parameters, as: UTF8.self)) }
            parameters.append(next)
        }
        return .other
    }

    private static func sequence(_ final: UInt8, _ parameters: String) -> KeyStroke {
        let isModified = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
        return switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): isModified ? .wordRight : .right
        case UInt8(ascii: "D"): isModified ? .wordLeft : .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "~"):
            switch parameters {
            case "1", "7": .home
            case "4", "8": .end
            case "3": .delete
            default: .other
            }
        default: .other
        }
    }

    private static func scalar(_ first: UInt8, _ byte: () -> UInt8?) -> KeyStroke {
        // Bytes that begin no scalar (RFC 3629 §4).
        guard (0xC2...0xF4).contains(first) else { return .other }
        let count = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1
        var bytes = [first]
        for _ in 0..<count { if let next = byte() { bytes.append(next) } }
        return String(validating: bytes, as: UTF8.self).map(KeyStroke.text) ?? .other
    }
}
