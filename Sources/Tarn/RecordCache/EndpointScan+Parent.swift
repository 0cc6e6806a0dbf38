// The parent record of a request to an endpoint with `for_each`: found by its key or by a URL.

import Foundation
import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Looks up a stored parent record by its key.
    ///
    /// - Throws: `MirrorError.endpoint` if it is not stored, or lacks a value for the path.
    func parent(_ key: RecordKey) throws -> Parent {
        let forEach = try wantedForEach()
        return try mirror.store.read(verifyingRows: true) { reader in
            guard let record = try reader.record(forEach.entity, key) else {
                throw MirrorError.endpoint(
                    place: endpoint.place, message: "\(forEach.entity) \(key) is not in the store: fetch it first")
            }
            return try parent(record, reader) { name in
                MirrorError.endpoint(
                    place: endpoint.place,
                    message: "\(forEach.entity) \(key) has no value for {\(name)}, which the path needs")
            }
        }
    }

    /// Looks up the stored parent record that a URL of the endpoint names.
    ///
    /// - Parameter known: the record that the caller has named; nil if none. A URL that does not
    ///   match the path is taken to belong to it.
    /// - Throws: `MirrorError.endpoint` if the URL names another record than `known`, or does not
    ///   name exactly one.
    func parent(ofURL url: String, known: Parent?) throws -> Parent {
        let forEach = try wantedForEach()
        let named = pathValues(of: url, on: mirror.description.api.base)
        let names = parentVariables(forEach)
        if let known {
            if let named, names.contains(where: { named[$0] != nil && named[$0] != known.values[$0] }) {
                throw MirrorError.endpoint(
                    place: endpoint.place,
                    message: "\(Redaction.url(url)) names another \(forEach.entity) than \(known.key)")
            }
            return known
        }
        guard let named, !names.isEmpty, names.allSatisfy({ named[$0] != nil }) else {
            throw MirrorError.endpoint(
                place: endpoint.place,
                message:
                    "\(Redaction.url(url)) does not identify its \(forEach.entity): name the \(forEach.entity) with `parent`"
            )
        }
        let wanted = names.map { name in (name, named[name] ?? "") }
        return try mirror.store.read(verifyingRows: true) { reader in
            var found: [Parent] = []
            for record in try reader.fetch(query(forEach, wanted, reader)) {
                let fits = try wanted.allSatisfy { name, text in
                    try EndpointScan.value(at: keys(name, forEach), of: record, reader) == text
                }
                guard fits else { continue }
                found.append(Parent(key: record.key, values: Dictionary(wanted) { first, _ in first }))
                if found.count > 1 { break }
            }
            let what = wanted.map { "\($0.dropFirst(forEach.variable.count + 1)) \"\($1)\"" }.joined(separator: " and ")
            guard let parent = found.first else {
                throw MirrorError.endpoint(
                    place: endpoint.place,
                    message:
                        "no stored \(forEach.entity) has \(what), as in \(Redaction.url(url)): fetch it first"
                )
            }
            guard found.count == 1 else {
                throw MirrorError.endpoint(
                    place: endpoint.place,
                    message:
                        "several \(forEach.entity) records have \(what): name the \(forEach.entity) with `parent`"
                )
            }
            return parent
        }
    }

    private func wantedForEach() throws -> Endpoint.ForEach {
        guard let forEach = endpoint.forEach else {
            throw MirrorError.endpoint(place: endpoint.place, message: "the endpoint has no for_each")
        }
        return forEach
    }

    /// The variables of the path and the body that name values of the parent record.
    private func parentVariables(_ forEach: Endpoint.ForEach) -> [String] {
        endpoint.variables.filter { $0.hasPrefix(forEach.variable + ".") }
    }

    private func keys(_ variable: String, _ forEach: Endpoint.ForEach) -> ArraySlice<String> {
        variable.dropFirst(forEach.variable.count + 1).split(separator: ".").map(String.init)[...]
    }

    private func parent(_ record: Record, _ reader: StoreReader, lacking: (String) -> MirrorError) throws -> Parent {
        var parent = Parent(key: record.key, values: [:])
        guard let forEach = endpoint.forEach else { return parent }
        for name in parentVariables(forEach) {
            guard let value = try EndpointScan.value(at: keys(name, forEach), of: record, reader) else {
                throw lacking(name)
            }
            parent.values[name] = value
        }
        return parent
    }

    /// A query for the records with these values, so that an index finds them.
    ///
    /// Values of types without a unique text are not part of it: the caller compares them.
    private func query(_ forEach: Endpoint.ForEach, _ wanted: [(name: String, text: String)], _ reader: StoreReader)
        -> Query
    {
        let conditions = wanted.compactMap { name, text -> Condition? in
            let path = Array(keys(name, forEach))
            guard var entity = reader.catalog.entity(forEach.entity), let last = path.last else { return nil }
            for relationship in path.dropLast() {
                guard
                    let next = reader.catalog.relationship(relationship, of: entity).flatMap({
                        reader.catalog.entity(id: $0.destination)
                    })
                else { return nil }
                entity = next
            }
            guard case .attribute(let attribute)? = entity.field(last)?.kind,
                let value = EndpointScan.value(text, attribute)
            else { return nil }
            return .compare(FieldPath(path.joined(separator: ".")), .equal, value)
        }
        return Query(forEach.entity, where: conditions.isEmpty ? .all : .and(conditions))
    }

    /// Converts a text of a URL to an attribute's value; nil for types without a unique text.
    private static func value(_ text: String, _ type: AttributeType) -> Value? {
        switch type {
        case .int: Int64(text).map(Value.int)
        case .uint: UInt64(text).map(Value.uint)
        case .string, .url, .enumeration: .string(text)
        case .uuid: UUID(uuidString: text).map(Value.uuid)
        default: nil
        }
    }
}

extension EndpointScan {
    fileprivate func pathValues(of url: String, on base: String) -> [String: String]? {
        guard let url = try? HTTPURL(url), let base = try? HTTPURL(base) else { return nil }
        return endpoint.pathValues(of: url, on: base).map {
            Dictionary($0.map { ($0.name, $0.value) }) { first, _ in first }
        }
    }
}

extension Endpoint {
    /// The values of the path's variables in a URL, in their order; nil if the path does not match.
    ///
    /// Only variables that are a whole segment are matched.
    func pathValues(of url: HTTPURL, on base: HTTPURL) -> [Parameter]? {
        guard url.hasSameOrigin(as: base), let template = try? PathTemplate(path).description else { return nil }
        let root = base.path == "/" ? "" : base.path
        guard url.path.hasPrefix(root) else { return nil }
        let segments = url.path.dropFirst(root.count).split(separator: "/", omittingEmptySubsequences: false)
        let pattern = template.split(separator: "/", omittingEmptySubsequences: false)
        guard pattern.count == segments.count else { return nil }
        var values: [Parameter] = []
        for (pattern, segment) in zip(pattern, segments) {
            guard pattern.hasPrefix("{"), pattern.hasSuffix("}") else {
                guard pattern == segment else { return nil }
                continue
            }
            guard !segment.isEmpty else { return nil }
            values.append(
                Parameter(String(pattern.dropFirst().dropLast()), segment.removingPercentEncoding ?? String(segment)))
        }
        return values
    }
}
