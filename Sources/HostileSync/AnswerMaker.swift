// The generator of raw responses: status line, fields, framing and body, each possibly invalid,
// with a few changed bytes.

import CZstd

struct AnswerMaker {
    /// A cache of small bodies that decode to at least 64 MiB, by the index in `parts`.
    private var bombs: [Int: [UInt8]] = [:]
    /// The base URL of the server, for links to itself.
    var base = ""

    private static let parts = ["[],", " ", "[", "{\"id\":1},", "a", "0,"]

    private mutating func bomb(_ chance: inout Chance) -> [UInt8] {
        let number = chance.below(AnswerMaker.parts.count)
        if let known = bombs[number] { return known }
        // Doubled in each step: a loop over single parts would take seconds.
        var text = Array(AnswerMaker.parts[number].utf8)
        while text.count < 64 << 20 { text += text }
        let bomb = AnswerMaker.compressed([UInt8(ascii: "[")] + text + Array("0]".utf8))
        bombs[number] = bomb
        return bomb
    }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        let capacity = ZSTD_compressBound(bytes.count)
        let compressed = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            let size = ZSTD_compress(buffer.baseAddress, capacity, bytes, bytes.count, 1)
            count = ZSTD_isError(size) == 0 ? size : 0
        }
        // Copied to release the unused capacity.
        return Array(compressed[...])
    }

    /// Generates a response.
    ///
    /// - Parameter page: The number of the response within its input, from 1.
    mutating func answer(_ chance: inout Chance, page: Int) -> [UInt8] {
        if chance.once(in: 100) {
            return (0..<chance.length(100_000)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
        }
        var body = JSONText.document(&chance, page: page)
        var head = chance.once(in: 40) ? AnswerMaker.interim(&chance) : ""
        head += AnswerMaker.statusLine(&chance) + "\r\n"
        if !chance.once(in: 5) { head += "Content-Type: application/json\r\n" }
        for _ in 0..<chance.length(12) {
            head +=
                field(&chance, page: page)
                + chance.one(of: [
                    "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r\n \t folded\r\n", "\r", "\u{0}\r\n",
                ])
        }
        if chance.once(in: 100) {
            for number in 0..<chance.one(of: [900, 1100, 20_000]) { head += "X-\(number): \(number)\r\n" }
        }
        switch chance.below(30) {
        case 0, 1:
            body = bomb(&chance)
            head += "Content-Encoding: zstd\r\n"
        case 2:
            body = AnswerMaker.compressed(AnswerMaker.compressed(body))
            head += "Content-Encoding: zstd, zstd\r\n"
        case 3:
            head +=
                "Content-Encoding: \(chance.one(of: ["gzip", "br", "deflate", "zstd", "identity", "x", "gzip, gzip, gzip, gzip, gzip, gzip", ","]))\r\n"
        case 4:
            body = AnswerMaker.compressed(body)
            head += "Content-Encoding: zstd\r\n"
        default: break
        }
        var bytes = framed(head, body, &chance)
        if chance.once(in: 3) { AnswerMaker.mutate(&bytes, &chance) }
        return bytes
    }

    private static func interim(_ chance: inout Chance) -> String {
        String(
            repeating: chance.one(of: [
                "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
                "HTTP/1.1 199 X\r\n\r\n",
            ]), count: chance.one(of: [1, 2, 1000]))
    }

    private static func statusLine(_ chance: inout Chance) -> String {
        guard chance.once(in: 3) else { return "HTTP/1.1 200 OK" }
        guard !chance.once(in: 8) else {
            return chance.one(of: [
                "HTTP/1.1 99999999999999999999 X", "HTTP/1.1 -1 X", "HTTP/1.1 000 X", "HTTP/1.1 999 X",
                "HTTP/1.1 20 OK", "HTTP/9.9 200 OK", "HTTP/1.1", "ICY 200 OK", "",
                "HTTP/1.1 200" + String(repeating: " x", count: 60_000), "HTTP/1.1 101 Switching Protocols",
                "HTTP/2 200",
            ])
        }
        let status = chance.one(of: [
            200, 201, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 408, 410, 416, 421,
            425, 429, 451, 500, 501, 502, 503, 504, 505, 511,
        ])
        return "HTTP/\(chance.one(of: ["1.1", "1.1", "1.0"])) \(status) X"
    }

    private func framed(_ head: String, _ body: [UInt8], _ chance: inout Chance) -> [UInt8] {
        let end = Array("\r\n".utf8)
        switch chance.below(20) {
        case 0: return Array(head.utf8) + end + body
        case 1: return Array((head + "Content-Length: \(body.count + chance.length(1000))\r\n\r\n").utf8) + body
        case 2: return Array((head + "Content-Length: \(max(0, body.count - chance.length(1000)))\r\n\r\n").utf8) + body
        case 3:
            return Array(
                (head
                    + "Content-Length: \(chance.one(of: ["9223372036854775807", "18446744073709551616", "-1", "1e3", ""]))\r\n\r\n")
                    .utf8) + body
        case 4...8:
            var bytes = Array((head + "Transfer-Encoding: chunked\r\n\r\n").utf8), rest = body[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + chance.length(60_000))
                rest = rest.dropFirst(piece.count)
                let size =
                    chance.once(in: 60)
                    ? chance.one(of: ["ffffffffffffffff", "-1", "", "7fffffffffffffff", "g", "0", "100000000000000000"])
                    : String(piece.count, radix: 16)
                bytes +=
                    Array(
                        (size
                            + chance.one(of: [
                                "", "", "", ";a=b", ";" + String(repeating: "x", count: chance.length(20_000)),
                            ]) + "\r\n").utf8) + piece + end
            }
            return bytes
                + (chance.once(in: 20)
                    ? []
                    : Array(
                        ("0\r\n"
                            + (chance.once(in: 10)
                                ? "X-Trailer: \(String(repeating: "t", count: chance.length(90_000)))\r\n" : "")
                            + "\r\n").utf8))
        default: return Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8) + body
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ chance: inout Chance) {
        for _ in 0...chance.length(8) where !bytes.isEmpty {
            // Half of the changes hit the first 400 bytes: heads are short, and more is decided
            // there.
            let place = chance.below(chance.once(in: 2) ? bytes.count : min(bytes.count, 400))
            switch chance.below(6) {
            case 0: bytes[place] ^= 1 << UInt8(chance.below(8))
            case 1: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + chance.length(2000)))
            case 3:
                let part = Array(bytes[place..<min(bytes.count, place + 1 + chance.length(2000))])
                bytes.insert(contentsOf: part, at: chance.below(bytes.count + 1))
            case 4:
                bytes.insert(
                    contentsOf: chance.one(of: [
                        "\r\n", "\r\n\r\n", "\n", "\u{0}", "\"", "[", "{", "}", "]", ",", "HTTP/1.1 200 OK\r\n",
                        "0\r\n\r\n", "9", "e", "\\", "é",
                    ]).utf8, at: place)
            default: bytes.removeSubrange(place...)
            }
        }
    }
}
