// Responses and progress of mirrors with other mappings, when this mapping imports their records.

import TarnHTTP
import TarnImport
import TarnStore

extension StoreWriter {
    /// Half the number of responses that are examined for each record.
    private static let mostExamined = 32

    /// Outdates the responses of mirrors with other mappings that list some records: the store has
    /// the values of this mapping by now, and a 304 would confirm them for the other one.
    ///
    /// The requests may be others: with another page size, or of another endpoint. Without a
    /// validator, a response that is outdated still tells that this mapping was the last one.
    ///
    /// - Parameters:
    ///   - keys: the endpoints of the present description, as in the keys of requests.
    ///   - sameNames: whether only earlier mappings of these endpoints count.
    /// - Returns: the names of the endpoints of responses that were not outdated before.
    mutating func outdateResponses(
        ofMirrorsBut keys: Set<String>, sameNames: Bool = false, listing records: [ListedRecord]
    ) throws -> Set<String> {
        var known: Set<UInt64> = [], names: Set<String> = []
        for record in records {
            let ids = try access.responses.ids(listing: record), most = StoreWriter.mostExamined
            // Very many lists may have one record. Those of other mappings are old or new.
            let examined = ids.count <= 2 * most ? ids[...] : ids.prefix(most) + ids.suffix(most)
            for id in examined where known.insert(id).inserted {
                guard let view = try access.responses.view(id: id), !view.isCaches, view.scan != nil,
                    !keys.contains(view.endpoint), !view.isInvalidated || Batch.Page.hasValidators(view.headers),
                    var other = view.entry
                else { continue }
                let name = RequestKey.name(ofEndpoint: view.endpoint)
                if sameNames, !keys.contains(where: { RequestKey.name(ofEndpoint: $0) == name }) { continue }
                other.validation.removeValidators()
                other.validation.isInvalidated = true
                try putResponse(other)
                names.insert(String(name))
            }
        }
        return names
    }

    /// The records of some keys, as responses list them.
    func listedRecords(_ keys: [ImportedKey]) -> [ListedRecord] {
        keys.compactMap { key in
            catalog.entity(key.entity).map { ListedRecord(entity: $0.root, storageKey: key.key.storageKey) }
        }
    }

    /// Forgets the progress of all lists of an endpoint that requests changes: the records have the
    /// values of another mapping, whether they have changed at the server or not.
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
