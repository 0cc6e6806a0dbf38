// The questions of `tarn init` on a terminal. An empty answer takes the proposal.

import Foundation
import TarnProposal

enum InitQuestions {
    /// Asks for the file to write.
    static func file(_ proposed: String) -> String {
        let answer = ask("Write which file?", proposed)
        return answer == "-" ? proposed : answer
    }

    /// Asks about uncertain guesses.
    ///
    /// - Returns: the options with the answers; nil if all proposals were taken.
    static func ask(_ questions: [Proposal.Question], _ options: ProposalOptions) -> ProposalOptions? {
        var options = options, hasChanged = false
        for question in questions.prefix(12) {
            switch question.subject {
            case .entityName:
                let answer = ask("Name of \(question.reason)?", question.proposed)
                guard answer != question.proposed else { continue }
                options.entityNames[question.proposed] = answer
            case .key:
                let others = question.others.isEmpty ? "" : " (or \(question.others.joined(separator: ", ")))"
                let answer = ask(
                    "Key of \(question.entity)\(others): \(question.reason)?",
                    question.proposed.isEmpty ? "its position" : question.proposed)
                guard answer != question.proposed, answer != "its position" else { continue }
                options.keys[question.entity] = answer.split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
            }
            hasChanged = true
        }
        return hasChanged ? options : nil
    }

    private static func ask(_ text: String, _ proposed: String) -> String {
        Output.prompt("\(text) [\(proposed)]")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces) ?? ""
        return answer.isEmpty ? proposed : answer
    }
}
