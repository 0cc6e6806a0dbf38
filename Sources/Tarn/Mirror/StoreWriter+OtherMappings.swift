// Responses and progress of mirrors with other mappings, when this mapping imports their records.

import TarnHTTP
import TarnImport
import TarnStore

extension StoreWriter {
    /// The number of the oldest, and of the newest responses that are examined for each record.
    private static let examinedAtEachEnd = 32

    /// Outdates the responses of mirrors with other mappings that list any of the records: a 304
    /// would confirm values that this mapping has replaced.
    ///
    /// The other request may have another page size, or be of another endpoint. A response without
    /// validators is marked, too: the mark shows that another mapping was the last to import.
    ///
    /// - Parameters:
    ///   - keys: the endpoints of the present description, as in the keys of requests.
    ///   - sameNames: whether only earlier mappings of these endpoints count.
    /// - Returns: the names of the endpoints of the responses that it has outdated.
    mutating func outdateResponses(
        ofMirrorsBut keys: Set<String>, sameNames: Bool = false, listing records: [ListedRecord]
    ) throws -> Set<String> {
        var known: Set<UInt64> = [], names: Set<String> = []
        for record in records {
            let ids = try access.responses.ids(listing: record), most = StoreWriter.examinedAtEachEnd
            // Very many lists may have one record. Those of other mappings are old or new.
            let examined = ids.count <= 2 * most ? ids[...] : ids.prefix(most) + ids.suffix(most)
            for id in examined where known.insert(id).inserted {
                guard let view = try access.responses.view(id: id), view.isMirrors,
                    !keys.contains(view.endpoint), !view.isInvalidated || Batch.Page.hasValidators(view.headers),
                    var other = view.entry
                else { continue }
                let name = RequestKey.name(ofEndpoint: view.endpoint)
                if sameNames, !keys.contains(where: { RequestKey.name(ofEndpoint: $0) == name }) { continue }
                other.validation.outdate()
                try putResponse(other)
                names.insert(String(name))
            }
        }
        return names
    }

    /// Returns the records of imported keys, in the form in which responses list them.
    func listedRecords(_ keys: [ImportedKey]) -> [ListedRecord] {
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
