// Pages that lists no longer have: the cursors of some servers are others in each scan.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Sends the request for a page of a list, with the validators of its stored response.
    ///
    /// A page that the list had lost is requested without a condition if the import sets the parent
    /// of its records: meanwhile, the list of another parent may have had them, or none.
    func ask(_ page: PageRequest, of list: ListScan) throws -> PageFetch {
        let target = list.target, setsParent = endpoint.forEach?.parent != nil
        // Pages of typed requests are stored one by one: they have no number of a scan.
        let isWhole = target.request.since == nil && !endpoint.isTypedRequest
        let whole = setsParent && isWhole ? target.beginning.whole : nil
        return try ask(page, target.request, ofObject: target.hadObject) { whole?.hasLost($0.listing) ?? false }
    }

    /// Notes that a page is none of those that an earlier scan of the whole list has stored.
    func noteNew(_ fetch: PageFetch, _ list: ListScan) throws {
        guard list.target.beginning.whole != nil, fetch.stored == nil, !list.target.hasNewPages else { return }
        let key = fetch.key.digest
        list.target.hasNewPages = try client.store.read { try $0.access.responses.view(key) == nil }
    }

    /// Removes the responses of pages that lists have lost: their whole scans did not reach them.
    ///
    /// Nothing counts what they list, and nothing would ever replace them. All responses are read:
    /// only after scans of whole lists that have stored new pages, and once for all lists.
    func removeLostPages() async {
        guard !listsWithNewPages.isEmpty, !options.isDryRun, !Task.isCancelled else { return }
        do {
            try await client.store.removeResponses(try lostPages())
        } catch {
            // The scan is stored. A later one with new pages removes what is left.
            client.options.logger?.warning(
                "pages that lists have lost were not removed",
                metadata: ["name": "\(endpoint.name)", "error": "\(error)"])
        }
    }

    private func lostPages() throws -> [UnusedResponse] {
        let names = listsWithNewPages
        return try client.store.read { reader in
            var scans: [String: UInt64] = [:], lost: [UnusedResponse] = []
            for name in names {
                if let whole = try reader.checkpoint(name.text)?.whole { scans[whole.identity] = whole.scan }
            }
            try reader.access.responses.forEach { view in
                if view.isMirrors, let scan = view.scan, let whole = view.identity.flatMap({ scans[$0] }), scan < whole
                {
                    lost.append(UnusedResponse(view))
                }
                return true
            }
            return lost
        }
    }
}

extension Checkpoint.WholeScan {
    /// Whether the scan did not reach a page that an earlier one has stored.
    fileprivate func hasLost(_ page: ResponseEntry.Listing) -> Bool { page.identity == identity && page.scan < scan }
}
