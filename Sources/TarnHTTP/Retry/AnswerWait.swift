// Waits for answers that the server has not finished: 202, status monitors, states in bodies. Pure.

import Foundation

/// The rule by which a request is repeated until the server has its answer.
///
/// Four forms are known without a declaration:
/// 1. 202 with `Retry-After`, or without content: the same request again, as for GitHub's
///   statistics.
/// 2. 202 with the URL of a status monitor in `Operation-Location`, `Azure-AsyncOperation`,
///   `Location` or `Content-Location` (RFC 9110 §15.3.3): the monitor is asked, also by FHIR's bulk
///   export and OData.
/// 3. A monitor that answers 200 with the state of its work: `{"status": "Running"}`.
/// 4. A monitor that answers 200 with the state, and `resourceLocation`: the result is there.
package struct AnswerWait: Sendable, Hashable {
    /// The longest wait; nil for ``hinted``, or for the number of attempts if the server names
    /// neither a time nor a monitor.
    package var longest: Duration?
    /// The time between two requests, if the server names none.
    package var interval: Duration?
    /// The path of the state in a body; empty if only 202 and monitors tell.
    package var state: [String] = []
    /// The states of an unfinished answer, in lower case; empty for ``words``.
    package var states: Set<String> = []
    /// The path of the URL of the status monitor in a body; empty if a header field has it.
    package var monitor: [String] = []

    /// Whether every success is the answer, also a 202.
    package var isNever = false

    /// Creates the rule of endpoints that declare none.
    package init() {}

    /// The rule that takes every success as the answer.
    package static let never = {
        var rule = AnswerWait()
        rule.isNever = true
        return rule
    }()

    /// The longest wait if the server names a time or a monitor.
    static let hinted = Duration.seconds(900)
    /// The largest body that may be the state of an unfinished answer.
    private static let largestBody = 1 << 20

    /// The names of the state at a monitor.
    package static let stateNames: Set<String> = ["status", "state"]

    /// The words for an unfinished answer, without case, blanks, `_` and `-`.
    private static let words: Set<String> = [
        "running", "pending", "queued", "enqueued", "inprogress", "processing", "notstarted", "started", "accepted",
        "created", "submitted", "waiting", "scheduled", "preparing", "building", "exporting", "generating", "new",
        "uploadcomplete", "open", "working", "inqueue", "validating", "provisioning", "updating",
    ]

    /// The words of ``words`` that a result may have as a state of its own, such as an issue.
    private static let wordsOfRecords: Set<String> = ["new", "open"]

    /// The words of ``words`` that no list has as a state of itself.
    private static let surelyUnfinished: Set<String> = [
        "running", "pending", "queued", "enqueued", "inprogress", "processing", "notstarted", "inqueue",
    ]

    private static func plain(_ word: String) -> String {
        word.lowercased().filter { $0 != " " && $0 != "_" && $0 != "-" }
    }

    /// Whether a word beside a list without records tells that the server works on it.
    package static func isUnfinished(_ word: String) -> Bool {
        word.utf8.count < 32 && surelyUnfinished.contains(plain(word))
    }

    /// The progress of one wait.
    package struct Progress: Sendable {
        /// The time of the first answer that is unfinished; nil before it.
        var startedAt: Date?
        /// The number of unfinished answers.
        var count = 0
        /// The URL of the status monitor, as the server has named it; nil without one.
        var monitor: String?
        /// Whether the wait has begun in an earlier run, at the monitor.
        var isResumed = false
        /// Whether the monitor has named the result.
        var isAtResult = false
    }

    /// The step after a response.
    package enum Step: Sendable, Hashable {
        /// The response is the answer.
        case done
        /// The request is sent again; or one for a URL, relative to the last one.
        case again(after: Duration, at: String?)
        /// The answer is unfinished, and the wait is over.
        case tooLong
        /// The answer is unfinished, and the server does not name where it will be.
        case nowhere
    }

    /// Decides about a successful response.
    ///
    /// - Parameters:
    ///   - mayRepeat: whether the request may be sent again: its method, or the description,
    ///     permits it. A monitor is always asked with GET.
    ///   - attempts: the maximum number of requests if neither the server nor the description names
    ///     a time.
    package func step(
        after response: TransportResponse, mayRepeat: Bool, attempts: Int, _ progress: inout Progress, now: Date
    ) -> Step {
        guard (200..<300).contains(response.status), !progress.isAtResult else { return .done }
        let body = response.body.count <= AnswerWait.largestBody ? response.body[...] : []
        let isEmpty = AnswerWait.isWithoutContent(response.body[...]), asked = response.headers["Retry-After"] != nil
        let mayHaveState = !state.isEmpty || !monitor.isEmpty || progress.monitor != nil || response.status == 202
        let json = mayHaveState && !isEmpty ? JSONBody(parsing: body) : nil
        var named: String?
        if response.status == 202 || !monitor.isEmpty, progress.monitor == nil || response.status == 202 {
            named = monitor.isEmpty ? nil : json?[monitor]?.scalarText
            if named == nil, response.status == 202 { named = AnswerWait.monitor(response.headers) }
        }
        let isWorking = isWorking(json, hasState: progress.monitor != nil || response.status == 202)
        guard response.status == 202 || isWorking || named != nil else {
            guard progress.monitor != nil, let result = AnswerWait.result(json) else { return .done }
            progress.isAtResult = true
            return .again(after: .zero, at: result)
        }
        if let named { progress.monitor = named }
        // Records of a 202 that says nothing of a later answer are its content.
        if response.status == 202, !isWorking, progress.monitor == nil, !asked, !isEmpty { return .done }
        // A request that has begun the work would begin it again.
        guard progress.monitor != nil || mayRepeat else { return isWorking || !isEmpty ? .nowhere : .done }
        progress.count += 1
        let hasHint = asked || progress.monitor != nil || isWorking || longest != nil
        // As a response that lists nothing, it is an error with its way out later.
        guard hasHint || progress.count < attempts else { return .done }
        let started = progress.startedAt ?? now
        progress.startedAt = started
        let bound = longest ?? AnswerWait.hinted
        let left = bound.inSeconds - now.timeIntervalSince(started)
        guard left > 0 else { return .tooLong }
        if let asked = RateLimit.wait(status: response.status, response.headers, now: now)?.inSeconds {
            // A request before the time that the server names would be in vain.
            guard asked <= left + 1 else { return .tooLong }
            // Some servers name 0 seconds.
            let least = min(1, 0.1 * Double(progress.count))
            return .again(after: .seconds(clamping: min(max(asked, least), left)), at: named)
        }
        let delay = interval?.inSeconds ?? min(30, exp2(Double(min(progress.count, 6) - 1)))
        return .again(after: .seconds(clamping: min(delay, left)), at: named)
    }

    /// Whether the state of a body is one of an unfinished answer.
    private func isWorking(_ json: JSONBody?, hasState: Bool) -> Bool {
        guard let json else { return false }
        if !state.isEmpty {
            guard let text = json[state]?.scalarText else { return false }
            return states.isEmpty
                ? AnswerWait.words.contains(AnswerWait.plain(text)) : states.contains(text.lowercased())
        }
        guard hasState, case .object(let members) = json else { return false }
        return members.contains { member in
            guard AnswerWait.stateNames.contains(member.key.lowercased()), case .string(let text) = member.value else {
                return false
            }
            let word = AnswerWait.plain(text)
            return AnswerWait.words.contains(word) && !AnswerWait.wordsOfRecords.contains(word)
        }
    }

    /// The fields that name a status monitor, the most explicit one first.
    private static func monitor(_ headers: TransportHeaders) -> String? {
        ["Operation-Location", "Azure-AsyncOperation", "Location", "Content-Location"].lazy
            .compactMap { headers[$0] }.first { !$0.isEmpty }
    }

    /// The URL of the result in the body of a finished monitor (Azure's `resourceLocation`).
    private static func result(_ json: JSONBody?) -> String? {
        guard case .string(let url)? = json?[["resourceLocation"]], !url.isEmpty else { return nil }
        return url
    }

    /// Whether a body has nothing, or an empty object or list.
    private static func isWithoutContent(_ body: ArraySlice<UInt8>) -> Bool {
        guard body.count <= 64 else { return false }
        let text = body.filter { $0 > 0x20 }
        return text.isEmpty || text == Array("{}".utf8) || text == Array("[]".utf8) || text == Array("null".utf8)
    }
}
