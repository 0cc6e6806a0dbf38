// Bodies that are not one JSON document in UTF-8: lines of JSON, guards against scripts, other
// encodings, files in gzip or zstd. Pure.

import Foundation

/// The form in which a response has its records.
package enum BodyForm: String, Sendable, Hashable, CaseIterable {
    /// One JSON document; or lines, if the media type says so.
    case json
    /// A JSON text in each line, or behind each record separator (RFC 7464).
    ///
    /// The document is an array of these texts.
    case lines

    /// The reason why a body cannot be read.
    struct Problem: Error {
        var kind: TransportError.Kind
        var detail: String
    }

    /// The largest file in gzip or zstd after decompression, without another limit.
    static let largestFile = 256 << 20

    /// Returns the JSON document of a body.
    ///
    /// An ordinary body is returned as it is, and not copied.
    ///
    /// - Parameters:
    ///   - headers: the header fields of the response, which may name the media type.
    ///   - limit: the limit of a file after decompression, in bytes.
    func document(of body: [UInt8], _ headers: TransportHeaders, limit: Int) throws(Problem) -> [UInt8] {
        var body = body
        if let coding = BodyForm.coding(of: body) { body = try BodyForm.decoded(body, coding, limit: limit) }
        let type = MediaType(headers["Content-Type"] ?? "")
        if let text = try BodyForm.inUTF8(body, charset: type.charset) { body = text }
        if self == .lines || type.isLines, let list = try array(ofLines: body) { return list }
        return BodyForm.withoutSurroundings(body) ?? body
    }

    // MARK: Lines

    /// Whether the body of a response is lines of JSON.
    package func isLines(_ headers: TransportHeaders) -> Bool {
        self == .lines || MediaType(headers["Content-Type"] ?? "").isLines
    }

    /// The JSON array of the texts of a body; nil if the body is one array already.
    private func array(ofLines body: [UInt8]) throws(Problem) -> [UInt8]? {
        let text = body.withoutMark
        guard let first = text.first(where: { !BodyForm.isSpace($0) }) else { return Array("[]".utf8) }
        let isWhole = JSONEnd.of(body) == .reached
        // Only the media type says that there are lines, and there is an array: it is wrong.
        if isWhole, self != .lines, first == UInt8(ascii: "[") { return nil }
        var list: [UInt8] = []
        // As much as the parser of the import reads beyond a document.
        list.reserveCapacity(text.count + 2 + 64)
        list.append(UInt8(ascii: "["))
        list.append(contentsOf: text)
        let separator = first == BodyForm.recordSeparator ? first : UInt8(ascii: "\n")
        let last = isWhole && first != separator ? 1..<list.count : BodyForm.separate(&list, at: separator)
        if let last, JSONEnd.of(Array(list[last])) == .missing {
            throw Problem(
                kind: .cutShort,
                detail:
                    "the response was cut short: its last line, at byte \(last.lowerBound - 1), is no whole JSON text")
        }
        list.append(UInt8(ascii: "]"))
        return list
    }

    private static let recordSeparator: UInt8 = 0x1E

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// Replaces the separators between texts by commas, and other ones by blanks.
    ///
    /// Every text stays where it is: offsets in errors are those of the body, and one more.
    ///
    /// - Parameter list: the texts, behind an opening bracket.
    /// - Returns: the range of the last text; nil without any.
    private static func separate(_ list: inout [UInt8], at separator: UInt8) -> Range<Int>? {
        list.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var last: Range<Int>?, start = 1, before: Int?
            while start < bytes.count {
                let found = memchr(base + start, Int32(separator), bytes.count - start)
                let end = found.map { base.distance(to: $0) } ?? bytes.count
                if bytes[start..<end].contains(where: { !isSpace($0) }) {
                    if last != nil, let before { bytes[before] = UInt8(ascii: ",") }
                    last = start..<end
                }
                if end < bytes.count {
                    bytes[end] = 0x20
                    before = end
                }
                start = end + 1
            }
            return last
        }
    }

    /// Whether a body has a JSON text in each of its first lines, and is no document itself.
    package static func looksLikeLines(_ body: [UInt8]) -> Bool {
        let text = body.withoutMark
        guard let first = text.first(where: { !isSpace($0) }) else { return false }
        if first == recordSeparator { return true }
        let lines = text.prefix(1 << 20).split(separator: UInt8(ascii: "\n"), maxSplits: 8).filter {
            !$0.allSatisfy(isSpace)
        }
        guard lines.count > 1 else { return false }
        return lines.prefix(2).allSatisfy { line in
            line.first { !isSpace($0) } == UInt8(ascii: "{") && JSONEnd.of(Array(line)) == .reached
        }
    }

    /// Returns the way out for a body that is not JSON; nil if it is unknown.
    package func hint(for body: [UInt8]) -> String? {
        if self != .lines, BodyForm.looksLikeLines(body) {
            return "its lines are JSON texts: if each one is a record, write format: lines at the endpoint"
        }
        let text = body.withoutMark.prefix(256).drop {
            BodyForm.isSpace($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "*")
        }
        let name = text.prefix { byte in
            let letter = byte | 0x20
            return (0x61...0x7A).contains(letter) || (0x30...0x39).contains(byte) || [0x24, 0x2E, 0x5F].contains(byte)
        }
        guard !name.isEmpty, text.dropFirst(name.count).first == UInt8(ascii: "(") else { return nil }
        return "it is a script (JSONP): remove the parameter that names the function, such as callback"
    }

    // MARK: Surroundings

    /// Prefixes that keep a browser from running a document as a script; none begins JSON.
    private static let guards = [")]}',", ")]}'", ")]}", "while(1);", "while (1);", "for(;;);", "for (;;);", "{}&&"].map
    {
        Array($0.utf8)
    }

    /// Returns a document without a guard before it and zero bytes behind it; nil if it has none.
    private static func withoutSurroundings(_ body: [UInt8]) -> [UInt8]? {
        let text = body.withoutMark
        let start = text.firstIndex { !isSpace($0) } ?? text.endIndex
        let prefix = guards.first { text[start...].starts(with: $0) }
        let end = text.lastIndex { $0 != 0 && !isSpace($0) }.map { $0 + 1 } ?? text.endIndex
        let hasZeros = end < text.endIndex && text[end...].contains(0)
        guard prefix != nil || hasZeros, start < end else { return nil }
        var document: [UInt8] = []
        document.reserveCapacity(text.count + 64)
        document.append(contentsOf: text[min(start + (prefix?.count ?? 0), end)..<end])
        return document
    }

    // MARK: Encodings

    /// Returns a text in UTF-8; nil if it is already, or if its encoding is unknown.
    private static func inUTF8(_ body: [UInt8], charset: String) throws(Problem) -> [UInt8]? {
        if let isLittle = isLittleEndian(body, charset) {
            let bytes = body.starts(with: isLittle ? [0xFF, 0xFE] : [0xFE, 0xFF]) ? body.dropFirst(2) : body[...]
            guard bytes.count.isMultiple(of: 2) else {
                throw Problem(kind: .cutShort, detail: "the response was cut short: its UTF-16 ends within a character")
            }
            let encoding: String.Encoding = isLittle ? .utf16LittleEndian : .utf16BigEndian
            guard let text = String(data: Data(bytes), encoding: encoding) else {
                throw Problem(kind: .protocol, detail: "the response is not valid UTF-16")
            }
            return Array(text.utf8)
        }
        let encoding: String.Encoding
        switch charset {
        case "iso-8859-1", "latin1", "iso_8859-1": encoding = .isoLatin1
        case "windows-1252", "cp1252": encoding = .windowsCP1252
        default: return nil
        }
        // Many servers name an encoding that they do not use (RFC 8259 §8.1 knows only UTF-8).
        guard String(validating: body, as: UTF8.self) == nil else { return nil }
        return String(data: Data(body), encoding: encoding).map { Array($0.utf8) }
    }

    /// The byte order of a text in UTF-16; nil for other texts.
    ///
    /// JSON begins with an ASCII character: a zero byte beside it tells (RFC 4627 §3).
    private static func isLittleEndian(_ body: [UInt8], _ charset: String) -> Bool? {
        guard body.count >= 2 else { return nil }
        switch (body[0], body[1]) {
        case (0xFF, 0xFE): return true
        case (0xFE, 0xFF): return false
        case (0, 1...): return false
        case (1..., 0): return body.count > 2 || charset.hasPrefix("utf-16") ? true : nil
        default: return nil
        }
    }

    // MARK: Files

    /// The coding of a body that is a file in gzip or zstd; nil for other bodies.
    private static func coding(of body: [UInt8]) -> String? {
        if body.starts(with: [0x1F, 0x8B, 0x08]) { return "gzip" }
        return body.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) ? "zstd" : nil
    }

    private static func decoded(_ body: [UInt8], _ coding: String, limit: Int) throws(Problem) -> [UInt8] {
        let found: ContentDecoder?
        do throws(ContentDecoder.Unsupported) {
            found = try ContentDecoder.of([coding], limit: limit)
        } catch {
            throw Problem(
                kind: .protocol, detail: "the response is a file in \(coding), and this system has no library for it")
        }
        guard let decoder = found else { return body }
        var text: [UInt8] = []
        let progress = body.withUnsafeBytes { bytes in
            decoder.decode(bytes) { piece in
                guard text.count + piece.count <= limit else { return false }
                text.append(contentsOf: piece)
                return true
            }
        }
        switch progress {
        case .stopped, .tooLarge:
            throw Problem(
                kind: .tooLarge,
                detail: "the response is a file in \(coding), and larger than \(limit) bytes after decompression; "
                    + "write a larger `transport: { largest_body }`, or request a part")
        case .malformed:
            throw Problem(kind: .protocol, detail: "the response is a file in \(coding), and damaged")
        case .decoded:
            guard decoder.isComplete else {
                throw Problem(
                    kind: .cutShort, detail: "the response was cut short: it is a part of a file in \(coding)")
            }
            return text
        }
    }

    // MARK: Media types

    /// The parts of a `Content-Type` that tell how to read a body.
    private struct MediaType {
        /// The subtype behind a prefix `x-`: `ndjson`.
        var subtype: Substring
        /// The charset, in lower case; empty without one.
        var charset = ""

        init(_ field: String) {
            let parts = field.prefix(1024).lowercased().split(separator: ";")
            let name = (parts.first ?? "").filter { $0 != " " && $0 != "\t" }.split(separator: "/").last ?? ""
            subtype = Substring(name.hasPrefix("x-") ? name.dropFirst(2) : name)
            for part in parts.dropFirst() {
                let text = part.filter { $0 != " " && $0 != "\t" && $0 != "\"" && $0 != "'" }
                if text.hasPrefix("charset=") { charset = String(text.dropFirst(8)) }
            }
        }

        private static let lines: Set<Substring> = [
            "ndjson", "jsonl", "jsonlines", "json-lines", "json-seq", "stream+json", "nd-json", "ldjson",
        ]

        /// Whether the type is that of lines of JSON, or of a sequence of JSON texts.
        var isLines: Bool {
            MediaType.lines.contains(subtype) || subtype.hasSuffix("+ndjson") || subtype.hasSuffix("+jsonl")
                || subtype.hasSuffix("+json-seq")
        }
    }
}

extension TransportResponse {
    /// Returns a success with its JSON document as its body.
    ///
    /// - Throws: a failure if the body is cut off, damaged, or too large.
    package func document(
        as form: BodyForm, of request: TransportRequest, limit: Int? = nil
    ) throws(TransportError) -> TransportResponse {
        guard (200..<300).contains(status) else { return self }
        if body.isEmpty, status != 200 || form == .json && headers["Content-Type"] == nil { return self }
        do throws(BodyForm.Problem) {
            var response = self
            response.body = try form.document(of: body, headers, limit: limit ?? BodyForm.largestFile)
            if response.body.count != body.count, let concealed {
                response.concealed = try form.document(of: concealed, headers, limit: limit ?? BodyForm.largestFile)
            }
            return response
        } catch {
            throw TransportError(error.kind, method: request.method, url: request.url, detail: error.detail)
        }
    }
}
