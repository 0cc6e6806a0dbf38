// The parent record of a request to an endpoint with `for_each`: found by its key or by a URL.

import Foundation
import TarnHTTP
import TarnStore

extension EndpointRequest {
    /// The stored records that the endpoint is requested for, and the count and the keys of those
    /// that lack a value.
    ///
    /// Records that were created here and are not at the server yet have no lists there. Others
    /// have the values that the server knows.
    func parents(_ forEach: Endpoint.ForEach) throws -> FoundParents {
        try client.store.read { reader in
            var search = try ParentSearch(self, forEach, reader)
            try reader.forEach(forEach.entity) { record in
                try search.add(record, reader)
                return true
            }
            return search.found
        }
    }

    /// The parents among the records that have changed since a position in the log of changes.
    ///
    /// A record that refers to another one for a value may be missing: ``parents(_:)`` finds it.
    ///
    /// - Returns: nil if the log does not reach back to the position.
    func parents(_ forEach: Endpoint.ForEach, since token: ChangeToken) throws -> FoundParents? {
        do {
            return try client.store.read { reader in
                var search = try ParentSearch(self, forEach, reader)
                let changes = try reader.netChanges(since: token, of: [forEach.entity]).changes
                let keys = changes.filter { $0.operation != .deleted }.map(\.key)
                // In the order of a search through all records.
                for key in keys.sorted(by: { $0.storageKey.lexicographicallyPrecedes($1.storageKey) }) {
                    if let record = try reader.record(forEach.entity, key) { try search.add(record, reader) }
                }
                return search.found
            }
        } catch is ChangeLogError {
            return nil
        }
    }

