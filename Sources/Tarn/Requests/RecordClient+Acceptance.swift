// Responses that another HTTP client has fetched.

import Foundation
public import TarnHTTP
import TarnStore

extension RecordClient {
    /// Imports a response that another HTTP client has fetched, and returns its records.
    ///
    /// The response becomes the stored answer of the request, if the rules of HTTP allow it: with
    /// its validators it is confirmed and answered as one that this client has fetched. One that a
    /// rule ignores, or takes for the end of the list, has no records and is not stored.
    ///
    /// ```swift
    /// let response = try await httpClient.execute(…)
    /// let page = try await forge.accept(
    ///     .issues("acme/anvil"), url: url, status: Int(response.status.code),
    ///     headers: TransportHeaders(response.headers.map { .init($0.name, $0.value) }), body:
    ///     bytes)
    /// ```
    ///
    /// - Parameters:
    ///   - request: the request that the response answers.
    ///   - url: the URL that was requested, with its query; nil for that of the request.
    ///   - status: the status code.
    ///   - headers: the header fields of the response.
    ///   - body: the body, decoded from its content coding.
    /// - Returns: the page, whose ``ResponsePage/next`` continues with this client.
    /// - Throws: `CacheError` if the response is a failure, is not JSON, or the URL does not belong
    ///   to the API.
    public func accept<Value>(
        _ request: RecordRequest<Value>, url: String? = nil, status: Int = 200, headers: TransportHeaders, body: [UInt8]
    ) async throws -> ResponsePage<Value> {
        do {
            var asked = request.cacheRequest()
            asked.url = url
            let prepared = try await cache.prepared(
                asked, to: request.endpoint, fingerprint(of: request), options: request.transferOptions)
            let response = TransportResponse(status: status, headers: headers, body: body)
            let stored = try store.read { try $0.access.responses.view(prepared.digest)?.entry }
            let isEmpty = try isEmpty(response, to: prepared.message, prepared.request)
            let now = client.now
            let transfer: Transfer
            if let ending = try ending(at: response, prepared) {
                // The page is gone: its stored response is no longer an answer.
                if ending != .passedOver, stored != nil, prepared.options.isPersisted {
                    try await cache.forget(prepared)
                }
                transfer = try cache.passedOver(response, prepared, ending, now)
            } else {
                transfer = try await cache.take(
                    response, prepared, stored, isEmpty: isEmpty, outboxRevision: nil, nil, now, now)
            }
            let records = try records(of: transfer, request)
            var page = ResponsePage(transfer, records, request)
            if let ending = transfer.ending {
                page.listing.isCutOff = ending != .last
            } else {
                page.next = prepared.next(transfer.page).map { .init(place: .cached($0)) }
            }
            return page
        } catch {
            throw CacheError(error, url: url ?? "", place: request.endpoint.place)
        }
    }

    /// Returns how a list ends at a response that a rule ignores, or takes for its end; nil for a
    /// page.
    private func ending(at response: TransportResponse, _ prepared: PreparedRequest) throws -> Transfer.Ending? {
        switch prepared.request.decision(about: response, sent: prepared.message.headers) {
        case .ignored: .passedOver
        case .last: try prepared.ending(refusedBy: response)
        default: nil
        }
    }
}
