// The thread that watches a store as long as it is observed.

import Foundation
internal import Glibc
internal import LMDB
import Locking
import Synchronization

/// A watch on `wake`, with a thread that closes the descriptors when it ends.
final class ObserverWatch: @unchecked Sendable {
    // `init` sets the properties; later they are only read, except for `notifications`, `watch` and
    // `last`, which only the thread uses. `stop` is called once, by the caller that has removed the
    // watch from the hub.
    private static let restMilliseconds: Int32 = 1
    private let hub: ObserverHub
    private weak var store: Store?
    private let path: String
    private let mayCreate: Bool
    private let interval: Duration
    private var notifications: Int32
    /// A pipe whose writing end is closed to stop the thread.
    private var ending: [Int32] = [-1, -1]
    private let isStopped = Atomic(false)
    private var watch: Int32 = -1
    private var last: ObserverHub.Look

    init(_ hub: ObserverHub, _ store: Store, from start: ObserverHub.Look, every interval: Duration) {
        self.hub = hub
        self.store = store
        self.interval = interval
        path = store.wake.path
        mayCreate = !store.environment.options.isReadOnly
        last = start
        // Without inotify or a pipe, the slow check remains.
        notifications = ObserverWatch.newNotifications()
        if pipe(&ending) != 0 { ending = [-1, -1] }
        for end in ending where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    private static func newNotifications() -> Int32 { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) }

    /// Starts the thread.
    ///
    /// - Returns: 0, or the code of the system's refusal. The watch is of no use then.
    func start() -> Int32 {
        let code = SystemThread.start(named: "tarn.watch") { [self] in run() }
        if code != 0 { for file in [notifications] + ending where file >= 0 { close(file) } }
        return code
    }

    /// Stops the thread. It does not access the store any more.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        if ending[1] >= 0 { close(ending[1]) }
    }

    private func run() {
        addWatch()
        // Commits from before the watch was added.
        look()
        let milliseconds = Int32(clamping: Int64(interval / .milliseconds(1))), clock = ContinuousClock()
        var checked = clock.now
        while true {
            var files = [notifications, ending[0]].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let count = poll(&files, 2, milliseconds)
            if isStopped.load(ordering: .relaxed) { break }
            if count > 0 {
                hub.counters.withLock { $0.touches += 1 }
                readNotifications()
            } else {
                hub.counters.withLock { $0.slowChecks += 1 }
                if watch < 0 { addWatch() }
            }
            // Commits to files that have replaced those of the store touch the same `wake`.
            if clock.now - checked >= interval, let store {
                hub.checkFiles(of: store)
                checked = clock.now
            }
            if !look() { break }
            if count > 0 { rest() }
        }
        if notifications >= 0 { close(notifications) }
        if ending[0] >= 0 { close(ending[0]) }
    }

    /// Pauses after a notification: a series of commits wakes the thread only now and then.
    ///
    /// A wake-up per commit would take time from the writer.
    private func rest() {
        var file = pollfd(fd: ending[0], events: Int16(POLLIN), revents: 0)
        _ = poll(&file, 1, ObserverWatch.restMilliseconds)
    }

    /// Adds the watch. If the file does not exist yet, the slow check tries again.
    private func addWatch() {
        // There may have been no free descriptor before.
        if notifications < 0 { notifications = ObserverWatch.newNotifications() }
        guard notifications >= 0 else { return }
        if mayCreate {
            let file = WakeFile.open(path)
            if file >= 0 { close(file) }
        }
        watch = inotify_add_watch(notifications, path, UInt32(IN_ATTRIB))
    }

    /// Drains the notifications, whose number does not matter. A deleted file loses its watch.
    private func readNotifications() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(notifications, &buffer, buffer.count)
            guard count > 0 else { return }
            buffer.withUnsafeBytes { bytes in
                // struct inotify_event: i32 wd, u32 mask, u32 cookie, u32 length, name.
                var offset = 0
                while offset + 16 <= count {
                    if bytes.load(offset + 4, UInt32.self) & UInt32(IN_IGNORED) != 0 { watch = -1 }
                    offset += 16 + Int(bytes.load(offset + 12, UInt32.self))
                }
            }
        }
    }

    /// Marks the observers of new changes.
    ///
    /// - Returns: false if the store was released.
    @discardableResult
    private func look() -> Bool {
        guard let store else { return false }
        do {
            last = try hub.look(at: store, from: last)
        } catch {
            hub.markAll()
        }
        return true
    }
}
