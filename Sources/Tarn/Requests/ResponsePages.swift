public import TarnImport

/// The pages of a request, as a sequence that requests each one when it is asked for.
public struct ResponsePages<Value: MappedRecord>: AsyncSequence, Sendable {
    let client: RecordClient
    let request: RecordRequest<Value>

    public func makeAsyncIterator() -> Iterator { Iterator(client: client, request: request) }

    /// The iterator of the pages of a request.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: RecordClient
        private let request: RecordRequest<Value>
        private var next: ResponsePage<Value>.NextPage?
        private var isOver = false

        init(client: RecordClient, request: RecordRequest<Value>) {
            self.client = client
            self.request = request
        }

        /// Returns the next page; nil after the last one, and after an error.
        ///
        /// - Throws: as ``RecordClient/page(_:at:)``.
        public mutating func next() async throws -> ResponsePage<Value>? {
            guard !isOver else { return nil }
            isOver = true
            let page = try await client.page(request, at: next)
            next = page.next
            isOver = page.next == nil
            return page
        }
    }
}