    /// Looks up a stored parent record by its key.
    ///
    /// - Throws: `MirrorError.endpoint` if it is not stored, or lacks a value for the path.
    func parentRecord(_ key: RecordKey) throws -> ParentRecord {
        let forEach = try wantedForEach()
        return try client.store.read(verifyingRows: true) { reader in
            guard let record = try reader.record(forEach.entity, key) else {
                throw MirrorError.endpoint(
                    place: endpoint.place, message: "\(forEach.entity) \(key) is not in the store: fetch it first")
            }
            return try parentRecord(record, reader) { name in
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
    func parentRecord(ofURL url: String, known: ParentRecord?) throws -> ParentRecord {
        let forEach = try wantedForEach()
        let named = pathValues(of: url)
        let names = parentVariables(forEach)
        if let known {
            func isOther(_ name: String) -> Bool {
                named?[name].map { ExactText($0) != known.values[name].map { ExactText($0) } } ?? false
            }
            if names.contains(where: isOther) {
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
        return try client.store.read(verifyingRows: true) { reader in
            var found: [ParentRecord] = []
            for record in try reader.fetch(query(forEach, wanted, reader)) {
                let fits = try wanted.allSatisfy { name, text in
                    try reader.text(at: keys(name, forEach), of: record) == text
                }
                guard fits else { continue }
                found.append(ParentRecord(key: record.key, values: Dictionary(wanted) { first, _ in first }))
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

    /// The variables that name values of the parent record.
    fileprivate func parentVariables(_ forEach: Endpoint.ForEach) -> [String] {
        endpoint.variables.filter { $0.hasPrefix(forEach.variable + ".") }
    }

    /// The values that distinguish the request for a parent from those for others.
    fileprivate func identity(of parent: ParentRecord, _ names: [String]) -> [ExactText] {
        names.map { name in
            let text = parent.values[name] ?? ""
            return ExactText(endpoint.followsURL ? (try? followedURL(text, of: name)) ?? text : text)
        }
    }

    /// The values of the parent record that the mapping takes from `@param`, besides those of the
    /// path.
    fileprivate func includedVariables(_ forEach: Endpoint.ForEach) -> [String] {
        let known = parentVariables(forEach)
        let sources = client.description.mapping.entities.values.flatMap { $0.paths.values.flatMap(\.self) }
        let names = sources.flatMap(\.paths).filter { $0.origin == .parameter }.flatMap(\.keys)
        return Set(names).filter { $0.hasPrefix(forEach.variable + ".") && !known.contains($0) }.sorted()
    }

    fileprivate func keys(_ variable: String, _ forEach: Endpoint.ForEach) -> ArraySlice<String> {
        variable.dropFirst(forEach.variable.count + 1).split(separator: ".").map(String.init)[...]
    }

    private func parentRecord(_ record: Record, _ reader: StoreReader, lacking: (String) -> MirrorError) throws
        -> ParentRecord
    {
        var parent = ParentRecord(key: record.key, values: [:])
        guard let forEach = endpoint.forEach else { return parent }
        for name in parentVariables(forEach) {
            guard let value = try reader.text(at: keys(name, forEach), of: record) else {
                throw lacking(name)
            }
            parent.values[name] = value
        }
        for name in includedVariables(forEach) {
            parent.values[name] = try reader.text(at: keys(name, forEach), of: record)
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
                let value = EndpointRequest.value(text, attribute)
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

    /// The values of the path's and the query's variables in a URL; nil if the path does not match.
    private func pathValues(of url: String) -> [String: String]? {
        guard let target = try? HTTPURL(url), let base = try? HTTPURL(client.api.base),
            let found = endpoint.pathValues(of: target, on: base)
        else { return nil }
        var values = Dictionary(found.map { ($0.name, $0.value) }) { first, _ in first }
        guard !endpoint.parameterVariables.isEmpty else { return values }
        let query = QueryParameters.values(in: url)
        for parameter in endpoint.parameters {
            guard let name = TransportBody.placeholder(parameter.value), values[name] == nil,
                let sent = query.first(where: { $0.name == parameter.name })
            else { continue }
            values[name] = sent.value
        }
        return values
    }
}

/// The stored records that an endpoint is requested for, and those that lack a value.
struct FoundParents: Sendable {
    var parents: [ParentRecord] = []
    var skipped: [SkippedParents] = []
    var lacking: [RecordKey] = []
    /// The position in the log of changes behind the snapshot in which they were found.
    var token: ChangeToken
}

/// A search for the parents of an endpoint's lists among records.
private struct ParentSearch {
    private let request: EndpointRequest
    private let forEach: Endpoint.ForEach
    private let names: [String], included: [String]
    private let hasMarks: Bool
    /// Without a reference to the parent, requests for equal values have equal results.
    private var requested: [[ExactText]: Int] = [:]
    private(set) var found: FoundParents

    init(_ request: EndpointRequest, _ forEach: Endpoint.ForEach, _ reader: StoreReader) throws {
        (self.request, self.forEach) = (request, forEach)
        (names, included) = (request.parentVariables(forEach), request.includedVariables(forEach))
        hasMarks = try reader.access.localChanges.hasMarks
        found = FoundParents(token: try reader.changeToken)
    }

    mutating func add(_ record: Record, _ reader: StoreReader) throws {
        guard let record = hasMarks ? try reader.known(record) : record else { return }
        var parent = ParentRecord(key: record.key, values: [:], version: record.version, isPartial: record.isPartial)
        for name in names {
            // A partial record may lack a value for the path; a later sync will have it.
            guard let value = try reader.text(at: request.keys(name, forEach), of: record) else {
                return lack(name, record.key)
            }
            parent.values[name] = value
        }
        if forEach.parent == nil {
            let identity = request.identity(of: parent, names)
            if let known = requested[identity] {
                // The list is that of all of them: it is due if any has changed.
                found.parents[known].version = max(found.parents[known].version, record.version)
                return
            }
            requested[identity] = found.parents.count
        }
        for name in included {
            parent.values[name] = try reader.text(at: request.keys(name, forEach), of: record)
        }
        found.parents.append(parent)
    }

    private mutating func lack(_ name: String, _ key: RecordKey) {
        if let known = found.skipped.firstIndex(where: { $0.name == name }) {
            found.skipped[known].count += 1
        } else {
            found.skipped.append(SkippedParents(entity: forEach.entity, name: name, count: 1, first: "\(key)"))
        }
        found.lacking.append(key)
    }
}

extension StoreReader {
    /// A record as the server has it; nil if it was created here, and is not there yet.
    fileprivate func known(_ record: Record) throws -> Record? {
        guard let root = catalog.entity(record.entity)?.root else { return record }
        let listed = ListedRecord(entity: root, storageKey: record.key.storageKey)
        guard let mark = try listed.storageKey.withUnsafeBytes({ try access.localChanges.mark(root, $0) }) else {
            return record
        }
        return mark.operation == .create ? nil : try outbox.serverRecord(listed)?.record ?? record
    }
}
