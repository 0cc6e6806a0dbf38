// The thread that drives libcurl's multi interface, and the queue by which tasks reach it.
//
// Everything of libcurl (the multi handle, easy handles, their callbacks) is touched by this one thread only, with one
// exception that libcurl allows: curl_multi_wakeup, called under the lock that also guards the handle's end.

import CCrypto
import CCurl
import Foundation
import Synchronization

final class CurlEngine: Sendable {
    private struct State {
        var submissions: [CurlSubmission] = []
        var hasCancellations = false
        var isFinishing = false
        var hasThread = false
        /// Nil before the thread has made the multi handle and after it is gone.
        var multi: WakeableMulti?
        /// Whether the thread waits, or is about to: otherwise it looks at all this anyway before it does.
        var isWaiting = false

        mutating func wake() {
            guard isWaiting else { return }
            isWaiting = false
            multi?.wake()
        }

        var hasNews: Bool { !submissions.isEmpty || hasCancellations }
    }

    /// The multi handle as other threads may use it.
    ///
    /// `@unchecked`: the only call is curl_multi_wakeup, which libcurl allows from any thread while the handle lives;
    /// it lives as long as it stands in the state, and it is called and taken out under the state's lock.
    private struct WakeableMulti: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer

        func wake() { curl_multi_wakeup(pointer) }
    }

    private let state = Guarded(State())
    private let concurrencyPerHost: Int

    init(concurrencyPerHost: Int) {
        self.concurrencyPerHost = concurrencyPerHost
    }

    func submit(_ submission: CurlSubmission) {
        let needsThread = state.withLock { state in
            state.submissions.append(submission)
            state.wake()
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread {
            Thread.detachNewThread {
                Thread.current.name = "tarn-curl"
                self.run()
                if self.state.withLock({ $0.isFinishing }) { CurlEngine.endingThreads.subtract(1, ordering: .releasing) }
            }
        }
    }

    /// The flag first, the wake-up second: a submission that is not in the queue yet is met by the flag.
    func cancel(_ ticket: CurlTicket) {
        ticket.cancel()
        state.withLock { state in
            state.hasCancellations = true
            state.wake()
        }
    }

    /// Ends the thread when its last transfer is done.
    func finish() {
        state.withLock { state in
            if state.hasThread, !state.isFinishing { CurlEngine.endingThreads.add(1, ordering: .relaxed) }
            state.isFinishing = true
            state.wake()
        }
    }

    /// libcurl's global state, once a process (thread-safe by Swift's lazy globals, not by libcurl).
    ///
    /// At `exit` OpenSSL would free what the threads of engines still use: it is told not to, and threads that are about to end are waited
    /// for. Otherwise both free the same memory now and then, and a program that has done its work ends with a signal.
    private static let isLibraryReady: Bool = {
        tarn_keep_openssl_at_exit()
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { return false }
        atexit { CurlEngine.waitForEndingThreads() }
        return true
    }()

    /// Threads whose engine is finishing.
    private static let endingThreads = Atomic(0)

    private static func waitForEndingThreads() {
        for _ in 0..<2000 where endingThreads.load(ordering: .acquiring) > 0 { usleep(1000) }
    }

    private func run() {
        guard CurlEngine.isLibraryReady, let multi = curl_multi_init() else {
            let waiting = state.withLock { state in
                defer { state.submissions = [] }
                state.hasThread = false
                return state.submissions
            }
            for submission in waiting {
                submission.completion(.failure(CurlFailure(kind: .protocol, detail: "libcurl could not be started")))
            }
            return
        }
        let wakeable = WakeableMulti(pointer: multi)
        state.withLock { $0.multi = wakeable }
        let loop = CurlLoop(multi: multi, concurrencyPerHost: concurrencyPerHost)
        while true {
            let (submissions, hasCancellations, isFinishing) = state.withLock { state in
                defer {
                    state.submissions = []
                    state.hasCancellations = false
                    state.isWaiting = false
                }
                return (state.submissions, state.hasCancellations, state.isFinishing)
            }
            loop.add(submissions)
            if hasCancellations { loop.dropCancelled() }
            loop.perform()
            if isFinishing, loop.isEmpty {
                let isDone = state.withLock { state in
                    if state.submissions.isEmpty { state.multi = nil }
                    return state.submissions.isEmpty
                }
                if isDone { break }
                continue
            }
            let waits = state.withLock { state in
                state.isWaiting = !state.hasNews && state.isFinishing == isFinishing
                return state.isWaiting
            }
            // A wake-up that comes from here on is kept by libcurl: the poll returns at once.
            if waits { curl_multi_poll(multi, nil, 0, 60_000, nil) }
        }
        curl_multi_cleanup(multi)
    }
}

