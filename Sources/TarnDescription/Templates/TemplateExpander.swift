// Templates of entities and endpoints that resemble each other, and lists of names for which one
// declaration stands. They are expanded in the text, so the result is validated like any other and
// an error names the line of the template.

import TarnImport
import TarnStore

/// The expansion of `templates`, `like` and `each` in a description document.
struct TemplateExpander {
    typealias Entry = YAMLValue.Entry

    let file: String
    private(set) var problems: [DescriptionError.Problem] = []
    /// The templates by name.
    private var templates: [String: YAMLValue] = [:]
    /// For each entity in order, the templates that it is like, with their arguments.
    private var instances: [(entity: String, likes: [String: Arguments])] = []
    /// The number of values that expansions have made.
    private var valueCount = 0

    /// The maximum number of values after the expansion.
    static let valueLimit = 1_000_000
    /// The maximum number of templates that are like one another in a chain.
    static let depthLimit = 16
    /// The parts of an entity and of an endpoint that are merged name by name.
    static let mergedKeys: Set = [
        "attributes", "relationships", "indexes", "kinds", "with", "headers", "metadata",
    ]

    /// The values of placeholders by name.
    typealias Arguments = [String: Argument]

    /// The value of a placeholder.
    struct Argument {
        var text: String
        /// The position in `given`; nil for a name, which nothing has to use.
        var id: Int?
    }

    /// The values that the document gives to placeholders, and whether a placeholder has used each.
    private var given: [(field: String, mark: YAMLValue.Mark, name: String, isUsed: Bool)] = []

    init(file: String) { self.file = file }

    /// Returns a document without `templates`, `like` and `each`.
    mutating func expand(_ document: YAMLValue) -> YAMLValue {
        guard case .mapping(var sections) = document.content else { return document }
        if let index = sections.firstIndex(where: { $0.key == "templates" }) {
            readTemplates(sections[index].value)
            sections.remove(at: index)
        }
        for name in ["entities", "endpoints"] {
            guard let index = sections.firstIndex(where: { $0.key == name }),
                case .mapping(let entries) = sections[index].value.content
            else { continue }
            let expanded = entries.flatMap { self.expanded($0, in: name) }
            report(repeatedIn: expanded, entries, name)
            sections[index].value.content = .mapping(expanded)
        }
        if problems.isEmpty { reportUnused() }
        return YAMLValue(mark: document.mark, content: .mapping(sections))
    }

    /// Reports the values that no placeholder has used: they have no effect.
    private mutating func reportUnused() {
        // A value in a template is given once for each instance, and one of them may use it.
        let used = Set(given.filter(\.isUsed).map(\.mark))
        for value in given where !used.contains(value.mark) {
            report(
                value.field, value.mark, "nothing uses <\(value.name)>: write it where the value belongs, or remove it")
        }
    }

    private mutating func readTemplates(_ value: YAMLValue) {
        if value.isNull { return }
        guard case .mapping(let entries) = value.content else {
            return report("templates", value.mark, "expected a mapping from names to templates, found \(value.kind)")
        }
        for entry in entries {
            guard case .mapping = entry.value.content else {
                report("templates.\(entry.key)", entry.value.mark, "expected a mapping, found \(entry.value.kind)")
                continue
            }
            templates[entry.key] = entry.value
        }
    }

    /// Reports an instance of `each` that has the name of another entity or endpoint.
    private mutating func report(repeatedIn expanded: [Entry], _ written: [Entry], _ section: String) {
        guard expanded.count != written.count else { return }
        var seen: Set<String> = []
        for entry in expanded where !seen.insert(entry.key).inserted {
            report("\(section).\(entry.key)", entry.keyMark, "each makes this name twice: use <name> in the key")
        }
    }

    private mutating func report(_ field: String, _ mark: YAMLValue.Mark, _ message: String) {
        problems.append(
            .init(file: mark.file ?? file, line: mark.line, column: mark.column, field: field, message))
    }

