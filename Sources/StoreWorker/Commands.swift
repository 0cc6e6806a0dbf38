// The commands that write and read: what they do is said on standard output, a line each.

import Foundation
import Glibc
import LMDB
import Synchronization
import TarnStore

/// Writes each stream on a thread of its own, from where the store says it has come to, until standard input ends. Says
/// `open`, then `ack STREAM NUMBER` for every transaction whose `write` has returned.
func write(_ path: String, _ streams: [Int], _ options: Store.Options) throws {
    let store = try Store.open(at: path, schema: Workload.schema, options: options)
    say("open")
    let threads = streams.map { stream in
        Thread {
            do {
                try write(store, Workload(stream: stream))
            } catch {
                say("error \(error)")
                _exit(1)
            }
        }
    } + [
        // Does nothing until there are enough rows, and nothing once there is a dictionary.
        Thread {
            while true {
                _ = try? store.trainDictionaries()
                usleep(50_000)
            }
        }
    ]
    for thread in threads {
        thread.stackSize = 8 << 20
        thread.start()
    }
    waitForEndOfInput()
    // Between two transactions or in the middle of one: nobody waits for the end of a process that keeps its promises.
    _exit(0)
}

private struct Undone: Error {}

private func write(_ store: Store, _ workload: Workload) throws {
    var number = try store.read { try Workload.count(of: Int64(workload.stream), $0.access) }
    while true {
        number += 1
        let next = number
        if workload.failsFirst(next) {
            do {
                try store.write { writer in
                    try workload.run(next, &writer)
                    throw Undone()
                }
            } catch is Undone {
            }
        }
        try store.write { try workload.run(next, &$0) }
        say("ack \(workload.stream) \(next)")
    }
}

/// Writes a number of transactions of stream 0, three attempts each, and says `ack 0 NUMBER`, or `failed KIND TEXT` for an attempt. A
/// store that says so is closed and opened again. Ends with 0 if everything was written, with 3 if it gave up, and with 4 if
/// a reader of this process saw something else than what was acknowledged.
func script(_ path: String, count: Int, _ options: Store.Options) -> Int32 {
    let workload = Workload(stream: 0)
    var store: Store?
    var acknowledged = 0, failures = 0
    while acknowledged < count {
        guard failures < 3 else { return 3 }
        do {
            let open = try store ?? Store.open(at: path, schema: Workload.schema, options: options)
            if store == nil, acknowledged == 0 { acknowledged = try open.read { try Workload.count(of: 0, $0.access) } }
            store = open
            let number = acknowledged + 1
            if number > count { break }
            try open.write { try workload.run(number, &$0) }
            acknowledged = number
            failures = 0
            say("ack 0 \(number)")
        } catch {
            failures += 1
            store = told(error, store)
        }
        do {
            let seen = try store?.read { try Workload.count(of: 0, $0.access) } ?? acknowledged
            if seen != acknowledged {
                say("wrong: a reader sees \(seen), and \(acknowledged) were acknowledged")
                return 4
            }
        } catch {
            store = told(error, store)
        }
    }
    return 0
}

/// Says what went wrong, and returns the store if it can be used further.
private func told(_ error: any Error, _ store: Store?) -> Store? {
    switch error {
    case StoreError.lmdb(let error):
        say("failed \(error.kind) \(error)")
        return error.kind == .poisoned ? nil : store
    case let error as StoreError:
        say("failed store \(error)")
        return store
    default:
        say("failed untyped \(error)")
        return store
    }
}

/// Sets counter 7 to one number after the other, each in a commit, and says each.
///
/// - Parameter isKilled: whether nobody is told of the last commit, and the process then kills itself.
func count(_ path: String, _ first: Int64, _ last: Int64, isKilled: Bool) throws {
    let store = try Store.open(at: path, schema: Workload.schema)
    for number in first...max(first, last) {
        if isKilled, number == last { store.wake.isSilent.store(true, ordering: .relaxed) }
        try store.write { writer in try writer.put("Counter", RecordKey(7), [.init("count", .int(number))]) }
        say("\(number)")
    }
    if isKilled { kill(getpid(), SIGKILL) }
}

/// Holds a snapshot: says `snapshot COUNT`, waits for the end of standard input, and says `again COUNT`.
func holdSnapshot(_ path: String) throws {
    let store = try Store.open(at: path)
    try store.read { reader in
        say("snapshot \(try Workload.count(of: Workload.shared, reader.access))")
        waitForEndOfInput()
        say("again \(try Workload.count(of: Workload.shared, reader.access))")
    }
}
