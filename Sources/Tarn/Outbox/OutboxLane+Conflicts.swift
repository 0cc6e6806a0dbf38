// Conflicts, and the reading of the server's record that decides them.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension OutboxLane {
    /// The outcome of an update that was answered with 404 or 410: the server has deleted the
    /// record, unless it can be read at its URL.
    func missing(
        _ operation: OutboxOperation, _ message: WriteMessage, _ failure: OutboxFailure
    ) async -> SentOperation {
        var sent = SentOperation(operation: operation, outcome: .refused(failure))
        guard let url = message.recordURL, let response = await read(url, for: &sent) else { return sent.afterSending }
        switch response.status {
        case _ where isGone(response, url): sent.outcome = .gone(failure)
        // The record is there: the server refuses the update for another reason.
        case 200..<300: break
        default: sent.outcome = outcome(ofUnread: response, failure)
        }
        return sent
    }

    /// Reads the record after a conflict.
    ///
    /// - Parameter message: the request that was refused, without preconditions.
    func refreshed(
        _ operation: OutboxOperation, _ message: WriteMessage, _ sentWith: Validators, _ failure: OutboxFailure
    ) async -> SentOperation {
        var sent = SentOperation(operation: operation, outcome: .refused(failure))
        guard let url = message.recordURL, let response = await read(url, for: &sent) else { return sent.afterSending }
        switch response.status {
        case 200:
            let validators = Validators(response.headers)
            if case .unreadable(let reason) = read(response, message, into: &sent) {
                sent.outcome = .refused(failure.adding("the server's record cannot be read: \(reason)"))
                return sent
            }
            sent.version = SentOperation.Version(url: url, validators: validators, at: client.now)
            // Without a precondition, a 409 does not say that the version is another one. The
            // precondition that a 428 demands cannot be made without a strong validator, and a
            // request for one field at a URL of its own has none: it would be refused each time.
            let isUnconditional =
                failure.status == 409 && !sentWith.areRequired || failure.status == 428 && !validators.areRequired
                || message.isOfField
            let isSame = isUnconditional || validators == sentWith || validators.isEmpty
            sent.isReplayed = operation.mayHaveArrived && (sentWith.areRequired || failure.status == 409)
            sent.refusedRequest = SentOperation.RefusedRequest(message)
            sent.outcome = .refreshed(failure, validators, isSameVersion: isSame)
        case _ where isGone(response, url):
            sent.outcome = operation.kind == .delete ? .done(adopting: nil) : .gone(failure)
        default: sent.outcome = outcome(ofUnread: response, failure)
        }
        return sent
    }

    /// Reads the record of an update whose body needs all of the server's values.
    ///
    /// - Parameter wasRead: whether the record was read before, and did not have them.
    func completed(
        _ operation: OutboxOperation, _ message: WriteMessage, _ incomplete: WriteError, wasRead: Bool
    ) async -> SentOperation {
        let failure = OutboxFailure(kind: "request", message: "\(incomplete)", at: client.now)
        var sent = SentOperation(operation: operation, outcome: .refused(failure))
        guard message.isReadDeclared, !wasRead, let url = message.recordURL,
            let response = await read(url, for: &sent)
        else { return sent }
        switch response.status {
        case 200:
            if let outcome = self.outcome(ofPage: response, client.request(url)) {
                sent.outcome = outcome
                return sent
            }
            if case .unreadable(let reason) = read(response, message, into: &sent) {
                sent.outcome = .refused(failure.adding("the server's record cannot be read: \(reason)"))
                return sent
            }
            sent.version = SentOperation.Version(url: url, validators: Validators(response.headers), at: client.now)
            sent.outcome = .completed
        case _ where isGone(response, url):
            sent.outcome = .gone(response.failure(of: client.request(url), at: client.now))
        default:
            sent.outcome = outcome(ofUnread: response, response.failure(of: client.request(url), at: client.now))
        }
        return sent
    }

    /// Requests a record at its URL. Nil if there is no answer, which is the operation's outcome.
    func read(_ url: String, for sent: inout SentOperation) async -> TransportResponse? {
        sent.moment = moment
        do throws(TransportError) { return try await transport.sendDirectly(client.request(url)) } catch {
            sent.outcome = outcome(of: error)
            return nil
        }
    }

    /// Whether an answer says that the record at a URL is gone: what is missing is no login page.
    private func isGone(_ response: TransportResponse, _ url: String) -> Bool {
        (response.status == 404 || response.status == 410)
            && response.redirectedTo.map { isSameResource(url, $0) } ?? true
    }

    /// The outcome if the answer has no record and does not say that it is gone.
    private func outcome(ofUnread response: TransportResponse, _ failure: OutboxFailure) -> SentOperation.Outcome {
        if response.status == 401 || response.status == 407 {
            return .stopped(.authentication(failure.message), failure)
        }
        guard RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers)) else {
            return .refused(failure)
        }
        let wait = RateLimit.wait(status: response.status, response.headers, now: client.options.time.now())
        return .later(after: wait, failure)
    }
}

extension SentOperation {
    /// The outcome if the operation was sent before what has failed.
    var afterSending: SentOperation {
        var sent = self
        sent.outcome = outcome.afterSending(at: moment?.time ?? .now)
        return sent
    }
}

extension SentOperation.Outcome {
    /// The outcome if the operation was sent before what has failed: the attempt counts.
    func afterSending(at now: Timestamp) -> SentOperation.Outcome {
        guard case .limited(let until, let failure) = self else { return self }
        let (left, isFar) = until.microseconds.subtractingReportingOverflow(now.microseconds)
        return .later(after: .microseconds(isFar ? 0 : max(0, left)), failure)
    }
}

extension OutboxFailure {
    /// Returns the failure with a further reason.
    func adding(_ reason: String) -> OutboxFailure {
        var failure = self
        failure.message = (message + "; " + reason).printable(OutboxFailure.longestText)
        return failure
    }
}
