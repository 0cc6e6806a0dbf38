// The data of the page's views, read from the store by each request.

import TarnInspect
import TarnStore

/// The views of the page: a function for each.
struct InspectViews: Sendable {
    let inspector: StoreInspector
    private let verification: VerificationRun
    private let pageUse: PageUseRun

    init(_ inspector: StoreInspector) {
        self.inspector = inspector
        verification = VerificationRun(inspector)
        pageUse = PageUseRun(inspector)
    }

    /// Answers a request for data; nil for an unknown view.
    func answer(_ view: String, _ request: PageRequest) throws -> PageAnswer? {
        switch view {
        case "overview": try .json(OverviewAnswer(inspector.statistics()))
        case "schema": try .json(SchemaAnswer(inspector.storedCatalog()))
        case "records": try records(request)
        case "record": try record(request)
        case "responses": try .json(ResponsesAnswer(inspector, after: request.query["after"].flatMap { UInt64($0) }))
        case "changes": try .json(ChangesAnswer(inspector, since: request.query["since"].flatMap { UInt64($0) }))
        case "pages": try .json(pageUse.state(starting: request.query["start"] != nil))
        case "verify": try .json(verification.state(starting: request.query["start"] != nil))
        default: nil
        }
    }

    private func records(_ request: PageRequest) throws -> PageAnswer {
        guard let entity = request.query["entity"] else { return .failure(400, "the parameter entity is missing") }
        let text = request.query["text"] ?? ""
        let page = try inspector.recordPage(
            of: entity, after: request.query["after"].flatMap(Hexadecimal.bytes),
            reversed: request.query["reversed"] != nil, limit: request.number("limit", default: 50, in: 1...500)
        ) { record in text.isEmpty || FieldText.contains(text, record) }
        return try .json(RecordsAnswer(page, try inspector.storedCatalog()))
    }

    private func record(_ request: PageRequest) throws -> PageAnswer {
        guard let entity = request.query["entity"], let key = request.query["key"].flatMap(Hexadecimal.bytes) else {
            return .failure(400, "a parameter is missing: entity, key")
        }
        guard let key = key.withUnsafeBytes({ RecordKey(storageKey: $0) }) else {
            return .failure(400, "the parameter key is not a storage key")
        }
        let found = try inspector.record(entity, key, limit: request.number("limit", default: 20, in: 0...1000))
        return try .json(RecordAnswer(found, try inspector.storedCatalog()))
    }
}