    // MARK: Instances

    /// The entities or endpoints that an entry stands for.
    private mutating func expanded(_ entry: Entry, in section: String) -> [Entry] {
        let field = "\(section).\(entry.key)"
        guard case .mapping(let keys) = entry.value.content else { return [entry] }
        guard let each = keys.first(where: { $0.key == "each" }) else { return [instance(entry, in: section)] }
        var entry = entry
        entry.value.content = .mapping(keys.filter { $0.key != "each" })
        return names(each.value, "\(field).each").compactMap { name, arguments in
            var known = arguments
            known["name"] = Argument(text: name)
            guard let key = filled(entry.key, entry.keyMark, field, known) else { return nil }
            guard hasRoom(entry.value, entry.keyMark, field) else { return nil }
            let value = filled(entry.value, "\(section).\(key)", known)
            // The template of an instance has the name of the list.
            return instance(Entry(key: key, keyMark: entry.keyMark, value: value), in: section, known)
        }
    }

    /// The names of `each`, with their arguments: a list, or the entities that are like a template.
    private mutating func names(_ value: YAMLValue, _ field: String) -> [(String, Arguments)] {
        switch value.content {
        case .list(let elements): return elements.compactMap { named($0, field) }
        case .mapping(let pairs):
            guard pairs.count == 1, pairs[0].key == "like", case .scalar(let template, _) = pairs[0].value.content
            else {
                break
            }
            let found = instances.compactMap { instance in instance.likes[template].map { (instance.entity, $0) } }
            if found.isEmpty {
                report(
                    "\(field).like", pairs[0].value.mark, "no entity is like \(template): write like: \(template) there"
                )
            }
            return found
        case .scalar: break
        }
        report(field, value.mark, "expected a list of names, or like: with a template, found \(value.kind)")
        return []
    }

    /// A name, or a name with arguments: `Person` or `{ Person: { path: people } }`.
    private mutating func named(_ value: YAMLValue, _ field: String) -> (String, Arguments)? {
        switch value.content {
        case .scalar(let name, _) where !value.isNull: return (name, [:])
        case .mapping(let pairs) where pairs.count == 1:
            return arguments(pairs[0].value, "\(field).\(pairs[0].key)").map { (pairs[0].key, $0) }
        default:
            report(field, value.mark, "expected a name, or one name with its arguments, found \(value.kind)")
            return nil
        }
    }

    private mutating func arguments(_ value: YAMLValue, _ field: String) -> Arguments? {
        if value.isNull { return [:] }
        guard case .mapping(let pairs) = value.content else {
            report(field, value.mark, "expected a mapping from names to texts, found \(value.kind)")
            return nil
        }
        var arguments: Arguments = [:]
        for pair in pairs {
            guard case .scalar(let text, _) = pair.value.content, pair.key != "name" else {
                report(
                    "\(field).\(pair.key)", pair.value.mark,
                    pair.key == "name" ? "<name> has a value already: use another word" : "expected a text")
                continue
            }
            arguments[pair.key] = Argument(text: text, id: given.count)
            given.append((field: "\(field).\(pair.key)", mark: pair.keyMark, name: pair.key, isUsed: false))
        }
        return arguments
    }

    /// An entity or endpoint with everything that its templates have and it has not.
    private mutating func instance(_ entry: Entry, in section: String, _ arguments: Arguments = [:]) -> Entry {
        var likes: [String: Arguments] = [:], entry = entry
        var known = arguments
        known["name"] = arguments["name"] ?? Argument(text: entry.key)
        entry.value = completed(entry.value, "\(section).\(entry.key)", known, &likes, depth: 0)
        if section == "entities" {
            instances.append((entry.key, likes))
        } else {
            entry.value = withChildren(entry.value, "\(section).\(entry.key)", depth: 0)
        }
        return entry
    }

