// Lists inside of records of which an answer has only the first elements.

/// The objects in listed records that contain a list and tell whether it goes on: `labels` of
/// `{"labels": {"nodes": […], "pageInfo": {"hasNextPage": true}}}`.
package struct ListContainers: Sendable, Hashable {
    /// For each list of a document, the paths of the objects in its records.
    package var paths: [[JSONPath]]

    /// Creates the containers of the records of several lists.
    package init(_ paths: [[JSONPath]] = []) { self.paths = paths }

    package var isEmpty: Bool { paths.allSatisfy(\.isEmpty) }

    /// Returns the path of the object around the list that a path leads to; nil if that is the
    /// record itself.
    package static func container(ofListAt path: JSONPath) -> JSONPath? {
        let steps = path.steps.prefix { $0 != .each }.dropLast()
        let isPlain = steps.allSatisfy { if case .key = $0 { true } else { false } }
        return path.origin == .record && isPlain && !steps.isEmpty ? JSONPath(.record, steps: Array(steps)) : nil
    }

    /// The paths of the flags in an object whose list goes on.
    fileprivate static let flags: [[JSONPath.Step]] = [
        [.key("pageInfo"), .key("hasNextPage")], [.key("page_info"), .key("has_next_page")], [.key("hasNextPage")],
        [.key("has_more")], [.key("hasMore")],
    ]
}

extension Tape {
    /// Returns the path of the flag that tells that the list in an object of a record goes on; nil
    /// if none is true.
    func flag(ofMoreIn container: JSONPath, of record: Int) -> JSONPath? {
        guard let object = value(at: container.steps[...], from: record), kind(object) == .object else { return nil }
        for steps in ListContainers.flags {
            guard let flag = value(at: steps[...], from: object), kind(flag) == .true else { continue }
            return JSONPath(.record, steps: container.steps + steps)
        }
        return nil
    }
}
