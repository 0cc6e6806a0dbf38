// Responses and progress of mirrors with other mappings, when this mapping imports their records.

import TarnHTTP
import TarnImport
import TarnStore

extension StoreWriter {
    /// Outdates the responses of mirrors with other mappings that list any of the records that an
    /// import has created or changed: a 304 would confirm values that this mapping has replaced.
    ///
    /// Responses that list only unchanged records stay: two mappings that agree do not outdate each
    /// other's responses. The other request may have another page size, or be of another endpoint.
    /// A response without validators is marked, too, so that its endpoint is named only once.
    ///
    /// - Parameters:
    ///   - others: the responses of other mappings.
    ///   - report: the report of the import, with all keys.
    /// - Returns: the names of the endpoints of the responses that it has outdated.
    mutating func outdateResponses(of others: OtherMirrors, changedBy report: ImportReport) throws -> Set<String> {
        var known: Set<UInt64> = [], names: Set<String> = []
        for record in listedRecords(report.keys(.created) + report.keys(.updated)) {
            for id in try access.responses.ids(listing: record)
            where others.mayContain(id) && known.insert(id).inserted {
                if let name = try outdateResponse(id, of: others) { names.insert(name) }
            }
        }
        return names
    }

    /// Outdates the responses of ``outdateResponses(of:changedBy:)``, and notes the mappings of the
    /// store's responses.
    ///
    /// - Parameters:
    ///   - others: the committed responses of other mappings, when the import began.
    ///   - report: the report of the import, with all keys if there were such responses.
    mutating func outdateResponses(
        ofCommitted others: OtherMirrors, changedBy report: ImportReport
    ) throws -> Set<String> {
        var present = others
        try present.examine(access.responses)
        var names: Set<String> = []
        if !others.isEmpty {
            names = try outdateResponses(of: present, changedBy: report)
        } else if !present.isEmpty {
            // Another process has stored them since: without all keys, each of them may list a
            // changed record.
            var new: [UInt64] = []
            try access.responses.forEach(from: others.examined.last + 1) { view in
                new.append(view.id)
                return true
            }
            for id in new { if let name = try outdateResponse(id, of: present) { names.insert(name) } }
        }
        let noted = try access.responses.mappings, isNew = noted.first != present.examined.first
        // The next sync examines a few responses again.
        if isNew || present.examined.last >= noted.last + StoreWriter.mostUnnoted {
            try access.responses.note(present.examined)
        }
        return names
    }

    /// The number of responses that may be stored before the note of their mappings is renewed.
    private static let mostUnnoted: UInt64 = 100

    /// Outdates a response of a mirror with another mapping.
    ///
    /// - Returns: the name of its endpoint; nil if it is no such response, or outdated already.
    private mutating func outdateResponse(_ id: UInt64, of others: OtherMirrors) throws -> String? {
        guard let view = try access.responses.view(id: id), view.isMirrors,
            others.hasOtherMapping(view.endpoint), !view.isInvalidated || view.hasValidators,
            var other = view.entry
        else { return nil }
        // The write ends the life of the view.
        other.validation.outdate()
        try putResponse(other)
        return String(RequestKey.name(ofEndpoint: other.request.endpoint))
    }

    /// Outdates the responses of mirrors with other mappings that list a record which the import of
    /// a cache, or of a typed request, has updated. The progress of their lists is forgotten.
    ///
    /// - Parameter others: the responses of other mappings.
    mutating func outdateCollectedMirrors(of others: OtherMirrors) throws {
        var names: Set<String> = []
        for id in responses.collected { if let name = try outdateResponse(id, of: others) { names.insert(name) } }
        for name in names { try forgetLists(of: name) }
    }

    /// Returns the records of imported keys, in the form in which responses list them.
    private func listedRecords(_ keys: [ImportedKey]) -> [ListedRecord] {
        keys.compactMap { key in
            catalog.entity(key.entity).map { ListedRecord(entity: $0.root, storageKey: key.key.storageKey) }
        }
    }

    /// Resets the incremental progress of all lists of an endpoint: a request for changes would
    /// miss values that only another mapping has changed.
    mutating func forgetLists(of endpoint: String) throws {
        if let other = try access.checkpoints.checkpoint(endpoint)?.outdated { try setCheckpoint(endpoint, other) }
        try replaceCheckpoints(withPrefix: "\(endpoint) ") { rest, checkpoint in
            EndpointScan.isVariant(rest) ? nil : checkpoint.outdated
        }
    }
}

extension ResponseView {
    /// Whether a 304 can confirm the response.
    fileprivate var hasValidators: Bool {
        let fields = TransportHeaders(flat: headers)
        return fields["ETag"] != nil || fields["Last-Modified"] != nil
    }
}