    /// An endpoint whose children have everything of their templates, and theirs as well.
    private mutating func withChildren(_ value: YAMLValue, _ field: String, depth: Int) -> YAMLValue {
        guard case .mapping(var keys) = value.content, let index = keys.firstIndex(where: { $0.key == "children" }),
            case .mapping(var children) = keys[index].value.content
        else { return value }
        guard depth < TemplateExpander.depthLimit else {
            report(
                "\(field).children", keys[index].keyMark,
                "children nested deeper than \(TemplateExpander.depthLimit) levels: a template is a circle")
            return value
        }
        for position in children.indices {
            let child = children[position], field = "\(field).children.\(child.key)"
            guard case .mapping(let own) = child.value.content else { continue }
            if let each = own.first(where: { $0.key == "each" }) {
                report("\(field).each", each.keyMark, "a child has one name: write a child for each of them")
            }
            var likes: [String: Arguments] = [:]
            let whole = completed(child.value, field, ["name": Argument(text: child.key)], &likes, depth: 0)
            children[position].value = withChildren(whole, field, depth: depth + 1)
        }
        keys[index].value.content = .mapping(children)
        return YAMLValue(mark: value.mark, content: .mapping(keys))
    }

    /// Merges a value over the templates that it is like, later ones over earlier ones.
    private mutating func completed(
        _ value: YAMLValue, _ field: String, _ known: Arguments, _ likes: inout [String: Arguments], depth: Int
    ) -> YAMLValue {
        guard case .mapping(var keys) = value.content, let index = keys.firstIndex(where: { $0.key == "like" }) else {
            return value
        }
        let like = keys.remove(at: index).value
        guard depth < TemplateExpander.depthLimit else {
            report(
                "\(field).like", like.mark,
                "more than \(TemplateExpander.depthLimit) templates in a chain: it is a circle")
            return value
        }
        var result: [Entry] = []
        for (name, mark, own) in templateNames(like, "\(field).like") {
            guard let template = templates[name] else {
                report("\(field).like", mark, Spelling.unknown("template", name, among: templates.keys.sorted()))
                continue
            }
            guard hasRoom(template, mark, field) else { return YAMLValue(mark: value.mark, content: .mapping(keys)) }
            let arguments = known.merging(own) { $1 }
            likes[name] = arguments.filter { $0.key != "name" }
            let body = completed(filled(template, field, arguments), field, arguments, &likes, depth: depth + 1)
            if case .mapping(let entries) = body.content { result = TemplateExpander.merged(entries, over: result) }
        }
        return YAMLValue(mark: value.mark, content: .mapping(TemplateExpander.merged(keys, over: result)))
    }

    /// Reads `like`: a template, a template with arguments, or a list of them.
    private mutating func templateNames(
        _ value: YAMLValue, _ field: String
    ) -> [(name: String, mark: YAMLValue.Mark, Arguments)] {
        switch value.content {
        case .scalar(let name, _) where !value.isNull: return [(name, value.mark, [:])]
        case .list(let elements): return elements.flatMap { templateNames($0, field) }
        case .mapping(let pairs):
            return pairs.compactMap { pair in
                arguments(pair.value, "\(field).\(pair.key)").map { (pair.key, pair.keyMark, $0) }
            }
        case .scalar:
            report(field, value.mark, "missing template: write its name")
            return []
        }
    }

    /// Merges entries over others: own ones win, and a key without a value removes one.
    private static func merged(_ own: [Entry], over base: [Entry], isNested: Bool = false) -> [Entry] {
        var result = base
        for entry in own {
            guard let index = result.firstIndex(where: { $0.key == entry.key }) else {
                result.append(entry)
                continue
            }
            if entry.value.isNull {
                result.remove(at: index)
            } else if !isNested, mergedKeys.contains(entry.key), case .mapping(let names) = entry.value.content,
                case .mapping(let known) = result[index].value.content
            {
                result[index].value.content = .mapping(merged(names, over: known, isNested: true))
            } else {
                result[index] = entry
            }
        }
        return result
    }

    // MARK: Placeholders

