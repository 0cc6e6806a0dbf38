// `tarn inspect web`: the inspector as a page in a browser of this machine.

import ArgumentParser
import Locking
import Tarn
import TarnInspect
import TarnInspectWeb

struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Show a store in a browser of this machine, until it is interrupted.",
        discussion: """
            Prints the URL to open. It contains a random token, and only this machine can reach it. The store is \
            not changed, and every view reads the newest commit. The page shows sizes, records with filter and order, \
            the relationships of a record, stored responses, the change log live, the schema, and a check; press ? \
            there for its keys.

            Examples:
              tarn inspect web forge.tarn
              tarn inspect web forge.tarn --port 8080
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Option(help: "The port; 0 for a free one.") var port = 0

    func validate() throws {
        guard 0...65_535 ~= port else { throw ValidationError("--port must be from 0 to 65535") }
    }

    func run() async throws {
        // A path without a store is an error here, not in the browser.
        noteWithoutLocks(store, try StoreInspector(at: store).statistics().aloneBecause)
        let page = InspectPage(store: store), server = WebServer(page)
        // Signals are handled before the address is known.
        let running = Guarded((task: Task<Void, any Error>?.none, isInterrupted: false))
        let interrupts = Interrupts {
            running.withLock { running in
                running.isInterrupted = true
                running.task?.cancel()
            }
        }
        defer { interrupts.stop() }
        let task = Task {
            try await server.run(port: port) { port in
                Output.line("http://127.0.0.1:\(port)\(page.path)")
                Output.flush()
            }
        }
        running.withLock { running in
            running.task = task
            if running.isInterrupted { task.cancel() }
        }
        do { try await task.value } catch { throw Failure(.failed, "--port \(port): \(Failure.listening(error))") }
        if task.isCancelled { throw Failure(.interrupted, "") }
    }
}
