// The exit codes, and the mapping from errors.

import Foundation
import Tarn

/// The end of a command with a message on standard error and an exit code.
struct Failure: Error {
    enum Code: Int32, CaseIterable {
        case failed = 1
        case usage = 2
        /// A part failed, and the rest is committed.
        case partly = 3
        case credentials = 4
        case noNetwork = 5
        case store = 6
        /// The server's rate limit is exhausted.
        case limited = 7
        /// Another process syncs the same endpoints into the store.
        case busy = 8
        /// The output may mix several commits.
        case changed = 9
        /// An interrupt by a signal; the exit code is 128 plus its number, see ``status``.
        case interrupted = 130
    }

    var code: Code
    /// The message; empty if everything is already reported.
    var message: String
    /// Whether the message has line breaks of its own, with outside text already escaped.
    var hasLines = false

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ code: Code, lines: String) {
        self.init(code, lines)
        hasLines = true
    }

    /// Flushes the output, then writes the message.
    func show() {
        Output.flush()
        hasLines ? Output.notes(Failure.prefixed(message)) : Output.error(message)
    }

    /// Puts `tarn: ` before each message of several lines; indented lines belong to the one above.
    static func prefixed(_ lines: String) -> String {
        lines.split(separator: "\n", omittingEmptySubsequences: false)
            // A path may be of any length.
            .map { $0.utf8.count > VisibleText.limit ? VisibleText.line(String($0)) : String($0) }
            .map { $0.isEmpty || $0.hasPrefix(" ") ? $0 : "tarn: " + $0 }.joined(separator: "\n")
    }

    /// Runs a closure of a command that has no option `--immutable`: its errors do not advise it.
    static func ofLocking<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw withoutImmutable(error) }
    }

    /// Returns an error without the advice of `--immutable`, for a command without this option.
    static func withoutImmutable(_ error: any Error) -> any Error {
        guard let error = error as? any StoreFailure else { return error }
        let text = error.descriptionForLocking
        return text == error.description ? error : Failure(Code(error), text)
    }

    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as DescriptionError: self.init(.usage, lines: error.description)
        case let error as any StoreFailure: self.init(Code(error), error.description)
        case let error as QueryTextError: self.init(.usage, lines: error.description)
        case let error as QueryWriteError:
            self.init(error.report.changed > 0 ? .partly : Failure(error.reason).code, error.description)
        case let error as PartlyQueuedError: self.init(.partly, error.description)
        case let error as CacheError:
            if case .request(let reason, _) = error {
                self.init(Code(reason), error.description)
            } else {
                self.init(.noNetwork, error.description)
            }
        case let error as TransportError:
            self.init(Code(error), error.description)
        case let error as MirrorError: self.init(Code(error), error.description)
        case let error as WriteError:
            if case .busy = error { self.init(.busy, error.description) } else { self.init(.usage, error.description) }
        default: self.init(.failed, Failure.text(error))
        }
    }

    /// The reason of an error of the file system, without the path.
    static func reason(_ error: any Error) -> String {
        let known = error as NSError
        let cause = known.userInfo[NSUnderlyingErrorKey].flatMap { $0 as? any Error }.map { $0 as NSError } ?? known
        return cause.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(cause.code))) : cause.localizedDescription
    }

    /// The text of an error; of an error of the file system, the path and the reason.
    private static func text(_ error: any Error) -> String {
        let known = error as NSError
        guard [NSCocoaErrorDomain, NSPOSIXErrorDomain].contains(known.domain) else { return "\(error)" }
        let reason = reason(error)
        let path = known.userInfo[NSFilePathErrorKey] as? String ?? (known.userInfo[NSURLErrorKey] as? URL)?.path
        return path.map { "\($0): \(reason)" } ?? reason
    }
}

extension Failure.Code {
    init(_ error: any StoreFailure) {
        switch error {
        case StoreOpenError.store(let error): self.init(error)
        // Also if records violate a unique index: the store refuses the schema.
        case StoreOpenError.write: self = .store
        case let error as StoreError: self.init(error)
        case let error as StoreWriteError: self.init(error)
        // The store is sound: there is no such operation, or it must not be changed now.
        case is OutboxError: self = .failed
        case StoreMaintenanceError.changedMeanwhile: self = .changed
        case StoreMaintenanceError.destinationExists: self = .failed
        default: self = .store
        }
    }

    private init(_ error: StoreError) {
        switch error {
        // A wrong name or key is a usage error, not a fault of the store.
        case .unknownEntity, .unknownField, .wrongKey, .wrongType, .leadsToSeveral, .wrongToken, .sortTooLarge,
            .groupsTooLarge, .conditionTooDeep:
            self = .usage
        case .lmdb(let reason) where reason.kind == .notImmutable: self = .changed
        default: self = .store
        }
    }

    private init(_ error: StoreWriteError) {
        switch error {
        // The store is sound and refuses the operation.
        case .deleteDenied, .notUnique: self = .failed
        default: self = .store
        }
    }

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

    /// The exit code of the process.
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
