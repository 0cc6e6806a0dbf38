// Exit codes, and which error leads to which.

import Tarn

/// An end with a message on standard error and an exit code.
struct Failure: Error {
    enum Code: Int32 {
        case failed = 1
        case usage = 2
        /// Something failed, and the rest is committed.
        case partly = 3
        case credentials = 4
        case noNetwork = 5
        case store = 6
        /// The server takes no more requests for now.
        case limited = 7
        /// Another process syncs the same endpoints into the store.
        case busy = 8
        /// What was read may be of several commits.
        case changed = 9
        /// By SIGINT; the number that the process ends with is 128 and the signal's.
        case interrupted = 130
    }

    var code: Code
    /// Empty if everything was said already.
    var message: String
    /// Whether the message has several lines of its own, with outside text already in one of them.
    var hasLines = false

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ code: Code, lines: String) {
        self.init(code, lines)
        hasLines = true
    }

    /// Writes what is left of the output, and then the message.
    func show() {
        Output.flush()
        hasLines ? Output.notes("tarn: \(message)") : Output.error(message)
    }

    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as DescriptionError: self.init(.usage, lines: error.description)
        case let error as StoreError:
            switch error {
            // What was asked for is not there: a matter of arguments, not of the store.
            case .unknownEntity, .unknownField, .wrongKey, .wrongType, .leadsToSeveral, .wrongToken, .sortTooLarge:
                self.init(.usage, error.description)
            case .changedMeanwhile: self.init(.changed, error.description)
            case .lmdb(let reason) where reason.kind == .notImmutable: self.init(.changed, error.description)
            // The store is sound, and says no.
            case .deleteDenied, .notUnique, .destinationExists: self.init(.failed, error.description)
            default: self.init(.store, error.description)
            }
        case let error as QueryTextError: self.init(.usage, lines: error.description)
        case let error as QueryWriteError:
            self.init(error.report.changed > 0 ? .partly : Failure(error.reason).code, error.description)
        case let error as CacheError:
            if case .request(let reason, _) = error { self.init(Code(reason), error.description) } else { self.init(.noNetwork, error.description) }
        case let error as TransportError:
            self.init(Code(error), error.description)
        case let error as MirrorError: self.init(Code(error), error.description)
        default: self.init(.failed, "\(error)")
        }
    }
}

extension Failure.Code {
    init(_ error: TransportError) {
        switch error.kind {
        case .resolve, .connect: self = .noNetwork
        case .credentials: self = .credentials
        case .store: self = .store
        case .cancelled: self = .interrupted
        case .rateLimit: self = .limited
        default: self = .failed
        }
    }

    /// The number that the process ends with.
    var status: Int32 { self == .interrupted ? Interrupts.status : rawValue }

    init(_ error: MirrorError) {
        switch error {
        case .cancelled: self = .interrupted
        case .store: self = .store
        case .busy: self = .busy
        case .parents: self = .partly
        case _ where error.isLimited: self = .limited
        case _ where error.isAuthentication: self = .credentials
        case _ where error.isUnreachable: self = .noNetwork
        default: self = .failed
        }
    }
}
