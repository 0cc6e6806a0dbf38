/// Optional groups of a path: `/users(/{username})`.
enum PathGroups {
    /// Resolves the groups of a path. A group remains if every variable in it has a value.
    ///
    /// Groups may be nested. A parenthesis without its partner stays as it is.
    static func resolved(_ path: String, _ isKnown: (String) -> Bool) -> String {
        var rest = path[...]
        var levels = [""]
        while let character = rest.popFirst() {
            switch character {
            case "(" where rest.contains(")"): levels.append("")
            case ")" where levels.count > 1:
                let group = levels.removeLast()
                if variables(of: group).allSatisfy(isKnown) { levels[levels.count - 1] += group }
            default: levels[levels.count - 1].append(character)
            }
        }
        return levels.joined(separator: "(")
    }

    /// The names of the variables of a part of a template.
    private static func variables(of text: String) -> [String] {
        text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().flatMap { part in
            part.prefix { $0 != "}" }.drop { "+#./;?&".contains($0) }.split(separator: ",").map { name in
                String(name.prefix { $0 != ":" && $0 != "*" })
            }
        }
    }
}
