// The check of a description against the server: the first page of each endpoint.

import Foundation
import Tarn
import TarnHTTP
import TarnImport
import TarnStore

extension DescriptionCheck {
    /// Fetches the first page of each endpoint into a temporary store, and returns the findings.
    ///
    /// Of an endpoint with several lists, the first one is requested: of one parent record in the
    /// first pages, and of the first values of its partitions. The findings name what was not
    /// requested, and why. Endpoints that list parents of the named ones are requested, too.
    ///
    /// - Parameters:
    ///   - base: the URLs that replace base URLs of the description; nil for none.
    ///   - names: the endpoints to check; nil for all.
    /// - Throws: if the temporary store cannot be created or written, or the credentials of the
    ///   only API are missing. Missing ones of one of several APIs are a finding at its endpoints.
    package func onlineFindings(
        _ description: Description, base: BaseReplacements? = nil, endpoints names: Set<String>? = nil
    ) async throws -> [CheckFinding] {
        let places = DescriptionPlaces(description)
        let wanted = description.endpoints.filter { names?.contains($0.name) ?? true }
        let needed = DescriptionCheck.withParents(wanted, description)
        var sample = description
        sample.endpoints = description.endpoints.filter { needed.contains($0.name) }.map(DescriptionCheck.firstPage)
        let folder = FileManager.default.temporaryDirectory.path + "/tarn-check-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try Store.open(
            at: folder, schema: description.schema, options: Store.Options(durability: .volatile))
        var client = APIClient.Options(), options = APIMirror.Options()
        base?.apply(to: &client)
        client.requiresSecrets = !description.hasSeveralAPIs
        // One list of each endpoint.
        options.limit = 1
        sample.keepCredentials(ofEndpoints: needed)
        let mirror = APIMirror(
            try APIClient(sample, store: store, options: client) { CurlTransport($1.transport) }, options: options)
        let report = await mirror.sync(nil) { _ in }
        try DescriptionCheck.requireStore(report)
        let absent = report.absentAttributes.map { attribute in
            finding(
                .warning, .absent, places.place(entity: attribute.entity, field: attribute.attribute),
                "no record of the first pages has \(attribute.attribute): check its JSON path")
        }
        let answers = try wanted.flatMap { endpoint -> [CheckFinding] in
            let place = places.place(endpoint: endpoint.name)
            guard let result = report.endpoints.first(where: { $0.name == endpoint.name }) else {
                return [finding(.note, .endpointSkipped, place, "not requested: an earlier failure ended the check")]
            }
            return findings(of: result, place, try ListSample(endpoint, result, store))
        }
        let asked = Set(wanted.map(\.name))
        let others = report.endpoints.filter { !asked.contains($0.name) }.flatMap { result in
            let place: Place = result.name.isEmpty ? ("", nil) : places.place(endpoint: result.name)
            return result.failures.map { finding(.error, .endpointFailed, place, text(of: $0, result)) }
        }
        return answers + others + absent
    }

    /// Throws a failure of the temporary store, such as on a full disk: no endpoint is the reason.
    private static func requireStore(_ report: SyncReport) throws {
        for failure in report.failures {
            if case .store(let error) = failure, StoreError.isOfLMDB(error) { throw error }
        }
    }

    /// The names of endpoints, and of those that list the records that they are requested for.
    private static func withParents(_ endpoints: [Endpoint], _ description: Description) -> Set<String> {
        func root(_ entity: String) -> String {
            var name = entity
            for _ in 0..<description.schema.entities.count {
                guard let parent = description.schema.entities.first(where: { $0.name == name })?.parent else { break }
                name = parent
            }
            return name
        }
        var names = Set(endpoints.map(\.name)), next = endpoints
        while let endpoint = next.popLast() {
            guard let parent = endpoint.forEach.map({ root($0.entity) }) else { continue }
            for other in description.endpoints {
                let listed = other.envelope.isEmpty ? [other.entity] : other.envelope.map(\.entity)
                if listed.contains(where: { root($0) == parent }), names.insert(other.name).inserted {
                    next.append(other)
                }
            }
        }
        return names
    }

    /// The endpoint with one page, which deletes nothing.
    private static func firstPage(_ endpoint: Endpoint) -> Endpoint {
        var endpoint = endpoint
        endpoint.limits = Endpoint.Limits(pages: 1, stopsQuietly: true)
        endpoint.orphans = nil
        endpoint.commitUnit = .pages(1)
        return endpoint
    }

    private typealias Place = (field: String, mark: YAMLValue.Mark?)

    private func finding(
        _ severity: CheckFinding.Severity, _ code: CheckFinding.Code, _ place: Place, _ message: String
    ) -> CheckFinding {
        CheckFinding(severity, code, file: file, at: place.mark, field: place.field, message)
    }

    /// The text of a failure. That of missing credentials names the API, if there are several.
    private func text(of failure: MirrorError, _ result: SyncReport.Endpoint) -> String {
        guard let api = result.api, failure.isAuthentication else { return failure.description }
        return "\(api): \(failure)"
    }

    /// The largest numbers of problems of the import, and of unmapped paths, that are named.
    private static let mostGroups = 20, mostPaths = 50

    private func findings(of result: SyncReport.Endpoint, _ place: Place, _ sample: ListSample) -> [CheckFinding] {
        let imported = result.report
        var findings = result.failures.map { finding(.error, .endpointFailed, place, text(of: $0, result)) }
        if result.ignored > 0 {
            findings.append(
                finding(
                    .warning, .endpointAnswered, place,
                    "a rule under `responses` ignores the first page\(sample.shown): nothing of it is stored"))
        }
        if result.pages == 0, result.failures.isEmpty, result.ignored == 0 {
            return [finding(.note, .endpointSkipped, place, "not requested: \(sample.reasonForNone)")]
        }
        if result.failures.isEmpty, result.pages > 0 {
            let listed = "the first page\(sample.shown) lists \(result.listed) record\(result.listed == 1 ? "" : "s")"
            // Another list may have records.
            let isOdd = result.listed == 0 && !sample.isOneOfSeveral
            findings.append(
                finding(
                    isOdd ? .warning : .note, .endpointAnswered, place, isOdd ? listed + ": check `records`" : listed))
        }
        if let rest = sample.rest { findings.append(finding(.note, .endpointSkipped, place, rest)) }
        if let choice = result.pagination {
            findings.append(
                finding(
                    .note, .paginationDetected, place,
                    "paginate: \(choice.style), because \(choice.reason); write it down, because a guess can be wrong"))
        }
        if let skipped = imported.skippedText { findings.append(finding(.error, .notImported, place, skipped)) }
        let groups = imported.diagnosticGroups, paths = imported.unmapped
        findings += groups.prefix(DescriptionCheck.mostGroups).map {
            finding(
                .warning, .notImported, place, ($0.count > 1 ? "\($0.count) times, the first: " : "") + "\($0.first)")
        }
        if groups.count > DescriptionCheck.mostGroups {
            let more = groups.count - DescriptionCheck.mostGroups
            findings.append(
                finding(
                    .warning, .notImported, place,
                    more == 1 ? "1 more field has problems" : "\(more) more fields have problems"))
        }
        findings += paths.prefix(DescriptionCheck.mostPaths).map {
            finding(.warning, .unmapped, place, "\($0.entity): \($0.path) is not mapped: map it or ignore it")
        }
        if paths.count > DescriptionCheck.mostPaths {
            let more = paths.count - DescriptionCheck.mostPaths
            findings.append(
                finding(.warning, .unmapped, place, "not mapped, either: \(more) more path\(more == 1 ? "" : "s")"))
        }
        return findings
    }
}
