// One store for each file in a process; forks, namespaces and newer schemas.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Sharing a store", .timeLimit(.minutes(5)))
struct StoreSharingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a second opening by whatever path is the same store")
    func sameStoreByAnyPath() throws {
        let store = try Forge.open(folder("s"))
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: folder("s"))
        #expect(try Forge.open(folder("s")) === store)
        #expect(try Forge.open(folder("link")) === store)
        #expect(try Forge.open(folder("s") + "/../s/", nil) === store)
        #expect(try Forge.open(folder("other")) !== store)
    }

    @Test("a schema that a second opening brings is the store's for both")
    func secondSchema() throws {
        let store = try Forge.open(folder("s"))
        var schema = Forge.schema
        schema.entities.append(EntityDefinition("Team", key: ["id"], attributes: [.init("id", .int)]))
        #expect(try Forge.open(folder("s"), schema) === store)
        #expect(store.catalog.entity("Team") != nil)
        try store.put("Team", RecordKey(1))
    }

    @Test("a write opens its store again while another thread waits for that write with a changed schema")
    func openingInsideAWrite() throws {
        let path = folder("s") as String, store = try Forge.open(path)
        var schema = Forge.schema
        schema.entities.append(EntityDefinition("Team", key: ["id"], attributes: [.init("id", .int)]))
        let changed = schema, isOpen = DispatchSemaphore(value: 0)
        try store.write { _ in
            Thread.detachNewThread {
                _ = try? Forge.open(path, changed)
                isOpen.signal()
            }
            #expect(isOpen.wait(timeout: .now() + .milliseconds(300)) == .timedOut, "it does not wait")
            let again = try Forge.open(path), withoutSchema = try Forge.open(path, nil)
            #expect(again === store && withoutSchema === store)
            #expect(throws: StoreOpenError.self) { try Forge.open(path, changed) }
        }
        isOpen.wait()
        #expect(store.catalog.entity("Team") != nil)
    }

    @Test("an open store is opened again while another thread waits for a write of it with a changed schema")
    func openingBesideAWrite() throws {
        let path = folder("s") as String, store = try Forge.open(path)
        var schema = Forge.schema
        schema.entities.append(EntityDefinition("Team", key: ["id"], attributes: [.init("id", .int)]))
        let changed = schema, isOpen = DispatchSemaphore(value: 0), isOpenAgain = DispatchSemaphore(value: 0)
        try store.write { _ in
            Thread.detachNewThread {
                _ = try? Forge.open(path, changed)
                isOpen.signal()
            }
            #expect(isOpen.wait(timeout: .now() + .milliseconds(300)) == .timedOut, "it does not wait")
            // As a write of another store does: two of them would wait for each other.
            Thread.detachNewThread {
                _ = try? Forge.open(path)
                _ = try? Forge.open(path, nil)
                isOpenAgain.signal()
            }
            #expect(isOpenAgain.wait(timeout: .now() + .seconds(60)) == .success)
        }
        isOpen.wait()
        #expect(store.catalog.entity("Team") != nil)
    }

    @Test("other options are a conflict, and the store stays as it is")
    func otherOptions() throws {
        let store = try Forge.open(folder("s"))
        for options in [
            Store.Options(), Store.Options(durability: .relaxed),
            Store.Options(durability: .volatile, isReadOnly: true),
        ] {
            guard
                case StoreError.lmdb(let error)? = storeError({ _ = try Store.open(at: folder("s"), options: options) })
            else {
                Issue.record("it was opened")
                continue
            }
            #expect(error.kind == .optionsConflict)
        }
        try store.put("User", RecordKey(1))
    }

    @Test("opening throws one type of error; errors of reads and writes are inside of it, with their texts")
    func opensWithOneTypeOfError() throws {
        let store = try Forge.open(folder("s"))
        do throws(StoreOpenError) {
            _ = try Store.open(at: folder("s"))
            Issue.record("it was opened")
        } catch {
            guard case .store(.lmdb(let reason)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(reason.kind == .optionsConflict && error.description == reason.description)
        }
        let duplicate = StoreWriteError.notUnique(entity: "User", index: "login", keys: ["1", "2"])
        #expect(StoreOpenError.write(duplicate).description == duplicate.description)
        try store.put("User", RecordKey(1))
    }

    @Test("100 threads that open, write and let go lose nothing and never meet a closing store")
    func manyThreadsOpenAndRelease() throws {
        let path = folder("s"), failures = Shared<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 100) { thread in
            do {
                for round in 0..<3 {
                    let store = try Forge.open(path)
                    try store.put("User", RecordKey(Int64(thread * 10 + round)))
                    guard try store.record("User", RecordKey(Int64(thread * 10 + round))) != nil else {
                        failures.change { $0.append("\(thread) lost") }
                        return
                    }
                }
            } catch {
                failures.change { $0.append("\(error)") }
            }
        }
        #expect(failures.value.isEmpty)
        #expect(try Forge.open(path).count("User") == 300)
    }

    @Test("a forked child is refused at once, opens the store anew, and the parent goes on")
    func forkedChild() async throws {
        let path = folder("s")
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try Forge.open(path)
            try store.put("User", RecordKey(1))
            let child = try forkProcess()
            if child == 0 {
                func isForked(_ body: () throws -> Void) -> Bool {
                    guard case StoreError.lmdb(let error)? = storeError(body) else { return false }
                    return error.kind == .forked
                }
                guard isForked({ try store.read { _ in } }), isForked({ try store.write { _ in } }) else { _exit(1) }
                guard let own = try? Forge.open(path), own !== store else { _exit(2) }
                guard (try? own.count("User")) == 1 else { _exit(3) }
                if isThreadSanitized { _exit(7) }
                guard (try? own.put("User", RecordKey(2))) != nil else { _exit(4) }
                _exit(7)
            }
            var status: Int32 = 0
            #expect(waitpid(child, &status, 0) == child)
            #expect(status >> 8 & 0xFF == 7)
            try store.put("User", RecordKey(3))
            #expect(try store.count("User") == (isThreadSanitized ? 2 : 3))
        }
    }

    @Test("a thread that the system refuses fails the write and the observation; the next ones get it")
    func refusedThread() async throws {
        let path = folder("s")
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try Store.open(
                at: path, schema: Forge.schema,
                options: Store.Options(durability: .volatile, permissions: .everyone))
            // The threads of root are not limited.
            if geteuid() == 0, setuid(65534) != 0 {
                print("another user is not permitted here: refused threads were not tried")
                return
            }
            var limit = rlimit()
            #expect(getrlimit(__rlimit_resource_t(6), &limit) == 0)  // RLIMIT_NPROC
            let before = limit.rlim_cur
            limit.rlim_cur = 1
            #expect(setrlimit(__rlimit_resource_t(6), &limit) == 0)
            func isRefused(_ body: () throws -> Void) -> Bool {
                guard case StoreError.lmdb(let error)? = storeError(body) else { return false }
                return error.operation == "thread" && error.description.contains("ulimit -u")
            }
            let signal = try store.read { try ObserverSignal(in: $0.access.state) { _ in .everything } }
            #expect(isRefused { try store.put("User", RecordKey(1)) })
            #expect(isRefused { try store.observers.add(signal, to: store) })
            #expect(store.observers.count == 0 && !store.observers.isWatching)
            limit.rlim_cur = before
            #expect(setrlimit(__rlimit_resource_t(6), &limit) == 0)
            try store.put("User", RecordKey(2))
            try store.observers.add(signal, to: store)
            #expect(store.observers.count == 1 && store.observers.isWatching)
            store.observers.remove(signal)
            #expect(try store.count("User") == 1)
        }
    }

    @Test("a store that was opened by a relative path stays the same one when the process changes its directory")
    func changedDirectory() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(chdir(path) == 0)
            let store = try Forge.open("s")
            #expect(chdir("/") == 0)
            #expect(store.path == "s" && store.directory.hasPrefix("/") && store.directory.hasSuffix("/s"))
            try store.put("User", RecordKey(1))
            // Made by the first commit.
            #expect(FileManager.default.fileExists(atPath: path + "/s/wake"))
            try store.backup(to: path + "/copy")
            #expect(try Forge.open(path + "/s") === store)
            #expect(try Forge.open(path + "/copy").count("User") == 1)
        }
    }

    @Test("a store that is open in another namespace of process ids is refused, and opens when it is closed there")
    func otherNamespace() throws {
        do { _ = try Forge.open(folder("s")) }
        do {
            let other = try StoreLock(directory: folder("s"), namespace: 4711)
            #expect(
                storeError { _ = try Forge.open(folder("s")) } == StoreOpenError.pidNamespaceConflict(path: folder("s"))
            )
            #expect(
                storeError { _ = try Store.open(at: folder("s"), options: .init(isReadOnly: true)) }
                    == StoreOpenError.pidNamespaceConflict(path: folder("s")))
            withExtendedLifetime(other) {}
        }
        // A process that another test starts at this moment has a copy of the lock's descriptor
        // until it runs its program.
        let deadline = ContinuousClock.now + .seconds(10)
        while storeError({ _ = try Forge.open(folder("s")) }) != nil, ContinuousClock.now < deadline { usleep(1000) }
        let store = try Forge.open(folder("s"))
        #expect(
            storeError { _ = try StoreLock(directory: folder("s"), namespace: 4711) }
                == StoreOpenError.pidNamespaceConflict(path: folder("s")))
        _ = try StoreLock(directory: folder("s"))
        // A system without this information cannot be compared.
        _ = try StoreLock(directory: folder("s"), namespace: nil)
        withExtendedLifetime(store) {}
    }

    @Test("opening again in the same namespace writes nothing to the lock file, so that a full disk keeps nobody out")
    func recordIsWrittenOnce() throws {
        let path = folder("s")
        do { _ = try Forge.open(path) }
        let early = Date(timeIntervalSince1970: 1_000_000)
        try FileManager.default.setAttributes([.modificationDate: early], ofItemAtPath: path + "/store.lock")
        do { _ = try Forge.open(path) }
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/store.lock")
        #expect(attributes[.modificationDate] as? Date == early)
        // A longer record is replaced whole.
        try Data("pid namespace 123456789012345678\nof another version\n".utf8).write(
            to: URL(fileURLWithPath: path + "/store.lock"))
        let store = try Forge.open(path)
        let record = try String(contentsOfFile: path + "/store.lock", encoding: .utf8)
        let lockFile = try #require(FileIdentity(path: path + "/lock.mdb")).text
        #expect(
            record
                == "lock file \(lockFile)\npid namespace \(StoreLock.processNamespace.map(String.init) ?? "unknown")\n")
        withExtendedLifetime(store) {}
    }

    @Test("of many that open at once from two namespaces only one namespace gets in")
    func namespacesRace() throws {
        try FileManager.default.createDirectory(atPath: folder("s"), withIntermediateDirectories: true)
        let path = folder("s"), won = Shared<[UInt64: [StoreLock]]>([:]), conflicts = Shared(0)
        DispatchQueue.concurrentPerform(iterations: 20) { number in
            let namespace = UInt64(number % 2 + 1)
            do throws(StoreOpenError) {
                let lock = try StoreLock(directory: path, namespace: namespace)
                won.change { $0[namespace, default: []].append(lock) }
            } catch {
                if error == StoreOpenError.pidNamespaceConflict(path: path) { conflicts.change { $0 += 1 } }
            }
        }
        #expect(won.value.count == 1)
        #expect(won.value.values.map(\.count) == [10])
        #expect(conflicts.value == 10)
    }

    @Test("a process in a namespace of its own is refused")
    func realNamespace() async throws {
        let path = folder("s")
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try Forge.open(path)
            try store.put("User", RecordKey(1))
            let symbol = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "unshare"))
            let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
            // CLONE_NEWPID, alone or, without the right to it, in a user namespace (CLONE_NEWUSER).
            guard unshare(0x2000_0000) == 0 || unshare(0x3000_0000) == 0 else {
                print("namespaces are not permitted here: only planted records were tried")
                return
            }
            let child = try forkProcess()
            if child == 0 {
                guard case StoreOpenError.pidNamespaceConflict? = storeError({ _ = try Forge.open(path) }) else {
                    _exit(1)
                }
                _exit(7)
            }
            var status: Int32 = 0
            #expect(waitpid(child, &status, 0) == child)
            #expect(status >> 8 & 0xFF == 7)
            withExtendedLifetime(store) {}
        }
    }

    @Test("a process whose schema no longer fits may read, and is told so when it writes")
    func schemaNoLongerFits() throws {
        let store = try Forge.open(folder("s"))
        try store.put("User", RecordKey(1), ["login": .string("ada")])
        var catalog = store.catalog
        let position = try #require(catalog.entities.firstIndex { $0.name == "User" })
        // A possible change of a newer version of Tarn: a field in this process's schema is
        // renamed.
        let login = try #require(catalog.entities[position].fields.firstIndex { $0.name == "login" })
        catalog.entities[position].fields[login].name = "handle"
        let text = try JSONEncoder().encode(CatalogJSON(catalog))
        try store.environment.write { transaction in
            let meta = store.state.meta, generation = try transaction.raw.number(meta, key: MetaKey.generation)
            try transaction.raw.put(meta, key: MetaKey.catalog, text: String(decoding: text, as: UTF8.self))
            try transaction.raw.put(meta, key: MetaKey.generation, number: generation + 1)
        }
        #expect(try store.record("User", RecordKey(1))?["handle"] == .string("ada"))
        guard case StoreWriteError.schemaChanged(folder("s"), _)? = storeError({ try store.put("User", RecordKey(2)) })
        else {
            Issue.record("it wrote")
            return
        }
        #expect(try store.count("User") == 1)
    }
}

/// Swift does not import `fork`.
func forkProcess() throws -> Int32 {
    let symbol = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"))
    return unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
}
