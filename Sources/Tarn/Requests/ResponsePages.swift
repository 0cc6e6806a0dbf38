public import TarnImport

/// The pages of a request, as a sequence that requests each one when it is asked for.
public struct ResponsePages<Value: MappedRecord>: AsyncSequence, Sendable {
    let client: RecordClient
    let request: RecordRequest<Value>
    /// The deadline of all pages; nil if each has the time of the request.
    var deadline: RequestDeadline?

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The iterator of the pages of a request.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: ResponsePages
        /// The whole sequence is one call in its domain.
        private let call: DomainCall?
        private var next: ResponsePage<Value>.NextPage?
        private var isOver = false
        /// The records that the pages have listed; nil if no orphans are looked for.
        private var list: ListedPages?

        init(_ pages: ResponsePages) {
            self.pages = pages
            call = pages.client.domains.call(in: pages.request.options.domains)
        }

        /// Returns the next page; nil after the last one, and after an error.
        ///
        /// - Throws: as ``RecordClient/page(_:at:)``.
        public mutating func next() async throws -> ResponsePage<Value>? {
            guard !isOver else { return nil }
            isOver = true
            let (client, request, known) = (pages.client, pages.request, next)
            let deadline = pages.deadline ?? request.options.deadline
            if known == nil, request.options.orphans != nil { list = client.beginList() }
            var page = try await call.run { try await client.fetch(request, at: known, deadline) }
            list?.add(page)
            if page.next == nil, let list, let orphans = request.options.orphans {
                let findings: OrphanReport, deleted: ImportReport
                do {
                    (findings, deleted) = try await call.run {
                        try await client.removeOrphans(of: request, orphans, after: list)
                    }
                } catch is CancellationError {
                    // As the cancellation of a request.
                    throw CacheError.request(.cancelled, nil)
                }
                page.orphans = findings
                if !deleted.entities.isEmpty {
                    var report = page.report ?? ImportReport()
                    report.add(deleted)
                    page.report = report
                }
            }
            next = page.next
            isOver = page.next == nil
            return page
        }
    }
}
