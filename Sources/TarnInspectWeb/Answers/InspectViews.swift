// The data of the page's views, read from the store by each request.

import TarnInspect
import TarnStore

/// The views of the page: a function for each.
struct InspectViews: Sendable {
    /// The most rows that a list reads for one answer, and the most entries of an index or of the
    /// change log for one record: an answer takes a bounded time in a store of any size.
    private static let rows = 5000, entries = 10_000
    /// The most entries of the outbox that are read to find what an operation waits for: in a list,
    /// and in the view of one operation.
    private static let waitsInList = 100, waits = 5000
    /// The time after which a list reads no further row for one answer: rows may have any size.
    private static let time: Duration = .seconds(2)

    let inspector: StoreInspector
    private let verification: BackgroundRun<VerificationState>
    private let pageUse: BackgroundRun<PageUseState>

    init(_ inspector: StoreInspector) {
        self.inspector = inspector
        verification = BackgroundRun(inspector)
        pageUse = BackgroundRun(inspector)
    }

    /// Answers a request for data; nil for an unknown view.
    func answer(_ view: String, _ request: PageRequest) throws -> PageAnswer? {
        switch view {
        case "overview": try overview()
        case "schema": try .json(SchemaAnswer(inspector.storedCatalog()))
        case "records": try records(request)
        case "record": try record(request)
        case "outbox": try outbox(request)
        case "operation": try operation(request)
        case "progress": try .json(ProgressAnswer(inspector, after: request.position("after")))
        case "lists": try lists(request)
        case "responses": try .json(ResponsesAnswer(inspector, before: request.id("after")))
        case "changes": try .json(ChangesAnswer(inspector, before: request.position("before")))
        case "pages": try .json(pageUse.state(starting: request.query["start"] != nil))
        case "verify": try .json(verification.state(starting: request.query["start"] != nil))
        default: nil
        }
    }

    private func overview() throws -> PageAnswer {
        // A file of another program has tables and no catalog.
        try .json(OverviewAnswer(inspector.sizes(), (try? inspector.storedCatalog()) ?? Catalog()))
    }

    private func records(_ request: PageRequest) throws -> PageAnswer {
        guard let entity = request.query["entity"] else { return .failure(400, "the parameter entity is missing") }
        let text = request.query["text"] ?? ""
        let catalog = try inspector.storedCatalog()
        do {
            let page = try inspector.recordPage(
                of: entity, by: request.query["order"], after: request.position("after"),
                reversed: request.query["reversed"] != nil, limit: request.number("limit", default: 50, in: 1...500),
                most: Self.rows, time: Self.time, targets: RecordsAnswer.targets,
                condition: request.query["where"] ?? ""
            ) { record in text.isEmpty || FieldText.contains(text, record) }
            return try .json(RecordsAnswer(page, of: entity, catalog))
        } catch {
            guard error is QueryTextError || error is RecordSelectionError || error is StoreError else { throw error }
            return .failure(400, "\(error)")
        }
    }

    private func record(_ request: PageRequest) throws -> PageAnswer {
        guard let entity = request.query["entity"], let key = request.query["key"].flatMap(Hexadecimal.bytes) else {
            return .failure(400, "a parameter is missing: entity, key")
        }
        // Of a long key, the storage key has the beginning and a digest. The row has the whole key.
        guard let key = key.withUnsafeBytes({ RecordKey(reference: $0) }) else {
            return .failure(400, "the parameter key is not a storage key")
        }
        let limit = request.number("limit", default: 20, in: 0...1000)
        do {
            let found = try inspector.record(
                entity, limit: limit + 1, most: Self.entries, waits: Self.waitsInList, targets: FieldText.targets
            ) { _ in key }
            return try .json(RecordAnswer(found, limit: limit, try inspector.storedCatalog()))
        } catch let error as StoreError {
            guard case .unknownEntity = error else { throw error }
            return .failure(404, "\(error)")
        }
    }

    private func outbox(_ request: PageRequest) throws -> PageAnswer {
        var filter: OutboxFilter?
        if let name = request.query["state"] {
            filter = OutboxFilter(rawValue: name)
            guard filter != nil else {
                let known = OutboxFilter.allCases.map(\.rawValue).joined(separator: ", ")
                return .failure(400, "the parameter state is none of \(known)")
            }
        }
        let page = try inspector.outboxPage(
            in: filter, after: request.position("after"), limit: request.number("limit", default: 50, in: 1...200),
            most: Self.rows, time: Self.time, waits: Self.waitsInList, targets: OperationAnswer.Form.short.targets)
        return try .json(OutboxAnswer(page, try inspector.storedCatalog()))
    }

    private func operation(_ request: PageRequest) throws -> PageAnswer {
        guard let id = try request.id("id") else { return .failure(400, "the parameter id is missing") }
        let found = try inspector.outboxOperation(
            id, waits: Self.waits, targets: OperationAnswer.Form.whole.targets)
        return try .json(OperationViewAnswer(id, found, try inspector.storedCatalog()))
    }

    private func lists(_ request: PageRequest) throws -> PageAnswer {
        guard let endpoint = try request.position("endpoint") else {
            return .failure(400, "the parameter endpoint is missing")
        }
        return try .json(ListsAnswer(inspector, of: endpoint, after: request.position("after")))
    }
}
