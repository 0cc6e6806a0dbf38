// The check of a description against the server: the first page of each endpoint.

import Foundation
import Tarn
import TarnHTTP
import TarnImport
import TarnStore

extension DescriptionCheck {
    /// Fetches the first page of each endpoint into a temporary store, and returns the findings.
    ///
    /// Endpoints with `for_each` are not requested: their requests need records.
    ///
    /// - Parameters:
    ///   - base: the URLs that replace base URLs of the description; nil for none.
    ///   - names: the endpoints to check; nil for all.
    /// - Throws: if the temporary store cannot be created, or credentials are missing.
    package func onlineFindings(
        _ description: Description, base: BaseReplacements? = nil, endpoints names: Set<String>? = nil
    ) async throws -> [CheckFinding] {
        let places = DescriptionPlaces(description)
        let wanted = description.endpoints.filter { names?.contains($0.name) ?? true }
        var sample = description
        sample.endpoints = wanted.filter { $0.forEach == nil }.map(DescriptionCheck.firstPage)
        let folder = FileManager.default.temporaryDirectory.path + "/tarn-check-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try Store.open(
            at: folder, schema: description.schema, options: Store.Options(durability: .volatile))
        var client = APIClient.Options()
        base?.apply(to: &client)
        sample.keepCredentials(ofEndpoints: Set(sample.endpoints.map(\.name)))
        let mirror = APIMirror(
            try APIClient(sample, store: store, options: client) { CurlTransport($1.transport) })
        let report = await mirror.sync(nil) { _ in }
        let failures = report.endpoints.filter { $0.name.isEmpty }.flatMap(\.failures)
        let absent = report.absentAttributes.map { attribute in
            finding(
                .warning, .absent, places.place(entity: attribute.entity, field: attribute.attribute),
                "no record of the first pages has \(attribute.attribute): check its JSON path")
        }
        let answers = wanted.flatMap { endpoint -> [CheckFinding] in
            let place = places.place(endpoint: endpoint.name)
            guard endpoint.forEach == nil else {
                return [
                    finding(.note, .endpointSkipped, place, "not requested: it needs the records of `for_each`")
                ]
            }
            guard let result = report.endpoints.first(where: { $0.name == endpoint.name }) else {
                return [finding(.note, .endpointSkipped, place, "not requested: an earlier failure ended the check")]
            }
            return findings(of: result, place)
        }
        return answers + failures.map { finding(.error, .endpointFailed, ("", nil), $0.description) } + absent
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

    private func findings(of result: SyncReport.Endpoint, _ place: Place) -> [CheckFinding] {
        let imported = result.report
        var findings = result.failures.map { finding(.error, .endpointFailed, place, $0.description) }
        if result.failures.isEmpty {
            let listed = "the first page lists \(result.listed) records"
            findings.append(
                finding(
                    result.listed > 0 ? .note : .warning, .endpointAnswered, place,
                    result.listed > 0 ? listed : listed + ": check `records`"))
        }
        if let choice = result.pagination {
            findings.append(
                finding(
                    .note, .paginationDetected, place,
                    "paginate: \(choice.style), because \(choice.reason); write it down, because a guess can be wrong"))
        }
        if imported.skipped > 0 {
            findings.append(
                finding(.error, .notImported, place, "\(imported.skipped) records without a usable key are skipped"))
        }
        findings += imported.diagnosticGroups.prefix(20).map {
            finding(
                .warning, .notImported, place, ($0.count > 1 ? "\($0.count) times, the first: " : "") + "\($0.first)")
        }
        findings += imported.unmapped.prefix(50).map {
            finding(.warning, .unmapped, place, "\($0.entity): \($0.path) is not mapped: map it or ignore it")
        }
        return findings
    }
}
