// The requests of a specification that change the records of its lists.

extension SpecificationSources {
    /// Finds the requests that change the records of the lists.
    mutating func findChanges(_ document: OpenAPIDocument) {
        let changes = ChangeOperations(document)
        for (index, list) in lists.enumerated() {
            let creations = changes.operations(at: list.segments, ["post"])
            sources[index].changes += creations.map { Source.Change(kind: .create, operation: $0) }
            // `/issues/{id}`; or a path of its own that returns one of the listed records.
            var paths = [(segments: list.segments + ["{id}"], isBelowList: true)]
            let name = list.records.schemaName
            for detail in operations where name != nil && detail.records.schemaName == name && detail.isDetail {
                let isOwn = detail.segments.count { Operation.variable($0) != nil } == 1
                if isOwn { paths.append((detail.segments, false)) }
            }
            for path in paths where !sources[index].changes.contains(where: { $0.kind != .create }) {
                let found = changes.operations(at: path.segments, ["patch", "put", "post", "delete"])
                for operation in found where operation.method != "POST" || !found.contains(where: \.replacesPost) {
                    guard let last = operation.segments.last.flatMap(Operation.variable),
                        let field = field(for: last, of: list, operation.parameters)
                    else { continue }
                    sources[index].changes.append(
                        Source.Change(
                            kind: operation.method == "DELETE" ? .delete : .update, operation: operation,
                            field: field, isBelowList: path.isBelowList))
                }
            }
        }
    }
}
