// A proposed description: from samples and specifications to a text that was checked.

import Tarn

/// A description file that `tarn init` proposes.
package struct Proposal {
    /// A guess that a person may correct.
    package struct Question: Sendable {
        /// The subject of a question.
        package enum Subject: Sendable { case entityName, key }
        package var subject: Subject
        /// The proposed name of the entity.
        package var entity: String
        /// The proposed answer: a name, or attributes with commas between them.
        package var proposed: String
        /// Further answers that the samples allow.
        package var others: [String]
        package var reason: String
    }

    /// The text of the file.
    package let text: String
    /// The findings of the samples' import, and those that could not be corrected; usually empty.
    package let findings: [String]
    /// The numbers of records of the samples, by entity.
    package let records: [String: Int]
    /// The names of the entities in the order of the file.
    package let entities: [String]
    /// The names of the endpoints in the order of the file.
    package let endpoints: [String]
    /// Remarks about records that the description does not reach, each with its endpoint.
    package let uncertain: [String]
    /// Uncertain guesses.
    package let questions: [Question]
    /// The environment variables from which a sync takes the credentials.
    package let variables: [String]

    /// The maximum number of corrections.
    private static let repairLimit = 12

    /// Returns the lists of other parents that show whether keys are unique among all records, and
    /// how their pages follow each other.
    package static func siblings(
        _ samples: [Sample], specification: OpenAPIDocument?, options: ProposalOptions
    ) -> [SiblingList] { ProposalDraft.siblings(samples, specification, options) }

    /// Proposes a description of samples.
    ///
    /// - Throws: `ProposalError` if there is nothing to describe, or if it cannot be checked.
    package init(
        _ samples: [Sample], specification: OpenAPIDocument? = nil, options: ProposalOptions = ProposalOptions()
    ) throws(ProposalError) {
        var draft = ProposalDraft(samples, specification, options)
        guard !draft.sources.isEmpty else {
            let empty = samples.map { "\(Redaction.url($0.origin)) has an empty list: name one with records" }
            throw .nothingToDescribe(draft.omitted + empty)
        }
        draft.dropInvalidWrites()
        var findings: [String] = [], check: ProposalCheck?
        for _ in 0..<Proposal.repairLimit {
            let text = ProposalWriter.text(draft.description)
            let result: ProposalCheck
            do throws(DescriptionError) { result = try ProposalCheck(text, samples: draft.bodies) } catch {
                throw .invalid(error, text: text)
            }
            if let failure = result.storeFailure { throw .unchecked(failure) }
            check = result
            let repair = ProposalRepair(draft.description, result)
            findings = repair.findings + (result.failure.map { [$0] } ?? [])
            guard repair.hasChanged else { break }
            draft.description = repair.description
        }
        if !findings.isEmpty {
            draft.description.comments.append("The import of the samples by this file reports:")
            draft.description.comments += findings.prefix(20).map { "- " + YAMLText.comment($0, limit: 300) }
        }
        let text = ProposalWriter.text(draft.description)
        let parsed: Description
        do throws(DescriptionError) { parsed = try Description.parse(text, file: "tarn.yaml") } catch {
            throw .invalid(error, text: text)
        }
        variables = parsed.apis.flatMap { $0.api.authentication.sources }.compactMap { source -> String? in
            if case .environment(let name) = source { name } else { nil }
        }
        self.text = text
        self.findings = findings
        records = check?.records ?? [:]
        entities = draft.description.entities.map(\.name)
        endpoints = draft.description.endpoints.filter { !$0.isCommentedOut }.map(\.name)
        uncertain = draft.uncertain
        questions = draft.questions
    }
}

/// A proposal that cannot be made.
package enum ProposalError: Error, CustomStringConvertible {
    /// The samples have no records, and the specification no lists.
    ///
    /// The reasons are those of the specification's lists.
    case nothingToDescribe([String])
    /// The temporary store that the check needs cannot be written, such as on a full disk.
    case unchecked(String)
    /// The proposed text is no description: a fault of this program.
    case invalid(DescriptionError, text: String)

    package var description: String {
        switch self {
        case .nothingToDescribe(let reasons):
            (["nothing to describe: no response and no specification has a list of objects"] + reasons.prefix(10))
                .map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }.joined(separator: ". ")
        case .unchecked(let reason):
            "the proposal cannot be checked, and is not written: \(reason). Make room in the folder of temporary "
                + "files, or name another one (TMPDIR)"
        case .invalid(let error, _): "the proposal is not valid, which is a fault of tarn: \(error)"
        }
    }
}
