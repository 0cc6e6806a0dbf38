// A page in headless Chromium, driven over the DevTools protocol.

import Foundation
import Glibc
import TestSupport
import Testing

/// Debian's Chromium without a window, and its page.
///
/// The protocol is spoken over two pipes: messages of JSON, each ended by a zero byte.
actor BrowserPage {
    static let program = "/usr/bin/chromium"
    static var isInstalled: Bool { access(program, X_OK) == 0 }

    private let process: TarnProcess
    private let folder: TemporaryFolder
    private let commands: Int32, events: Int32
    private var buffer: [UInt8] = []
    private var last = 0
    private var session: String?
    /// The addresses that the page has requested.
    private(set) var requests: [String] = []
    /// The exceptions of scripts, and what the browser refused, such as by the content security policy.
    private(set) var problems: [String] = []

    /// Starts the browser.
    ///
    /// - Parameter proxy: The proxy for every address that is not of this machine.
    init(proxy: String) async throws {
        folder = try TemporaryFolder()
        var descriptors: [Int32] = []
        for name in ["commands", "events"] {
            try #require(mkfifo(folder(name), 0o600) == 0)
            // Both ends: neither process waits for the other to open the pipe.
            descriptors.append(Glibc.open(folder(name), O_RDWR | O_NONBLOCK | O_CLOEXEC))
        }
        (commands, events) = (descriptors[0], descriptors[1])
        let arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-default-apps", "--disable-extensions", "--disable-domain-reliability",
            "--user-data-dir=\(folder("profile"))", "--proxy-server=\(proxy)", "--remote-debugging-pipe",
            "about:blank",
        ]
        process = try TarnProcess(
            ["-c", "exec \"$0\" \"$@\" 3<\(folder("commands")) 4>\(folder("events"))", Self.program] + arguments,
            program: "/bin/bash")
        let targets = try await call("Target.getTargets")["targetInfos"] as? [[String: Any]] ?? []
        let target = try #require(targets.first { $0["type"] as? String == "page" }?["targetId"] as? String)
        session =
            try await call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"] as? String
        for domain in ["Page", "Runtime", "Network", "Log"] { _ = try await call(domain + ".enable") }
    }

    /// Ends the browser.
    func close() async {
        session = nil
        _ = try? await call("Browser.close")
        process.send(SIGKILL)
        _ = await process.end()
        Glibc.close(commands)
        Glibc.close(events)
    }

    // MARK: - The page

    /// Opens an address, and waits until the inspector shows its view.
    func open(_ url: String) async throws {
        _ = try await call("Page.navigate", ["url": "about:blank"])
        _ = try await call("Page.navigate", ["url": url])
        try await wait("document.readyState === 'complete' && document.getElementById('view')?.dataset.run >= 1")
    }

    /// Opens an address of any page.
    func navigate(_ url: String) async throws {
        _ = try await call("Page.navigate", ["url": url])
        try await wait("document.readyState === 'complete'")
    }

    /// Evaluates a script, and returns its value as text.
    func value(_ script: String) async throws -> String {
        let answer = try await call(
            "Runtime.evaluate", ["expression": "String(\(script))", "awaitPromise": true, "returnByValue": true])
        let result = answer["result"] as? [String: Any]
        try #require(answer["exceptionDetails"] == nil, "\(script): \(answer)")
        return result?["value"] as? String ?? ""
    }

    /// Waits until a script's value is true.
    func wait(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await value("Boolean(\(script))") != "true" {
            if ContinuousClock.now > end {
                let text = try await value("document.body?.innerText")
                Issue.record("\(script): \(text.prefix(2000)) \(problems)", sourceLocation: sourceLocation)
                return
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The document as it is now.
    func document() async throws -> String { try await value("document.documentElement.outerHTML") }

    /// Sets the width of the window, and the color scheme that the user prefers.
    func show(width: Int, isDark: Bool) async throws {
        _ = try await call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600])
        _ = try await call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]]])
    }

    /// Presses and releases a key.
    func press(_ key: String) async throws {
        var event: [String: Any] = ["key": key, "text": key == "Enter" ? "\r" : key]
        if key == "Enter" { event["windowsVirtualKeyCode"] = 13 }
        for type in ["keyDown", "keyUp"] {
            event["type"] = type
            _ = try await call("Input.dispatchKeyEvent", event)
        }
    }

    // MARK: - The protocol

    private func call(_ method: String, _ parameters: [String: Any] = [:]) async throws -> [String: Any] {
        last += 1
        let id = last
        var message: [String: Any] = ["id": id, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        try await send([UInt8](JSONSerialization.data(withJSONObject: message)) + [0])
        while true {
            let found = try await receive()
            note(found)
            guard found["id"] as? Int == id else { continue }
            try #require(found["error"] == nil, "\(method): \(found)")
            return found["result"] as? [String: Any] ?? [:]
        }
    }

    private func note(_ message: [String: Any]) {
        let parameters = message["params"] as? [String: Any] ?? [:]
        switch message["method"] as? String {
        case "Network.requestWillBeSent":
            requests.append((parameters["request"] as? [String: Any])?["url"] as? String ?? "?")
        case "Runtime.exceptionThrown": problems.append("\(parameters["exceptionDetails"] ?? "")")
        case "Log.entryAdded":
            let entry = parameters["entry"] as? [String: Any] ?? [:]
            problems.append("\(entry["source"] ?? ""): \(entry["text"] ?? "") \(entry["url"] ?? "")")
        default: break
        }
    }

    private func send(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(commands, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    private func receive() async throws -> [String: Any] {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            if let zero = buffer.firstIndex(of: 0) {
                let line = Data(buffer[..<zero])
                buffer.removeSubrange(...zero)
                return try JSONSerialization.jsonObject(with: line) as? [String: Any] ?? [:]
            }
            var part = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(events, &part, part.count)
            if count > 0 {
                buffer += part[..<count]
            } else {
                try #require(ContinuousClock.now < end, "the browser does not answer")
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }
}