    /// Whether another copy of a value fits the limit of values. Reports it once if not.
    private mutating func hasRoom(_ value: YAMLValue, _ mark: YAMLValue.Mark, _ field: String) -> Bool {
        let before = valueCount
        valueCount += value.count
        if valueCount > TemplateExpander.valueLimit, before <= TemplateExpander.valueLimit {
            report(field, mark, "more than \(TemplateExpander.valueLimit) values after templates are expanded")
        }
        return valueCount <= TemplateExpander.valueLimit
    }

    /// Fills the placeholders of all texts and keys in a value.
    private mutating func filled(_ value: YAMLValue, _ field: String, _ known: Arguments) -> YAMLValue {
        switch value.content {
        case .scalar(let text, let plain):
            guard let text = filled(text, value.mark, field, known) else { return value }
            return YAMLValue(mark: value.mark, content: .scalar(text, plain: plain))
        case .list(let elements):
            return YAMLValue(mark: value.mark, content: .list(elements.map { filled($0, field, known) }))
        case .mapping(let entries):
            let all = entries.map { entry in
                Entry(
                    key: filled(entry.key, entry.keyMark, field, known) ?? entry.key, keyMark: entry.keyMark,
                    value: filled(entry.value, "\(field).\(entry.key)", known))
            }
            reportEqualKeys(all, entries, field)
            return YAMLValue(mark: value.mark, content: .mapping(all))
        }
    }

    /// Reports keys of a mapping that are equal once their placeholders are filled.
    private mutating func reportEqualKeys(_ filled: [Entry], _ written: [Entry], _ field: String) {
        guard zip(filled, written).contains(where: { $0.key != $1.key }) else { return }
        var seen: Set<String> = []
        for entry in filled where !seen.insert(entry.key).inserted {
            report("\(field).\(entry.key)", entry.keyMark, "duplicate key \"\(entry.key)\" in this mapping: remove one")
        }
    }

    /// Fills the placeholders of a text: `<name>`, `<name:kebab-case>`; nil if one has no value.
    private mutating func filled(
        _ text: String, _ mark: YAMLValue.Mark, _ field: String, _ known: Arguments
    ) -> String? {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        var result = "", rest = text[...]
        while let open = rest.firstIndex(of: "<") {
            result += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: ">"),
                let (name, style) = TemplateExpander.placeholder(rest[..<close].dropFirst())
            else {
                result.append("<")
                rest = rest.dropFirst()
                continue
            }
            rest = rest[close...].dropFirst()
            guard let argument = known[name] else {
                let hint = "write it where the template is named, such as like: { Template: { \(name): … } }"
                report(field, mark, "no value for <\(name)>: \(hint)")
                return nil
            }
            let value = argument.text
            if let id = argument.id { given[id].isUsed = true }
            if let style, let naming = NamingStyle(rawValue: style) {
                result += NamingConvention(naming).jsonKey(for: value)
            } else if let style {
                report(
                    field, mark, Spelling.unknown("naming style", style, among: NamingStyle.allCases.map(\.rawValue)))
                return nil
            } else {
                result += value
            }
        }
        return result + rest
    }

    /// The name and the style of a placeholder; nil for another text, such as `< 10 and x `.
    private static func placeholder(_ text: Substring) -> (name: String, style: String?)? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let isWord = { (part: Substring) in
            part.first?.isLetter == true
                && part.utf8.allSatisfy {
                    (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F || $0 == 0x2D
                }
        }
        guard parts.allSatisfy(isWord), let name = parts.first else { return nil }
        return (String(name), parts.count == 2 ? String(parts[1]) : nil)
    }
}

extension YAMLValue {
    /// The number of values in it.
    fileprivate var count: Int {
        switch content {
        case .scalar: 1
        case .list(let elements): elements.reduce(1) { $0 + $1.count }
        case .mapping(let entries): entries.reduce(1) { $0 + $1.value.count }
        }
    }
}
