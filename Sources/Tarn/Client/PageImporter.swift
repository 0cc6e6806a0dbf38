// The import of a page: its records are drafted, and its response becomes an entry.

import TarnHTTP
import TarnImport
import TarnStore

/// Drafts the records of an endpoint's pages, and creates the entries of their responses.
struct PageImporter {
    let request: EndpointRequest
    private let plan: Plan

    /// The parts of a page that pagination needs.
    var wants: PageWants { plan.wants }
    /// The JSON paths that pagination and metadata read from every page.
    var questions: DocumentQuestions { plan.questions }

    /// - Throws: `MirrorError.endpoint` if a path of the pagination is invalid.
    init(_ request: EndpointRequest, _ wants: PageWants) throws {
        self.request = request
        plan = try Plan(request, wants)
    }

    /// Creates an importer for another list of the same endpoint.
    ///
    /// - Parameter other: its plan is shared if it is for the same parts of a page.
    /// - Throws: as ``init(_:_:)``.
    init(_ request: EndpointRequest, _ wants: PageWants, like other: PageImporter?) throws {
        self.request = request
        plan = if let other, other.plan.given == wants { other.plan } else { try Plan(request, wants) }
    }

    /// The parts that are equal for all lists of an endpoint.
    private final class Plan: Sendable {
        /// The parts of a page that pagination asks for.
        let given: PageWants
        let wants: PageWants
        /// The JSON paths that pagination and metadata read from every page.
        let questions: DocumentQuestions
        /// The values by which changes are requested; nil for none.
        let increments: IncrementalValues?

        init(_ request: EndpointRequest, _ given: PageWants) throws {
            self.given = given
            var wants = given
            let rule = request.endpoint.incremental
            if let path = rule?.path, !wants.values.contains(path) { wants.values.append(path) }
            if let field = rule?.header { wants.fields.append(field) }
            self.wants = wants
            increments = request.increments
            func path(_ text: String) throws -> JSONPath {
                guard let path = JSONPath(text) else {
                    throw MirrorError.endpoint(
                        place: request.place, message: "the pagination uses \"\(text)\", which is not a key path")
                }
                return path
            }
            var questions = DocumentQuestions(
                values: try wants.values.map(path), record: try wants.record.map(path),
                increment: rule?.field,
                documents: try request.endpoint.metadata.map(\.path) + wants.composites.map(path),
                members: PageImporter.members)
            questions.containers = ListContainers(
                request.endpoint.listedEntities.map { request.client.description.containers(ofListsIn: $0) })
            self.questions = questions
        }

    }

    /// The members of envelopes that are evidence of other pages.
    private static let members = MemberNames(
        scalars: PageEvidence.memberNames.scalars, nested: PageEvidence.memberNames.nested,
        objects: PageEvidence.memberNames.objects, open: PageEvidence.memberNames.open)

    /// A page of the list.
    struct Page {
        /// The URL of the page, as the API names it.
        var url: String
        /// The URL as errors show it.
        var shownURL: String
        /// The number of records that the previous pages list.
        var position: Int
    }

    /// Drafts the records of a response.
    ///
    /// - Parameter stored: the stored entry of the request, which may be of the same body.
    func draft(
        _ response: TransportResponse, _ page: Page, known stored: ResponseEntry? = nil, into importer: Importer
    ) throws -> Importer.Added {
        // 204 and other empty responses list nothing (RFC 9110 §15.3.5).
        if response.body.isEmpty, response.status != 200 {
            try checkListsNothing(response, page)
            return Importer.Added(listed: [], count: 0)
        }
        importer.conceal(secretsOf: response)
        // Pages that lead to the next one themselves need no comparison with the page before.
        let pagination = request.endpoint.pagination
        importer.digestsRefused = pagination.style.isCounted || pagination == .automatic
        let known = importer.diagnostics.count
        let lists: RecordLists =
            request.endpoint.envelope.isEmpty
            ? .list(request.endpoint.records, entity: request.endpoint.entity, parent: parent)
            : .envelope(request.endpoint.envelope)
        var context = context(response, page, isRead: importer.readsContext), added: Importer.Added
        context.ignoresNulls = partial(response)?.path == StatedError.graphQL
        var questions = plan.questions
        questions.readsElements = !PageMetadata.cutLists(stored?.listing.metadata).isEmpty
        do throws(ImportError) {
            let body = try importer.naming(
                request.endpoint.columns, in: response.body, of: request.endpoint.entitiesByPath)
            added = try importer.add(
                body, lists, context: context, asking: questions, known: stored)
        } catch {
            if let stated = stated(inPlaceOf: error, response, page) { throw stated }
            throw importer.concealed(hinted(error, response))
        }
        if added.count == 0 { try checkListsNothing(response, page) }
        try checkMaps(response, page, added.count, importer)
        // Only diagnostics of this page: other pages of the unit have their own.
        // Of a list of messages, others may be deletions, or passed over.
        let isPlain = request.endpoint.envelope.allSatisfy(\.elements.isPlain)
        if added.skipped > 0, isPlain ? added.listed.isEmpty : added.skipped == added.count,
            let diagnostic = importer.diagnostics.dropFirst(known).first(where: { $0.code == .keyMissing })
        {
            throw MirrorError.noKeys(
                diagnostic, method: request.endpoint.method, url: page.shownURL, place: request.place)
        }
        return added
    }

