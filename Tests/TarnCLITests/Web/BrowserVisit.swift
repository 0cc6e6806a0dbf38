// A visit of the inspector's page with a browser.

import TestSupport
import Testing

/// Runs the closure with a page that is served, and a browser; checks that no script failed, and
/// that the server ends by its signal.
///
/// - Parameters:
///   - proxy: the proxy for all addresses that are not of this machine.
///   - isExpected: returns whether a message of the browser is no problem.
func visit(
    _ store: String, proxy: String, except isExpected: (String) -> Bool = { _ in false },
    _ body: (BrowserPage, String) async throws -> Void
) async throws {
    let page = try await RunningPage(store), browser = try await BrowserPage(proxy: proxy)
    do {
        try await body(browser, page.url)
    } catch {
        await browser.close()
        _ = await page.end()
        throw error
    }
    #expect(await browser.problems.filter { !isExpected($0) } == [])
    let foreign = await browser.requests.filter { $0.hasPrefix("http") && !$0.hasPrefix(page.url) }
    #expect(foreign == [])
    await browser.close()
    #expect(await page.end().status == 143)
}
