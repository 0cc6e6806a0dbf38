// `tarn check`: a description by itself, against the store, and against the server.

import Foundation
import Tarn

/// A check of a description file. Nothing is changed: neither the file nor the store.
package struct DescriptionCheck: Sendable {
    /// The path of the description file.
    package let file: String
    /// The path of the store; nil for that of the description.
    package let store: String?

    /// Creates a check.
    package init(file: String, store: String? = nil) {
        self.file = file
        self.store = store
    }

    /// The result of a check.
    package struct Report: Sendable {
        /// The findings, in the order of the checks.
        package var findings: [CheckFinding] = []
        /// The description; nil if it is not valid.
        package var description: Description?
        /// The path of the examined store; nil if there is none.
        package var store: String?

        /// The number of findings of a severity.
        package func count(_ severity: CheckFinding.Severity) -> Int { findings.count { $0.severity == severity } }
        /// Whether there is no error.
        package var isSound: Bool { count(.error) == 0 }
    }

    /// Checks the description by itself and against the store, without a network.
    package func report() -> Report {
        var report = Report()
        let description: Description
        do throws(DescriptionError) {
            description = try Description.load(path: file)
        } catch {
            report.findings = error.problems.map { CheckFinding($0) }
            return report
        }
        report.description = description
        let places = DescriptionPlaces(description)
        checkStore(description, places, &report)
        report.findings += EntityReach(description).findings(places)
        report.findings += EndpointReach(description).findings(places)
        report.findings += SourceReach(description).findings(places)
        report.findings += OwnerRules(description).findings(places)
        report.findings += UntoldDeletions(description).findings(places)
        report.findings += logins(description, places)
        return report
    }

    /// Whether a person is signed in to the APIs that want one.
    private func logins(_ description: Description, _ places: DescriptionPlaces) -> [CheckFinding] {
        let environment = ProcessInfo.processInfo.environment
        return description.apis.compactMap { name, api in
            guard let login = api.authentication.signIn?.loginText(environment: environment) else { return nil }
            let (field, mark) = places.place(authenticationOf: name)
            return CheckFinding(.note, .login, file: file, at: mark, field: field, login.text)
        }
    }

    private func checkStore(_ description: Description, _ places: DescriptionPlaces, _ report: inout Report) {
        let path = store ?? description.storePath
        func refuse(_ refusal: SchemaError, _ suffix: String) {
            let (field, mark) = places.place(entity: refusal.entity, field: refusal.field)
            report.findings.append(
                CheckFinding(.error, .schemaRefused, file: file, at: mark, field: field, refusal.message + suffix))
        }
        guard access(path, F_OK) == 0 || errno != ENOENT else {
            return SchemaEvolution.ofNewStore(description.schema).refusals.forEach { refuse($0, "") }
        }
        report.store = path
        do {
            let opened = try Store.open(at: path, options: Store.Options(isReadOnly: true))
            let evolution = try opened.evolution(to: description.schema)
            for refusal in evolution.refusals { refuse(refusal, "; the store is \(path)") }
            for change in evolution.changes {
                let (field, mark) = places.place(entity: change.entity, field: change.field)
                report.findings.append(
                    CheckFinding(.note, .schemaChanged, file: file, at: mark, field: field, change.message))
            }
            for former in try opened.read({ try FieldSources(description).formerValues($0) }) {
                let (field, mark) = places.place(
                    entity: former.entity, field: former.isOfKinds ? nil : former.field)
                report.findings.append(
                    CheckFinding(
                        .note, .sourceChanged, file: file, at: mark, field: field,
                        former.isOfKinds ? former.kindsText : "values " + FormerValues.consequence))
            }
            report.findings += keptIndexes(description, places, opened.catalog)
            let unlisted = try opened.read { try UnlistedRecords.count($0, description.schema) }
            for (entity, count) in unlisted.sorted(by: { $0.key < $1.key }) {
                let (field, mark) = places.place(entity: entity, field: nil)
                report.findings.append(
                    CheckFinding(
                        .note, .recordsUnlisted, file: file, at: mark, field: field,
                        "\(count == 1 ? "1 record" : "\(count) records") \(UnlistedRecords.consequence)"))
            }
        } catch {
            let text = (error as? any StoreFailure)?.descriptionForLocking ?? "\(error)"
            report.findings.append(CheckFinding(.error, .store, file: file, text))
        }
    }

    /// The unique indexes of the store that the description no longer declares: another program may
    /// use them, and they still keep records out.
    private func keptIndexes(
        _ description: Description, _ places: DescriptionPlaces, _ catalog: Catalog
    ) -> [CheckFinding] {
        description.schema.entities.flatMap { entity -> [CheckFinding] in
            let declared = Set(entity.indexes.flatMap { [$0.name] + [$0.renamedFrom].compactMap(\.self) })
            let known = catalog.entity(entity.name)
            let inherited = known?.parent.flatMap { catalog.entity(id: $0) }?.indexes.map(\.id) ?? []
            return (known?.indexes ?? []).filter { index in
                index.isUnique && !declared.contains(index.name) && !inherited.contains(index.id)
            }.map { index in
                let (field, mark) = places.place(entity: entity.name, field: nil)
                return CheckFinding(
                    .note, .indexKept, file: file, at: mark, field: field,
                    "the store keeps the unique index \(index.name), which is not declared here: records with equal "
                        + "values are skipped; to lift it, declare \(index.name) under indexes without unique")
            }
        }
    }
}
