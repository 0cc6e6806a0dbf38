// Bodies of responses that no request has fetched: from files, from pipes, from webhooks.

import Locking
import TarnHTTP
package import TarnImport
package import TarnStore

/// Imports bodies of responses that other programs have fetched or received.
///
/// Their records are stored as those of a response to an endpoint. The bodies are answers to no
/// request: they are not kept, delete no orphans, and move no progress of a sync. Stored responses
/// that list a changed record lose their validators, so that the next sync reads the server's
/// values again.
package struct BodyImport: Sendable {
    /// The reason why a body was not imported.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let cache: RecordCache
    private let request: EndpointRequest
    private let importer: PageImporter
    private let url: String

    /// Creates an import.
    ///
    /// - Parameters:
    ///   - cache: a cache of the store. It sends nothing.
    ///   - endpoint: the endpoint to whose responses the bodies belong; the description need not
    ///     have it.
    ///   - parent: the record that the listed ones belong to, for an endpoint with `for_each`.
    /// - Throws: `CacheError` if there is no such record.
    package init(_ cache: RecordCache, _ endpoint: Endpoint, parent: RecordKey? = nil) throws(CacheError) {
        let client = cache.client.client(of: endpoint)
        var request = EndpointRequest(client: client, endpoint: endpoint, fingerprint: "", authScope: "")
        do {
            request.parent = try parent.map { try request.parentRecord($0) }
            importer = try PageImporter(request, PageWants())
        } catch {
            throw CacheError(error, url: "", place: endpoint.place)
        }
        self.cache = cache
        self.request = request
        // Values of the path and the query are those of `@param`, as far as they are known.
        url = (try? request.firstPage().url) ?? client.api.base
    }

    /// The result of the import of one body.
    package struct Result: Sendable {
        package var report: ImportReport
        /// Whether a rule of the description takes the body for one without records.
        package var isPassedOver = false
        /// The error that the body states beside its records; nil if it states none.
        package var statedError: String?
    }

    /// Imports a body as one change.
    ///
    /// - Parameter name: the name of the body in errors and diagnostics, such as that of its file.
    /// - Throws: ``Failure`` if the body cannot be imported, and errors of the store. The store
    ///   then has nothing of it.
    package func add(_ body: [UInt8], named name: String) async throws -> Result {
        let response = try document(body, named: name)
        switch request.decision(about: response, sent: TransportHeaders()) {
        case .records(isEmpty: false): break
        case .failed(let message):
            let said = message.map { ": \($0)" } ?? ""
            throw Failure(description: "\(name): a rule of the description makes it a failure\(said)")
        default: return Result(report: ImportReport(), isPassedOver: true)
        }
        let lent = try cache.importers.take(cache.store)
        defer { cache.importers.give(back: lent) }
        lent.value.hooks = cache.hooks(for: request.endpoint, TransferOptions())
        // All keys: see below.
        lent.value.keyLimit = .max
        let others = cache.others
        lent.value.unit = ImportUnit(responses: []) { report, writer in
            try writer.outdateCollectedMirrors(of: others)
            for key in report.keys(.created) + report.keys(.updated) {
                guard let entity = writer.catalog.entity(key.entity) else { continue }
                try writer.responses.removeValidators(
                    ofResponsesListing: ListedRecord(entity: entity.root, storageKey: key.key.storageKey))
            }
        }
        let page = PageImporter.Page(url: url, shownURL: name, position: 0)
        do {
            _ = try importer.draft(response, page, into: lent.value)
        } catch {
            throw BodyImport.failure(MirrorError(error, url: name, place: request.place), name)
        }
        var result = Result(report: try await lent.value.commit(to: cache.store))
        result.statedError = importer.partialError(response, page)?.message
        return result
    }

    /// The body as a response: lines of JSON become a list, and files in gzip or zstd are
    /// decompressed.
    private func document(_ body: [UInt8], named name: String) throws(Failure) -> TransportResponse {
        let received = TransportResponse(
            status: 200, headers: TransportHeaders([.init("Content-Type", "application/json")]), body: body)
        let isLines = BodyForm.looksLikeLines(body)
        do {
            return try received.document(
                as: isLines ? .lines : request.endpoint.format, of: TransportRequest(url: name))
        } catch {
            throw Failure(description: "\(name): \(error.detail)")
        }
    }

    /// The failure of a body: its name is in the place of the request's.
    private static func failure(_ error: MirrorError, _ name: String) -> Failure {
        switch error {
        case .response(let error, _, _, let place):
            Failure(description: "\(name): \(error)\(MirrorError.wayOut(of: error)) (\(place))")
        case .noKeys(let diagnostic, _, _, let place):
            Failure(
                description: "\(name): none of its records can be stored (check `records` and `key`): \(diagnostic) "
                    + "(\(place))")
        case .status(_, _, _, let message): Failure(description: "\(name): \(message)")
        default: Failure(description: "\(name): \(error)")
        }
    }
}
