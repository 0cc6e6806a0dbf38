extension URLTemplate {
    /// Returns the URL of a record.
    ///
    /// - Parameters:
    ///   - base: the base URL of a template that is not absolute, without a slash at its end.
    ///   - value: returns the value of a variable, not percent-encoded.
    /// - Throws: `Problem` if a value is missing, or names another path (RFC 3986 §5.2.4).
    func expanded(base: String, _ value: (String) throws -> String?) throws -> String {
        func text(of name: String) throws -> String {
            guard let text = try value(name), !text.isEmpty else {
                throw Problem(message: "\(description) needs {\(name)}, which has no value")
            }
            return text
        }
        func text(of parts: [Part]) throws -> String {
            var output = ""
            for part in parts {
                switch part {
                case .literal(let bytes): output += URLTemplate.encode(bytes)
                case .variable(let name): output += URLTemplate.encode(Array(try text(of: name).utf8))
                }
            }
            return output
        }
        var path = ""
        for segment in segments {
            var texts: [String]
            switch segment {
            case .parts(let parts): texts = [try text(of: parts)]
            case .rest(let name):
                // Swift counts a slash and a combining mark behind it as one character.
                texts = try text(of: name).utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                    .map { URLTemplate.encode(Array($0)) }
            }
            if let dots = texts.first(where: { ["", ".", ".."].contains($0) }) {
                throw Problem(message: "\(description) would have the segment \"\(dots)\", which names another URL")
            }
            path += "/" + texts.joined(separator: "/")
        }
        if description.prefix(while: { $0 != "?" }).hasSuffix("/") { path += "/" }
        let parameters = try query.map { "\(URLTemplate.encode($0.name))=\(try text(of: $0.parts))" }
        return (origin ?? base) + path + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }

    /// Percent-encodes every byte that is not unreserved (RFC 3986 §2.3).
    private static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                output.append(byte)
            default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
