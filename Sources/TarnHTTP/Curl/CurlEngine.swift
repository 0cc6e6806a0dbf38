// The thread of libcurl's multi interface, and the queue through which tasks submit transfers.
//
// Only this thread uses libcurl: the multi handle, the easy handles and their callbacks. libcurl
// permits one exception: curl_multi_wakeup. It is called under the lock that also guards the end of
// the handle.

import CCrypto
import CCurl
import Foundation
import Locking
import Synchronization

/// The owner of the thread that performs all transfers of a transport.
final class CurlEngine: Sendable {
    private struct State {
        var submissions: [CurlSubmission] = []
        var hasCancellations = false
        var isFinishing = false
        var hasThread = false
        /// The multi handle; nil before the thread has created it and after its end.
        var multi: WakeableMulti?
        /// Whether the thread waits or is about to wait.
        ///
        /// Otherwise it reads this state before it waits.
        var isWaiting = false

        /// Wakes the thread if it waits.
        mutating func wake() {
            guard isWaiting else { return }
            isWaiting = false
            multi?.wake()
        }

        /// Whether there is work for the thread.
        var hasNews: Bool { !submissions.isEmpty || hasCancellations }
    }

    /// The multi handle for other threads.
    ///
    /// `@unchecked`: the only call is curl_multi_wakeup, which libcurl permits on any thread during
    /// the life of the handle. The handle lives as long as the state holds it; it is called and
    /// removed under the state's lock.
    private struct WakeableMulti: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer

        /// Whether libcurl has the descriptors by which it is woken.
        ///
        /// It creates a handle without them as well, if none is free at that moment.
        @discardableResult
        func wake() -> Bool { curl_multi_wakeup(pointer) == CURLM_OK }
    }

    private let state = Guarded(State())
    private let concurrencyPerHost: Int

    init(concurrencyPerHost: Int) {
        self.concurrencyPerHost = concurrencyPerHost
    }

    /// Queues a transfer, and starts the thread with the first one.
    func submit(_ submission: CurlSubmission) {
        let needsThread = state.withLock { state in
            state.submissions.append(submission)
            state.wake()
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread {
            let code = SystemThread.start(named: "tarn-curl") {
                if self.run() { CurlEngine.endingThreads.subtract(1, ordering: .releasing) }
            }
            if code != 0, abandon(.resources, SystemThread.refusal) {
                CurlEngine.endingThreads.subtract(1, ordering: .releasing)
            }
        }
    }

    /// Completes the queued submissions with a failure. The next one asks for a thread again.
    ///
    /// - Returns: whether `finish` waits for the thread.
    private func abandon(_ kind: TransportError.Kind, _ detail: String) -> Bool {
        let (waiting, isFinishing) = state.withLock { state in
            defer { state.submissions = [] }
            state.hasThread = false
            return (state.submissions, state.isFinishing)
        }
        for submission in waiting {
            submission.receiver.completion(.failure(CurlFailure(kind: kind, detail: detail)))
        }
        return isFinishing
    }

    /// Cancels a transfer.
    ///
    /// The flag is set before the wake-up, so that it also stops a submission that is queued later.
    func cancel(_ ticket: CurlTicket) {
        ticket.cancel()
        state.withLock { state in
            state.hasCancellations = true
            state.wake()
        }
    }

    /// Stops the thread after its last transfer.
    func finish() {
        state.withLock { state in
            if state.hasThread, !state.isFinishing { CurlEngine.endingThreads.add(1, ordering: .relaxed) }
            state.isFinishing = true
            state.wake()
        }
    }

    /// Whether libcurl's global state is initialized: once per process, by Swift's lazy globals.
    ///
    /// At `exit`, OpenSSL would free memory that engine threads still use. It is configured not to,
    /// and threads that are about to end are awaited. Otherwise both free the same memory now and
    /// then, and the program ends with a signal.
    private static let isLibraryReady: Bool = {
        tarn_keep_openssl_at_exit()
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { return false }
        atexit { CurlEngine.waitForEndingThreads() }
        return true
    }()

    /// The number of threads that are about to end.
    private static let endingThreads = Atomic(0)

    /// Waits at most two seconds for threads that are about to end.
    private static func waitForEndingThreads() {
        for _ in 0..<2000 where endingThreads.load(ordering: .acquiring) > 0 { usleep(1000) }
    }

    /// Performs transfers until the engine finishes.
    ///
    /// - Returns: whether `finish` waits for the thread.
    private func run() -> Bool {
        guard CurlEngine.isLibraryReady, let multi = curl_multi_init() else {
            return abandon(.protocol, "cannot initialize libcurl")
        }
        let wakeable = WakeableMulti(pointer: multi)
        guard wakeable.wake() else {
            curl_multi_cleanup(multi)
            return abandon(
                .resources, "too many open files: close some, or raise the limit (`ulimit -n`)")
        }
        // By default, libcurl keeps four connections for each transfer in progress, so that it
        // closes most of them whenever few transfers are.
        tarn_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 4 * min(max(16, concurrencyPerHost), 1 << 10))
        state.withLock { $0.multi = wakeable }
        perform(CurlLoop(multi: multi, concurrencyPerHost: concurrencyPerHost), multi)
        curl_multi_cleanup(multi)
        return true
    }

    /// Performs transfers until the engine finishes.
    private func perform(_ loop: CurlLoop, _ multi: UnsafeMutableRawPointer) {
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
            loop.dropIdle()
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
            // libcurl keeps a wake-up from here on: the poll then returns at once.
            let longest: Int32 = loop.isEmpty ? 60_000 : CurlLoop.measurementInterval
            if waits, curl_multi_poll(multi, nil, 0, longest, nil) != CURLM_OK {
                // Without memory, for example. The next attempt is not made at once.
                usleep(10_000)
            }
        }
    }
}

