// The check of a proposal: it must parse, and import its own samples.

import Foundation
import Tarn

/// The result of importing the samples by a proposed description.
struct ProposalCheck {
    /// The diagnostics of the import, grouped.
    var diagnostics: [DiagnosticGroup] = []
    /// JSON paths that the description neither maps nor ignores.
    var unmapped: [ImportReport.UnmappedPath] = []
    /// The numbers of imported records by entity.
    var records: [String: Int] = [:]
    /// The failure of a whole response; nil if all could be read.
    var failure: String?
    /// The failure of the temporary store, such as on a full disk: nothing is checked then.
    var storeFailure: String?

    /// Imports samples into a temporary store.
    ///
    /// - Parameter samples: endpoints with the bodies of their responses.
    /// - Throws: `DescriptionError` if the text is no description.
    init(_ text: String, samples: [ProposalDraft.Bodies]) throws(DescriptionError) {
        let folder = FileManager.default.temporaryDirectory.path + "/tarn-init-\(UUID().uuidString)"
        let description = try Description.parse(text, file: folder + "/tarn.yaml")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do {
            try run(description, samples, at: folder)
        } catch StoreOpenError.store(.lmdb(let error)), StoreError.lmdb(let error) {
            storeFailure = error.descriptionForLocking
        } catch {
            failure = "\(error)"
        }
    }

    /// Returns the problem of an endpoint that no description can have; nil if there is none.
    ///
    /// - Parameter authentication: the value of `auth` beside the endpoint.
    static func problem(of endpoint: ProposedEndpoint, authentication: String?) -> String? {
        var description = ProposedDescription()
        description.base = "https://api.example.org"
        description.authentication = authentication
        var entity = ProposedEntity(name: "Record")
        entity.key = ["id"]
        entity.attributes = [ProposedAttribute(name: "id", type: "string")]
        description.entities = [entity]
        var endpoint = endpoint
        endpoint.lists = [ProposedEndpoint.List(keys: [], entity: "Record")]
        description.endpoints = [endpoint]
        do throws(DescriptionError) {
            _ = try Description.parse(ProposalWriter.text(description), file: "tarn.yaml")
        } catch {
            let field = error.problems.first?.field.replacing("endpoints.records.", with: "") ?? ""
            let message = error.problems.first?.message ?? "\(error)"
            return field.isEmpty ? message : "`\(field)`: \(message)"
        }
        return nil
    }

    private mutating func run(
        _ description: Description, _ samples: [ProposalDraft.Bodies], at path: String
    ) throws {
        let store = try Store.open(at: path, schema: description.schema)
        let importer = try Importer(description.mapping, store.catalog)
        var sum = ImportReport()
        for sample in samples {
            guard let endpoint = description.endpoints.first(where: { $0.name == sample.endpoint }) else { continue }
            for body in sample.bodies {
                let body = try importer.naming(endpoint.columns, in: body, of: endpoint.entitiesByPath)
                if endpoint.envelope.isEmpty {
                    _ = try importer.add(
                        body, records: endpoint.records, entity: endpoint.entity, parent: sample.parent)
                } else {
                    _ = try importer.add(body, envelope: endpoint.envelope)
                }
            }
            sum.add(try store.write { try importer.commit(into: &$0) })
        }
        diagnostics = sum.diagnosticGroups
        unmapped = sum.unmapped
        records = sum.entities.mapValues { $0.created }
    }
}
