// Random object graphs as JSON, and the dictionary that a store must equal after their import.

import TarnStore
import TestSupport

/// One JSON object that speaks of a record of `Forge`.
struct Saying {
    indirect enum Said {
        /// JSON text that is stored as it is.
        case scalar(String)
        /// JSON text that is invalid for the field, or ignored.
        case nothing(String)
        case reference(Element)
        case list([Element])
        /// A list of objects that contain the references.
        case derived([Saying])
    }

    enum Element {
        case null
        case bare(Int)
        case object(Saying)
    }

    var entity: String
    var id: Int
    /// In the order of the document; the key is among them.
    var fields: [(name: String, said: Said)]

    func appendJSON(to text: inout String, _ random: inout SeededRandom) {
        func append(_ element: Element, _ text: inout String, _ random: inout SeededRandom) {
            switch element {
            case .null: text += "null"
            case .bare(let id): text += Bool.random(using: &random) ? "\(id)" : "\"\(id)\""
            case .object(let saying): saying.appendJSON(to: &text, &random)
            }
        }
        text += "{"
        for (index, field) in fields.enumerated() {
            text += (index > 0 ? "," : "") + "\"\(field.name)\":"
            switch field.said {
            case .scalar(let json), .nothing(let json): text += json
            case .reference(let element): append(element, &text, &random)
            case .list(let elements):
                text += "["
                for (index, element) in elements.enumerated() {
                    if index > 0 { text += "," }
                    append(element, &text, &random)
                }
                text += "]"
            case .derived(let sayings):
                text += "["
                for (index, saying) in sayings.enumerated() {
                    if index > 0 { text += "," }
                    saying.appendJSON(to: &text, &random)
                }
                text += "]"
            }
        }
        text += "}"
    }
}

/// Makes sayings of users, issues, labels and comments that refer to each other.
struct GraphGenerator {
    var random: SeededRandom
    /// The number of ids of each entity: few, so that the same records occur repeatedly.
    let ids: Int
    /// Issues whose list of comments was given. It is given once, because only then every split
    /// must have the same result.
    private var listed: Set<Int> = []

    init(seed: UInt64, ids: Int) {
        random = SeededRandom(seed: seed)
        self.ids = ids
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func id() -> Int { Int.random(in: 1...ids, using: &random) }

    private mutating func text() -> Saying.Said {
        if chance(10) { return .scalar("null") }
        if chance(8) { return .nothing("[1]") }
        return .scalar("\"t\(Int.random(in: 0..<6, using: &random))\"")
    }

    private mutating func element(_ entity: String, _ depth: Int) -> Saying.Element {
        if depth == 0 || chance(40) { return .bare(id()) }
        return .object(saying(entity, depth - 1))
    }

    private mutating func list(_ entity: String, _ depth: Int) -> Saying.Said {
        var elements: [Saying.Element] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            elements.append(chance(10) ? .null : element(entity, depth))
        }
        return .list(elements)
    }

    mutating func saying(_ entity: String, _ depth: Int) -> Saying {
        let id = id()
        var fields: [(name: String, said: Saying.Said)] = [("id", .scalar(chance(50) ? "\(id)" : "\"\(id)\""))]
        func add(_ name: String, _ said: Saying.Said) { fields.append((name, said)) }
        switch entity {
        case "User":
            if chance(60) { add("login", text()) }
            if chance(40) { add("name", text()) }
            if chance(30) { add("friend", .reference(chance(20) ? .null : element("User", depth))) }
        case "Issue":
            if chance(60) { add("title", text()) }
            if chance(40) { add("body", text()) }
            if chance(50) { add("author", .reference(chance(20) ? .null : element("User", depth))) }
            if chance(40) { add("assignees", list("User", depth)) }
            if chance(40) { add("labels", list("Label", depth)) }
            if depth > 0, chance(40), listed.insert(id).inserted {
                var comments: [Saying] = []
                for _ in 0..<Int.random(in: 0...4, using: &random) { comments.append(saying("Comment", depth - 1)) }
                add("comments", .derived(comments))
            }
        case "Comment":
            if chance(60) { add("text", text()) }
            if chance(40) { add("author", .reference(chance(20) ? .null : element("User", depth))) }
        default:
            if chance(60) { add("name", text()) }
        }
        if chance(20) { add("unmapped", .nothing(#"{"id":1,"x":[null]}"#)) }
        fields.shuffle(using: &random)
        return Saying(entity: entity, id: id, fields: fields)
    }
}

/// The expected content of a store: the rules of merging in their plainest form.
struct GraphModel {
    struct Record {
        /// Field → JSON text.
        var fields: [String: String] = [:]
        var isListed = false
    }

    private(set) var records: [String: [Int: Record]] = [:]
    private static let required = [
        "User": ["id", "login"], "Issue": ["id", "title"], "Label": ["id"], "Comment": ["id"],
    ]

    mutating func take(_ saying: Saying, isListed: Bool, issue: Int? = nil) {
        var said = records[saying.entity]?[saying.id] ?? Record()
        said.isListed = said.isListed || isListed
        said.fields["id"] = "\(saying.id)"
        if let issue { said.fields["issue"] = "\(issue)" }
        var children: [(saying: Saying, issue: Int?)] = []
        func key(_ element: Saying.Element) -> String? {
            switch element {
            case .null: return nil
            case .bare(let id): return "\(id)"
            case .object(let child):
                children.append((child, nil))
                return "\(child.id)"
            }
        }
        for (name, value) in saying.fields where name != "id" {
            switch value {
            case .nothing: break
            case .scalar(let json): said.fields[name] = json
            case .reference(let element): said.fields[name] = key(element) ?? "null"
            case .list(let elements):
                var keys: [String] = []
                for key in elements.compactMap(key) where !keys.contains(key) { keys.append(key) }
                said.fields[name] = "[\(keys.joined(separator: ","))]"
            case .derived(let sayings): for child in sayings { children.append((child, saying.id)) }
            }
        }
        records[saying.entity, default: [:]][saying.id] = said
        for child in children { take(child.saying, isListed: false, issue: child.issue) }
    }

    /// In the form of `TestStore.lines()`.
    func lines(_ catalog: Catalog) -> [String] {
        var lines: [String] = []
        for entity in catalog.entities {
            for (id, record) in (records[entity.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
                let isPartial =
                    !record.isListed && (GraphModel.required[entity.name] ?? []).contains { record.fields[$0] == nil }
                let fields = entity.fields.compactMap { field in
                    record.fields[field.name].map { "\"\(field.name)\":\($0)" }
                }
                lines.append("\(entity.name) \(id)\(isPartial ? " partial" : "") {\(fields.joined(separator: ","))}")
            }
        }
        return lines
    }

    /// The ids of the records whose field refers to a record.
    func referrers(_ entity: String, _ field: String, to id: Int) -> [String] {
        (records[entity] ?? [:]).filter { _, record in
            guard let value = record.fields[field] else { return false }
            return value.filter { $0 != "[" && $0 != "]" }.split(separator: ",").contains("\(id)")
        }.keys.sorted().map(String.init)
    }
}
