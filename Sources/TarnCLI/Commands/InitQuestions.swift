// The questions of `tarn init` on a terminal. An empty answer takes the proposal.

import Foundation
import TarnProposal

enum InitQuestions {
    /// Asks for the file to write, which must not exist unless it may be overwritten.
    static func file(_ proposed: String, overwriting: Bool) -> String {
        func exists(_ path: String) -> Bool { !overwriting && FileManager.default.fileExists(atPath: path) }
        let free = exists(proposed) ? (2...99).lazy.map { numbered(proposed, $0) }.first { !exists($0) } : nil
        while true {
            let answer = ask("Write which file?", free ?? proposed), path = answer == "-" ? free ?? proposed : answer
            if path == free || path == proposed && free == nil || !exists(path) { return path }
            Output.note("\(path) exists: name another file, or overwrite it with --force")
        }
    }

    /// `tarn-2.yaml`
    private static func numbered(_ path: String, _ number: Int) -> String {
        let url = path as NSString, ending = url.pathExtension
        return url.deletingPathExtension + "-\(number)" + (ending.isEmpty ? "" : "." + ending)
    }

    /// Asks about uncertain guesses.
    ///
    /// - Returns: the options with the answers; nil if all proposals were taken.
    static func ask(_ questions: [Proposal.Question], _ options: ProposalOptions) -> ProposalOptions? {
        var options = options, hasChanged = false
        for question in questions.prefix(12) {
            switch question.subject {
            case .entityName:
                let answer = name(question)
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

    /// Asks until the name is one that an entity can have.
    private static func name(_ question: Proposal.Question) -> String {
        while true {
            let answer = ask("Name of \(question.reason)?", question.proposed)
            if answer == question.proposed || EnglishName.isValid(answer) { return answer }
            Output.note("\(answer): a name has letters (a to z), digits and _, and begins with a letter")
        }
    }

    private static func ask(_ text: String, _ proposed: String) -> String {
        Output.prompt("\(text) [\(proposed)]")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces) ?? ""
        return answer.isEmpty ? proposed : answer
    }
}
