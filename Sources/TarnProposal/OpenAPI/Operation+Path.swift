// The path of an operation as the path of an endpoint.

import Tarn

extension Operation {
    /// Returns a path in which the variables of whole segments have names that a template can have.
    ///
    /// - Parameter parameters: the parameters of the operation, which get the same names.
    static func renamingVariables(_ path: String, _ parameters: inout [Parameter]) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var names = Set(segments.compactMap(variable).filter(isName))
        names.formUnion(parameters.filter { !$0.isInPath }.map(\.name))
        return segments.map { segment in
            guard let old = variable(segment), !isName(old) else { return segment }
            let name = EnglishName.unique(plain(old)) { names.contains($0) }
            names.insert(name)
            for index in parameters.indices where parameters[index].isInPath && parameters[index].name == old {
                parameters[index].name = name
            }
            return "{\(name)}"
        }
        .joined(separator: "/")
    }

    /// Whether two paths are equal but for the names of their variables and the ending `.json`.
    static func isSamePath(_ a: ArraySlice<String>, _ b: ArraySlice<String>) -> Bool {
        func plain(_ segment: String) -> Substring {
            if variable(segment) != nil { return "{}" }
            return segment.hasSuffix(".json") ? segment.dropLast(5) : segment[...]
        }
        return a.map(plain) == b.map(plain)
    }

    /// Whether a text is the name of a template's variable, without an operator of RFC 6570.
    private static func isName(_ text: String) -> Bool { (try? PathTemplate("/{\(text)}"))?.variables == [text] }

    private static func plain(_ name: String) -> String {
        let scalars = name.unicodeScalars.map { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": scalar
            default: "_" as Unicode.Scalar
            }
        }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return scalars.contains { $0 != "_" } ? text : "value"
    }

    /// Returns the reason why a path cannot be that of an endpoint; nil if it can.
    static func problem(ofPath path: String) -> String? {
        if path.contains("?") || path.contains("#") { return "its path has a query or a fragment" }
        if path.unicodeScalars.contains(where: { $0.value <= 0x20 }) {
            return "its path has a space, which a URL cannot have"
        }
        let segments = path.split(separator: "/").map(String.init)
        if segments.contains(where: { variable($0) == nil && $0.contains("{") && $0.contains("}") }) {
            return "a part of a segment of its path is a variable"
        }
        guard let template = try? PathTemplate(path) else { return "a brace of its path has no partner" }
        let names = segments.compactMap(variable)
        return template.variables.allSatisfy(names.contains) ? nil : "a colon of its path would start a variable"
    }
}