/// The transfers of one thread. It never leaves that thread.
private final class CurlLoop {
    private let multi: UnsafeMutableRawPointer
    private let concurrencyPerHost: Int
    private var active: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    /// The origins with active or waiting requests.
    private var lines: [String: CurlLine] = [:]
    /// Handles for reuse: libcurl creates a handle more slowly than it resets one.
    private var idle: [CurlHandle] = []
    private static let idleLimit = 64
    /// The time between two measurements of the idle time of transfers, in milliseconds.
    static let measurementInterval: Int32 = 250
    private var nextMeasurement = SuspendingClock.now

    init(multi: UnsafeMutableRawPointer, concurrencyPerHost: Int) {
        self.multi = multi
        self.concurrencyPerHost = concurrencyPerHost
    }

    var isEmpty: Bool { active.isEmpty && lines.values.allSatisfy(\.waiting.isEmpty) }

    /// Queues submissions and starts those with a free slot.
    func add(_ submissions: [CurlSubmission]) {
        var changed: [CurlLine] = []
        for submission in submissions {
            if submission.ticket.isCancelled {
                submission.receiver.completion(.failure(.cancelled))
                continue
            }
            // Requests in sequence mostly have one origin.
            let line = changed.last { $0.origin == submission.origin } ?? line(submission.origin)
            line.waiting.insert(submission, byPriority: { $0.request.priority })
            if changed.last !== line { changed.append(line) }
        }
        for line in changed { startNext(line) }
    }

    private func line(_ origin: String) -> CurlLine {
        if let line = lines[origin] { return line }
        let line = CurlLine(origin)
        lines[origin] = line
        return line
    }

