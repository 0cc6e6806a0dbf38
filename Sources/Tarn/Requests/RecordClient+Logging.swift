// The log of one request: see `RecordRequest.logging(to:)`.

import Logging
import TarnHTTP
import TarnImport

extension RecordClient {
    /// Logs the answer to a request, or its failure, if it has a logger.
    func logged<Value>(
        _ request: RecordRequest<Value>, url: String, _ body: () async throws -> ResponsePage<Value>
    ) async throws -> ResponsePage<Value> {
        guard let logger = request.options.transfer.logger else { return try await body() }
        let began = ContinuousClock.now
        var metadata: Logger.Metadata = [
            "method": "\(request.endpoint.method)", "url": "\(url)",
        ]
        do {
            let page = try await body()
            metadata["source"] = "\(page.source)"
            metadata["records"] = "\(page.records.count)"
            metadata["seconds"] = "\((ContinuousClock.now - began).inSeconds)"
            if let status = page.status { metadata["status"] = "\(status)" }
            if let decision = page.decision {
                metadata["decision"] = "\(decision.reason)"
                metadata["age"] = "\(page.age)"
            }
            if let report = page.report {
                metadata["created"] = "\(report.created)"
                metadata["updated"] = "\(report.updated)"
                metadata["unchanged"] = "\(report.unchanged)"
                metadata["deleted"] = "\(report.deleted)"
            }
            if let failure = page.failure { metadata["failure"] = "\("\(failure)".singleLine)" }
            if let doubt = page.listing.doubt { metadata["doubt"] = "\(doubt.finding)" }
            if !page.cutLists.isEmpty {
                metadata["cutLists"] = "\(page.cutLists.keys.sorted().joined(separator: ", "))"
            }
            if page.listing.skipped > 0 { metadata["skipped"] = "\(page.listing.skipped)" }
            logger.info("answer", metadata: metadata)
            return page
        } catch {
            metadata["seconds"] = "\((ContinuousClock.now - began).inSeconds)"
            metadata["reason"] = "\("\(error)".singleLine)"
            logger.notice("no answer", metadata: metadata)
            throw error
        }
    }
}
