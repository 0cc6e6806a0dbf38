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
                guard let view = try access.responses.view(id: id), view.isMirrors,
                    others.hasOtherMapping(view.endpoint), !view.isInvalidated || view.hasValidators,
                    var other = view.entry
                else { continue }
                // The write ends the life of the view.
                names.insert(String(RequestKey.name(ofEndpoint: other.request.endpoint)))
                other.validation.outdate()
                try putResponse(other)
            }
        }
        return names
    }

    /// Outdates the responses of mirrors with other mappings that list a record which the import of
    /// a cache, or of a typed request, has updated. The progress of their lists is forgotten.
    ///
    /// - Parameter others: the responses of other mappings.
    mutating func outdateCollectedMirrors(of others: OtherMirrors) throws {
        var names: Set<String> = []
        for id in collectedResponses {
            guard let view = try access.responses.view(id: id), view.isMirrors,
                others.hasOtherMapping(view.endpoint), !view.isInvalidated || view.hasValidators,
                var other = view.entry
            else { continue }
            names.insert(String(RequestKey.name(ofEndpoint: other.request.endpoint)))
            other.validation.outdate()
            try putResponse(other)
        }
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
        let prefix = "\(endpoint) "
        var forgotten: [String: Checkpoint] = [:]
        try reader().forEachCheckpoint { name, checkpoint in
            let isList = name.hasPrefix(prefix) && !EndpointScan.isVariant(name.dropFirst(prefix.count))
            guard name == endpoint || isList, let other = checkpoint.forgotten else { return }
            forgotten[name] = other
        }
        for (name, checkpoint) in forgotten { try setCheckpoint(name, checkpoint) }
    }
}

extension ResponseView {
    /// Whether a 304 can confirm the response.
    fileprivate var hasValidators: Bool {
        let fields = TransportHeaders(flat: headers)
        return fields["ETag"] != nil || fields["Last-Modified"] != nil
    }
}