    /// Adds the way out to the error of a body that is lines of JSON, or a script.
    private func hinted(_ error: ImportError, _ response: TransportResponse) -> ImportError {
        guard case .invalidJSON(let reason, let offset, let path, let beginning) = error,
            let hint = request.endpoint.format.hint(for: response.body)
        else { return error }
        return .invalidJSON(reason: "\(reason); \(hint)", offset: offset, path: path, beginning: beginning)
    }

    /// Checks that an answer without records says that there are none.
    func checkListsNothing(_ response: TransportResponse, _ page: Page) throws(MirrorError) {
        // RFC 9110 §15.3.3 and §15.3.6: the answer is not there yet, or there is none.
        guard response.status != 202, response.status != 205 else {
            throw MirrorError.status(
                code: response.status, method: request.endpoint.method, url: page.shownURL,
                message: "it lists no records, and does not say that there are none; sync again later, or declare "
                    + "what it means (responses)")
        }
        // A list must not end because the server has failed, and says so with status 200.
        let endpoint = request.endpoint, parts = endpoint.envelope.map(\.path)
        let lists = parts.isEmpty ? [endpoint.records] : parts
        var error = StatedError.find(in: response.body, around: lists, endpoint.more)
        // Beside the list of a record, the state may be that of the record.
        if error == nil, request.parent == nil {
            error = StatedError.findUnfinished(in: response.body, around: lists, endpoint.more, url: page.url)
        }
        guard let error else { return }
        throw stated(error, response, page, lists: "no records")
    }

    /// The error that an answer states beside its records; nil if it states none.
    func partialError(_ response: TransportResponse, _ page: Page) -> Checkpoint.PartialError? {
        partial(response).map { error in
            Checkpoint.PartialError(
                status: response.status, url: page.shownURL, message: message(error, response, lists: "records"))
        }
    }

    /// The numbers of a page's records with a list that the server has cut off, by its flag.
    ///
    /// They are those of the entry: a page that comes again, or is confirmed, is not read anew.
    func cutLists(_ entry: ResponseEntry) -> [String: Int] {
        PageMetadata.cutLists(entry.listing.metadata).filter { !request.endpoint.more.ignores($0.key) }
    }

    /// The failure of a response that states an error beside its records: some of them, or parts of
    /// them, are missing. Nil if it states none.
    func partialFailure(_ response: TransportResponse, _ page: Page) -> MirrorError? {
        partialError(response, page).map { error in
            .status(code: error.status, method: request.endpoint.method, url: error.url, message: error.message)
        }
    }

    private func partial(_ response: TransportResponse) -> StatedError? {
        let endpoint = request.endpoint
        return StatedError.find(
            besideRecords: response.body, around: Array(endpoint.entitiesByPath.keys), endpoint.more)
    }

    /// The error that an answer states in place of its list: some servers refuse with status 200.
    ///
    /// - Returns: nil if the answer states none in words.
    private func stated(
        inPlaceOf error: ImportError, _ response: TransportResponse, _ page: Page
    ) -> MirrorError? {
        let endpoint = request.endpoint, parts = endpoint.envelope.map(\.path), list: String
        switch error {
        case .recordsNotFound(let path, _, _), .notRecords(let path, "null"): list = path
        default: return nil
        }
        guard
            let stated = StatedError.find(
                in: response.body, around: parts.isEmpty ? [endpoint.records] : parts, .fail), !stated.text.isEmpty
        else { return nil }
        let text = response.secrets?.conceal(stated.text) ?? stated.text
        return .status(
            code: response.status, method: endpoint.method, url: page.shownURL,
            message: "it has no records at `\(list)`, and `\(stated.path)` says \"\(text)\" (\(request.place))")
    }

