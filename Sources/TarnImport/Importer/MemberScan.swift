// Members beside a document's list of records, found by name in the objects around the list.

internal import TarnStore

/// A scan of the objects from a document's root to a list, and of the named objects in them.
struct MemberScan {
    /// The maximum number of members. A page has a handful; a page with more is not an envelope.
    private static let mostMembers = 64
    /// The maximum length of a text. Links and cursors are shorter.
    private static let longestText = 8192
    private static let deepest = 3
    private static let mostElements = 16

    private let tape: Tape
    private let names: MemberNames
    private var scanned: Set<Int> = []
    /// The lists of records and their ancestors.
    private var onTheWay: Set<Int> = []
    private(set) var members: [DocumentFacts.Member] = []

    init(_ tape: Tape, _ names: MemberNames) {
        self.tape = tape
        self.names = names
    }

    /// Scans the objects that lead to lists.
    ///
    /// A record that is not in a list has no envelope: its members are its own. The objects beside
    /// a list in an array lead to it: `[{"page": 1, "pages": 2}, […]]`.
    mutating func add(around lists: [JSONPath]) {
        var objects: [(object: Int, prefix: String)] = []
        for list in lists {
            var path: [(object: Int, prefix: String)] = [], on: [Int] = [], index = Tape.root, prefix = "",
                isKeyed = true
            for step in list.steps {
                if case .index(let number) = step, tape.kind(index) == .array,
                    let value = tape.element(number, of: index), tape.kind(value) == .array
                {
                    let position = elements(of: index, prefix, but: value, &path)
                    on.append(value)
                    index = value
                    prefix += "[\(position)]"
                    continue
                }
                guard case .key(let key) = step else {
                    isKeyed = false
                    break
                }
                guard tape.kind(index) == .object, let value = tape.value(of: key, in: index) else { break }
                path.append((index, prefix))
                on.append(value)
                index = value
                prefix = MemberScan.joined(prefix, key)
            }
            guard !isKeyed || tape.kind(index) == .array else { continue }
            objects += path
            onTheWay.formUnion(on)
        }
        for (object, prefix) in objects where scanned.insert(object).inserted { scan(object, prefix, depth: 0) }
    }

    /// Scans the members of a map that are no records.
    mutating func add(_ exceptions: Set<String>, of map: JSONPath) {
        var object = Tape.root, prefix = ""
        for step in map.steps.dropLast() {
            guard case .key(let key) = step, tape.kind(object) == .object,
                let value = tape.value(of: key, in: object)
            else { return }
            object = value
            prefix = MemberScan.joined(prefix, key)
        }
        guard !exceptions.isEmpty, tape.kind(object) == .object else { return }
        scan(object, prefix, depth: 0, only: exceptions)
    }

    /// Adds the objects of an array beside one of its elements.
    ///
    /// - Returns: the position of that element.
    private func elements(
        of array: Int, _ prefix: String, but value: Int, _ objects: inout [(object: Int, prefix: String)]
    ) -> Int {
        var number = 0, position = 0
        tape.forEachElement(array) { element in
            if element == value { position = number }
            if number < MemberScan.mostElements, element != value, tape.kind(element) == .object {
                objects.append((element, prefix + "[\(number)]"))
            }
            number += 1
        }
        return position
    }

    /// - Parameters:
    ///   - isOpen: whether every scalar of the object is read.
    ///   - wanted: the names of the members that are read; nil for all.
    private mutating func scan(
        _ object: Int, _ prefix: String, depth: Int, isOpen: Bool = false, only wanted: Set<String>? = nil
    ) {
        let end = tape.end(object)
        var index = object + 1
        while index < end {
            let name = tape.string(index), value = index + 1
            let isRead = wanted.map { $0.contains(String(decoding: name, as: UTF8.self)) } ?? true
            switch tape.kind(value) {
            case _ where !isRead: break
            case .object where depth < MemberScan.deepest && names.isObject(name) && !onTheWay.contains(value):
                scan(value, MemberScan.joined(prefix, name), depth: depth + 1, isOpen: names.isOpen(name))
            case .array where depth < MemberScan.deepest && names.isObject(name) && !onTheWay.contains(value):
                var number = 0
                tape.forEachElement(value) { element in
                    if number < MemberScan.mostElements, tape.kind(element) == .object {
                        scan(element, MemberScan.joined(prefix, name) + "[\(number)]", depth: depth + 1)
                    }
                    number += 1
                }
            case .string, .int, .uint, .double, .true, .false:
                if isOpen || names.isScalar(name, isNested: depth > 0) { add(value, name, prefix) }
            default: break
            }
            index = tape.next(value)
        }
    }

    private mutating func add(_ value: Int, _ name: Bytes, _ prefix: String) {
        guard tape.kind(value) != .string || tape.string(value).count <= MemberScan.longestText,
            let text = tape.scalarText(value)
        else { return }
        let path = MemberScan.joined(prefix, name)
        if let known = members.firstIndex(where: { $0.path == path }) {
            members[known].text = text
        } else if members.count < MemberScan.mostMembers {
            members.append(DocumentFacts.Member(path, text))
        }
    }

    private static func joined(_ prefix: String, _ key: Bytes) -> String {
        joined(prefix, String(decoding: key, as: UTF8.self))
    }

    /// Joins a prefix and a key in the syntax of a ``JSONPath``.
    private static func joined(_ prefix: String, _ key: String) -> String {
        var text = prefix.isEmpty ? "" : prefix + "."
        for scalar in key.unicodeScalars {
            if "\\.[{}".unicodeScalars.contains(scalar) { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}
