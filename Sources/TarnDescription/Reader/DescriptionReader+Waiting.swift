// The key `wait` of an endpoint: answers that the server has not finished when it is asked.

import Tarn
import TarnHTTP
import TarnImport

extension DescriptionReader {
    /// Reads the rule by which an endpoint is requested until its answer is finished.
    mutating func answerWait(_ endpoint: Section) -> AnswerWait {
        var wait = AnswerWait()
        guard let value = endpoint["wait"] else { return wait }
        if case .scalar("never", plain: true) = value.content { return .never }
        guard
            let section = section(
                value, endpoint.path("wait"), keys: ["at_most", "every", "state", "while", "url"], required: [])
        else { return wait }
        wait.longest = waitingTime(section, "at_most")
        wait.interval = waitingTime(section, "every")
        wait.state = waitingPath(section, "state")
        wait.monitor = waitingPath(section, "url")
        let states = texts(section, "while")
        wait.states = Set(states.map { $0.text.lowercased() })
        if section["while"] != nil, section["state"] == nil {
            report(
                section, "while", "these are states of an unfinished answer: add state, the place of the state in it")
        }
        return wait
    }

    private mutating func waitingTime(_ section: Section, _ key: String) -> Duration? {
        guard let text = text(section, key) else { return nil }
        if let seconds = DurationText.seconds(text) { return .seconds(seconds) }
        report(section, key, "expected a duration such as 30s, 15m, 2h or 1d, at most 366d, found \"\(text)\"")
        return nil
    }

    /// Reads the path of one value in a response.
    private mutating func waitingPath(_ section: Section, _ key: String) -> [String] {
        guard let text = text(section, key),
            let path = plainKeyPath(text, section.path(key), section[key]?.mark ?? section.mark)
        else { return [] }
        if !path.isPlain || path.steps.isEmpty {
            report(section, key, "expected the path of one value, such as job.status, found \"\(text)\"")
            return []
        }
        return path.keys
    }
}
