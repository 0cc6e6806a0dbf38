// Shared helpers of the observation tests: a task that collects results, and waiting for other
// tasks.

import Foundation
import LMDB
import Locking
import Testing

@testable import TarnStore

/// Iterates an observation in its own task, and keeps all results.
final class Collected<Value: Sendable>: Sendable {
    private let content = Guarded<(results: [Observed<Value>], error: (any StoreFailure)?, isFinished: Bool)>(
        ([], nil, false))
    private let task = Guarded<Task<Void, Never>?>(nil)

    init(_ observation: StoreObservation<Value>) {
        let content = content
        let task = Task {
            do {
                for try await result in observation { content.withLock { $0.results.append(result) } }
            } catch {
                content.withLock { $0.error = error as? any StoreFailure }
            }
            content.withLock { $0.isFinished = true }
        }
        self.task.withLock { $0 = task }
    }

    deinit { cancel() }

    func cancel() { task.withLock { $0 }?.cancel() }

    var results: [Observed<Value>] { content.withLock { $0.results } }
    var values: [Value] { results.map(\.value) }
    var error: (any StoreFailure)? { content.withLock { $0.error } }
    var isFinished: Bool { content.withLock { $0.isFinished } }
}

/// The number of open files of this process that refer to something, such as inotify.
func openFiles(to what: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name))?.contains(what) ?? false
    }
}
