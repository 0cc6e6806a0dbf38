// The thread that watches a store as long as somebody observes it.

import Foundation
internal import Glibc
import Synchronization
internal import LMDB

/// One watch on `wake`, one thread. The thread closes what it has opened when it ends.
final class ObserverWatch: @unchecked Sendable {
    // Set by `init`, and then only read, but for `watch` and `last`, which are the thread's; whoever takes it out of the hub, one
    // thread, calls `stop`.
    private static let restMilliseconds: Int32 = 1
    private let hub: ObserverHub
    private weak var store: Store?
    private let path: String
    private let mayCreate: Bool
    private let interval: Duration
    private let notifications: Int32
    /// A pipe: its other end is closed to end the thread.
    private var ending: [Int32] = [-1, -1]
    private let isStopped = Atomic(false)
    private var watch: Int32 = -1
    private var last: ObserverHub.Position

    init(_ hub: ObserverHub, _ store: Store, from start: ObserverHub.Position, every interval: Duration) {
        self.hub = hub
        self.store = store
        self.interval = interval
        path = store.wake.path
        mayCreate = !store.environment.options.isReadOnly
        last = start
        // Without either there is the slow check.
        notifications = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        if pipe(&ending) != 0 { ending = [-1, -1] }
        for end in ending where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    func start() {
        let thread = Thread { [self] in run() }
        thread.name = "tarn.watch"
        thread.start()
    }

    /// Ends the thread. It no longer looks at the store then.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        if ending[1] >= 0 { close(ending[1]) }
    }

    private func run() {
        addWatch()
        // What was committed before there was a watch.
        look()
        let milliseconds = Int32(clamping: Int64(interval / .milliseconds(1)))
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
            if !look() { break }
            if count > 0 { rest() }
        }
        if notifications >= 0 { close(notifications) }
        if ending[0] >= 0 { close(ending[0]) }
    }

    /// Commits that come one after the other wake the thread once in a while, not each: it would take time from the writer.
    private func rest() {
        var file = pollfd(fd: ending[0], events: Int16(POLLIN), revents: 0)
        _ = poll(&file, 1, ObserverWatch.restMilliseconds)
    }

    /// The file may not be there yet: then the slow check tries again.
    private func addWatch() {
        guard notifications >= 0 else { return }
        if mayCreate {
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, FileMode.inside(String(path.dropLast("/wake".count))))
            if file >= 0 { close(file) }
        }
        watch = inotify_add_watch(notifications, path, UInt32(IN_ATTRIB))
    }

    /// How many there are does not matter. Of a file that was deleted nothing more comes.
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

    /// False if the store has gone.
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