    /// Checks that no error is taken for a record of a map, which has any names.
    private func checkMaps(
        _ response: TransportResponse, _ page: Page, _ count: Int, _ importer: Importer
    ) throws(MirrorError) {
        let endpoint = request.endpoint
        // In large answers, an error is not looked for.
        guard count > 0, count <= 8 || response.body.count <= 1 << 16 else { return }
        for (path, entity) in endpoint.entitiesByPath where path.steps.last == .each {
            let error = StatedError.find(inMap: response.body, at: path, endpoint.more) { names in
                importer.takes(anyOf: names, entity)
            }
            if let error { throw stated(error, response, page, lists: count == 1 ? "no other record" : "records") }
        }
    }

    /// The error of an answer that states one.
    ///
    /// - Parameter listed: the records that it lists.
    private func stated(
        _ error: StatedError, _ response: TransportResponse, _ page: Page, lists listed: String
    ) -> MirrorError {
        MirrorError.status(
            code: response.status, method: request.endpoint.method, url: page.shownURL,
            message: message(error, response, lists: listed))
    }

    /// The message about an error that an answer states.
    private func message(_ error: StatedError, _ response: TransportResponse, lists listed: String) -> String {
        let text = response.secrets?.conceal(error.text) ?? error.text
        let said = text.isEmpty ? "states an error" : "says \"\(text)\""
        let wayOut =
            request.endpoint.isTypedRequest
            ? "request it again, or take what there is with pages"
            : "sync again later, or, if that is no error, write more: { ignore: ['\(error.path)'] }"
        return "it lists \(listed), and `\(error.path)` \(said); \(wayOut)"
    }

    /// The relationship of listed records to the parent record.
    private var parent: ParentReference? {
        guard let relationship = request.endpoint.forEach?.parent, let parent = request.parent else { return nil }
        return ParentReference(relationship: relationship, key: parent.key)
    }

    /// The entry of a response.
    ///
    /// - Parameters:
    ///   - headers: the header fields of the response, as far as they may be stored.
    ///   - stored: the stored entry of the request.
    func entry(
        _ key: RequestKey, _ response: TransportResponse, headers: TransportHeaders, _ added: Importer.Added,
        known stored: ResponseEntry? = nil, at now: Timestamp
    ) -> ResponseEntry {
        var entry = ResponseEntry(
            request: key,
            validation: .init(
                status: response.status, headers: headers.kept(also: wants.fields), fetchedAt: now, validatedAt: now),
            listing: .init(
                added.listed, count: added.count, skipped: added.skipped,
                metadata: added.isRepeated
                    ? stored?.listing.metadata
                    : PageMetadata(
                        added.facts, wants, request.endpoint.metadata, plan.increments, firstCount: added.firstCount,
                        read: added.readDigest)?
                        .text))
        entry.imported = added.imported
        entry.mapping = request.client.mappingDigest
        entry.signs = PageMetadata.signs
        entry.validation.answeredBy = response.redirectedTo.map(request.client.canonicalURL)
        return entry
    }

    /// The values that the mapping may read from outside the body.
    ///
    /// In increasing precedence: values of the parent record, parameters of the description,
    /// parameters of the query that was sent.
    ///
    /// - Parameter isRead: whether the mapping reads any of them.
    private func context(_ response: TransportResponse, _ page: Page, isRead: Bool) -> ImportContext {
        guard isRead else {
            var context = ImportContext(firstPosition: page.position, source: page.shownURL)
            context.listsExcerpts = request.endpoint.listsExcerpts
            return context
        }
        let values = request.parent?.values ?? [:]
        var parameters = values
        // A path may name an attribute of the parent without its variable: {+url} is {+list.url}.
        if let forEach = request.endpoint.forEach {
            for (name, value) in values where name.hasPrefix(forEach.variable + ".") {
                parameters[String(name.dropFirst(forEach.variable.count + 1))] = value
            }
        }
        for parameter in request.parameters { parameters[parameter.name] = parameter.value }
        // If the query repeats a parameter, its first value counts.
        for (name, value) in QueryParameters.values(in: page.url).reversed() { parameters[name] = value }
        var context = ImportContext(
            headers: response.headers.fields.map { ($0.name, $0.value) }, parameters: parameters,
            firstPosition: page.position, source: page.shownURL)
        context.listsExcerpts = request.endpoint.listsExcerpts
        return context
    }
}