    /// Advances all transfers and completes the finished ones.
    func perform() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            // Removing the handle invalidates the message: its result is read first.
            let code = tarn_curl_message_result(message)
            guard let transfer = remove(easy, isReusable: code == CURLE_OK) else { continue }
            transfer.submission.receiver.completion(transfer.result(code))
            startNext(transfer.line)
        }
    }

    /// Completes the transfers that are idle for too long, and the requests that have waited for
    /// too long.
    func dropIdle() {
        guard !active.isEmpty else { return }
        let now = SuspendingClock.now
        guard now >= nextMeasurement else { return }
        nextMeasurement = now + .milliseconds(CurlLoop.measurementInterval)
        for transfer in active.values where transfer.isIdle(at: now) {
            _ = remove(transfer.easy, isReusable: false)
            transfer.submission.receiver.completion(.failure(transfer.idleFailure))
            startNext(transfer.line)
        }
        for line in lines.values where line.waiting.contains(where: \.isOverdue) {
            // Each is asked once: its time may end between two answers.
            var rest: ArraySlice<CurlSubmission> = []
            for submission in line.waiting {
                if submission.isOverdue {
                    submission.receiver.completion(.failure(submission.overdueFailure))
                } else {
                    rest.append(submission)
                }
            }
            line.waiting = rest
        }
    }

    /// Completes all cancelled submissions.
    func dropCancelled() {
        for transfer in active.values where transfer.submission.ticket.isCancelled {
            _ = remove(transfer.easy, isReusable: false)
            transfer.submission.receiver.completion(.failure(.cancelled))
            startNext(transfer.line)
        }
        for line in lines.values {
            // Each ticket is read once: if it were cancelled between two reads, its submission
            // would be lost.
            var rest: ArraySlice<CurlSubmission> = []
            for submission in line.waiting {
                if submission.ticket.isCancelled {
                    submission.receiver.completion(.failure(.cancelled))
                } else {
                    rest.append(submission)
                }
            }
            line.waiting = rest
        }
    }

    /// Starts waiting submissions of an origin while it has free slots.
    private func startNext(_ line: CurlLine) {
        // popFirst on the slice in place: removing the first of many takes constant time.
        while line.activeCount < concurrencyPerHost, let submission = line.waiting.popFirst() {
            guard !submission.ticket.isCancelled else {
                submission.receiver.completion(.failure(.cancelled))
                continue
            }
            guard !submission.isOverdue else {
                submission.receiver.completion(.failure(submission.overdueFailure))
                continue
            }
            guard let handle = handle(for: submission), let transfer = CurlTransfer(submission, handle, line),
                curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
            else {
                submission.receiver.completion(
                    .failure(CurlFailure(kind: .protocol, detail: "libcurl cannot prepare the transfer")))
                continue
            }
            active[transfer.easy] = transfer
            line.activeCount += 1
        }
        if line.activeCount == 0, line.waiting.isEmpty { lines[line.origin] = nil }
    }

    /// Returns an idle or a new handle.
    private func handle(for submission: CurlSubmission) -> CurlHandle? {
        while let handle = idle.popLast() {
            if handle.clear(isPlain: submission.isPlain) { return handle }
        }
        return CurlHandle()
    }

    /// Removes a transfer and keeps its handle for reuse.
    ///
    /// - Parameter isReusable: whether the handle may keep its options.
    private func remove(_ easy: UnsafeMutableRawPointer, isReusable: Bool) -> CurlTransfer? {
        // Over HTTP/2, libcurl would keep the connection of a transfer that is removed before its
        // end. If the network has lost that connection, all later requests would time out on it.
        if !isReusable { tarn_curl_set_long(easy, CURLOPT_FORBID_REUSE, 1) }
        curl_multi_remove_handle(multi, easy)
        guard let transfer = active.removeValue(forKey: easy) else { return nil }
        transfer.line.activeCount -= 1
        // libcurl counts the attempts on broken connections until the handle is reset: after a
        // transfer that needed a connection, it is.
        if !isReusable || transfer.connectionCount > 0 { transfer.handle.isPrepared = false }
        if idle.count < CurlLoop.idleLimit { idle.append(transfer.handle) }
        return transfer
    }
}
