// Path templates of endpoints: URI templates whose variables all need a value, and colon
// placeholders (`/repos/:id`). Pure.

/// A path with placeholders, in braces or after a colon.
///
/// Braces have every form of RFC 6570: `/repos/{owner}/{repo}/issues`. Colons have the form
/// `/repos/:repository.full_name/issues`.
///
/// A colon starts a placeholder if a letter follows it and if it is at the start or behind one of
/// `/-.(,=~`. `localhost:3000` and `/{id}:cancel` have no placeholder after a colon. A name
/// consists of letters, digits and `_`, so `:id_value` is not `:id`. The text behind a dot belongs
/// to the name if the longer name is known: `:id.json` is the placeholder `id` and a suffix.
package struct PathTemplate: Sendable, Hashable, CustomStringConvertible {
    private let template: URITemplate
    /// The template as written, with braces in place of colons.
    package var description: String { template.description }

    /// Parses a template.
    ///
    /// - Parameter isKnown: whether a name with dots, such as `repository.full_name`, is known; nil
    ///   if every name is.
    /// - Throws: `PathTemplateError` for a brace without its partner, and for a malformed
    ///   placeholder.
    package init(_ text: String, isKnown: ((String) -> Bool)? = nil) throws(PathTemplateError) {
        do throws(URITemplateError) {
            template = try URITemplate(PathTemplate.bracing(text, isKnown))
        } catch {
            switch error {
            case .unbalanced(let template, let brace): throw .unbalanced(template: template, brace: brace)
            case .malformed(let template, let expression): throw .malformed(template: template, placeholder: expression)
            }
        }
    }

    /// The names of the placeholders, each once, in order.
    package var variables: [String] { template.variables }

    /// Returns the path with percent-encoded values in place of the placeholders.
    ///
    /// - Throws: `PathTemplateError` if a value is missing, belongs to no placeholder, or is empty,
    ///   `.` or `..`: a path with these would name another resource.
    package func expanded(_ values: [String: String]) throws(PathTemplateError) -> String {
        if let plain = plainExpanded(values) { return plain }
        return try expanded(lists: values.mapValues { [$0] })
    }

    /// Returns the path if all placeholders are plain names, each once, and all values are of
    /// unreserved characters; nil otherwise, and for values that are errors.
    ///
    /// Keys of records are mostly of this form, and each record may have a request.
    private func plainExpanded(_ values: [String: String]) -> String? {
        var path = "", count = 0
        for part in template.parts {
            switch part {
            case .literal(let text): path += text
            case .expression(let expression):
                guard expression.kind == .simple, expression.variables.count == 1,
                    let variable = expression.variables.first, variable.prefix == nil,
                    let value = values[variable.name], !value.isEmpty,
                    value.utf8.allSatisfy(PercentEncoding.isUnreserved), value != ".", value != ".."
                else { return nil }
                path += value
                count += 1
            }
        }
        return count == values.count && (count == 1 || variables.count == count) ? path : nil
    }

    /// Returns the path with lists of values, for names with several values.
    package func expanded(lists values: [String: [String]]) throws(PathTemplateError) -> String {
        let names = variables
        if let unknown = values.keys.filter({ !names.contains($0) }).min() {
            throw .unknown(template: description, variable: unknown, variables: names)
        }
        for case .expression(let expression) in template.parts {
            for variable in expression.variables {
                guard let value = values[variable.name], !value.isEmpty else {
                    throw .missing(template: description, variable: variable.name)
                }
                // A value of reserved expansion may have several segments, and keeps encoded dots.
                let segments = expression.kind.allowsReserved ? value.flatMap(PathTemplate.segments) : value
                guard !expression.kind.isNamed,
                    let text = (value.filter(\.isEmpty) + segments).first(where: { ["", ".", ".."].contains($0) })
                else { continue }
                throw .unusable(template: description, variable: variable.name, value: text)
            }
        }
        return template.expand(values.mapValues { $0.count == 1 ? .text($0[0]) : .list($0) })
    }

    /// Returns the decoded segments of a value. A slash ends one also before a combining mark, with
    /// which Swift counts it as one character.
    private static func segments(_ value: String) -> [String] {
        value.unicodeScalars.split(separator: "/").map { PercentEncoding.decode(Substring($0)) }
    }

    // MARK: Colons

    /// Returns the text with `{name}` in place of `:name`.
    private static func bracing(_ text: String, _ isKnown: ((String) -> Bool)?) -> String {
        guard text.utf8.contains(UInt8(ascii: ":")) else { return text }
        let bytes = Array(text.utf8)
        var output: [UInt8] = [], index = 0, depth = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "}") { depth -= 1 }
            // A colon behind a placeholder starts none: `/{name}:cancel` names a verb.
            let begins = index == 0 || "/-.(,=~".utf8.contains(bytes[index - 1])
            guard byte == UInt8(ascii: ":"), depth == 0, begins, index + 1 < bytes.count, isLetter(bytes[index + 1])
            else {
                output.append(byte)
                index += 1
                continue
            }
            let name = name(bytes[(index + 1)...], isKnown)
            output += Array("{\(name)}".utf8)
            index += 1 + name.utf8.count
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the longest known name with dots; without `isKnown`, the longest name.
    private static func name(_ bytes: ArraySlice<UInt8>, _ isKnown: ((String) -> Bool)?) -> String {
        var components: [String] = [], rest = bytes
        while true {
            let component = rest.prefix(while: isWord)
            guard !component.isEmpty else { break }
            components.append(String(decoding: component, as: UTF8.self))
            rest = rest[component.endIndex...]
            guard rest.first == UInt8(ascii: "."), let next = rest.dropFirst().first, isLetter(next) else { break }
            rest = rest.dropFirst()
        }
        guard let isKnown else { return components.joined(separator: ".") }
        for count in stride(from: components.count, to: 1, by: -1) {
            let name = components[..<count].joined(separator: ".")
            if isKnown(name) { return name }
        }
        return components.first ?? ""
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    private static func isWord(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
}