/// The transfers of one thread. Never leaves it.
private final class CurlLoop {
    private let multi: UnsafeMutableRawPointer
    private let concurrencyPerHost: Int
    private var active: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    private var activeByOrigin: [String: Int] = [:]
    /// Those that wait for a place, by origin, in order. Not libcurl's own queue (CURLMOPT_MAX_HOST_CONNECTIONS): there
    /// the time limits would run while a request waits.
    private var waiting: [String: ArraySlice<CurlSubmission>] = [:]
    /// For the next transfers: making a handle takes libcurl longer than clearing one.
    private var idle: [CurlHandle] = []
    private static let idleLimit = 64

    init(multi: UnsafeMutableRawPointer, concurrencyPerHost: Int) {
        self.multi = multi
        self.concurrencyPerHost = concurrencyPerHost
    }

    var isEmpty: Bool { active.isEmpty && waiting.isEmpty }

    func add(_ submissions: [CurlSubmission]) {
        for submission in submissions {
            if submission.ticket.isCancelled {
                submission.completion(.failure(.cancelled))
            } else {
                waiting[submission.origin, default: []].append(submission)
            }
        }
        for origin in Set(submissions.map(\.origin)) { startNext(origin) }
    }

    func perform() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            // The message is gone with the handle: its result is taken first.
            let code = tarn_curl_message_result(message)
            guard let transfer = remove(easy) else { continue }
            transfer.submission.completion(transfer.result(code))
            startNext(transfer.submission.origin)
        }
    }

    func dropCancelled() {
        for transfer in active.values where transfer.submission.ticket.isCancelled {
            _ = remove(transfer.easy)
            transfer.submission.completion(.failure(.cancelled))
            startNext(transfer.submission.origin)
        }
        for (origin, submissions) in waiting {
            // Asked once each: a ticket may be cancelled between two looks, and its submission would be lost.
            var rest: ArraySlice<CurlSubmission> = []
            for submission in submissions {
                if submission.ticket.isCancelled {
                    submission.completion(.failure(.cancelled))
                } else {
                    rest.append(submission)
                }
            }
            waiting[origin] = rest.isEmpty ? nil : rest
        }
    }

    private func startNext(_ origin: String) {
        // In place, and a slice: taking the first of many costs nothing.
        while activeByOrigin[origin, default: 0] < concurrencyPerHost, let submission = waiting[origin]?.popFirst() {
            if waiting[origin]?.isEmpty ?? true { waiting[origin] = nil }
            guard !submission.ticket.isCancelled else {
                submission.completion(.failure(.cancelled))
                continue
            }
            guard let handle = handle(), let transfer = CurlTransfer(submission, handle),
                curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
            else {
                submission.completion(
                    .failure(CurlFailure(kind: .protocol, detail: "libcurl could not prepare the transfer")))
                continue
            }
            active[transfer.easy] = transfer
            activeByOrigin[origin, default: 0] += 1
        }
    }

    private func handle() -> CurlHandle? {
        while let handle = idle.popLast() {
            if handle.clear() { return handle }
        }
        return CurlHandle()
    }

    private func remove(_ easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        curl_multi_remove_handle(multi, easy)
        guard let transfer = active.removeValue(forKey: easy) else { return nil }
        let origin = transfer.submission.origin
        let count = activeByOrigin[origin, default: 1] - 1
        activeByOrigin[origin] = count > 0 ? count : nil
        if idle.count < CurlLoop.idleLimit { idle.append(transfer.handle) }
        return transfer
    }
}
