// The check of a proposal: it must parse, and import its own samples.

import Foundation
import Tarn
import TarnDescription

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

    /// Imports samples into a temporary store.
    ///
    /// - Parameter samples: endpoints with the bodies of their responses.
    /// - Throws: `DescriptionError` if the text is no description.
    init(_ text: String, samples: [ProposalDraft.Bodies]) throws(DescriptionError) {
        let folder = FileManager.default.temporaryDirectory.path + "/tarn-init-\(UUID().uuidString)"
        let description = try Description.parse(text, file: folder + "/tarn.yaml")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try run(description, samples, at: folder + "/store")
        } catch {
            failure = "\(error)"
        }
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
