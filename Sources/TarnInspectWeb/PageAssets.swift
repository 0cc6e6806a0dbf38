// The files of the page, which are part of the program.

/// The document, the scripts and the style sheet of the page.
enum PageAssets {
    private static let script = "text/javascript; charset=utf-8"

    static func answer(_ name: String) -> PageAnswer? {
        switch name {
        case "": PageAnswer(status: 200, type: "text/html; charset=utf-8", body: PackageResources.index_html)
        case "icon.svg": PageAnswer(status: 200, type: "image/svg+xml", body: PackageResources.icon_svg)
        case "page.css": PageAnswer(status: 200, type: "text/css; charset=utf-8", body: PackageResources.page_css)
        default: script(name).map { PageAnswer(status: 200, type: script, body: $0) }
        }
    }

    private static func script(_ name: String) -> [UInt8]? {
        switch name {
        case "changes.js": PackageResources.changes_js
        case "elements.js": PackageResources.elements_js
        case "graph.js": PackageResources.graph_js
        case "main.js": PackageResources.main_js
        case "outbox.js": PackageResources.outbox_js
        case "overview.js": PackageResources.overview_js
        case "pages.js": PackageResources.pages_js
        case "progress.js": PackageResources.progress_js
        case "record.js": PackageResources.record_js
        case "records.js": PackageResources.records_js
        case "responses.js": PackageResources.responses_js
        case "schema.js": PackageResources.schema_js
        case "verify.js": PackageResources.verify_js
        default: nil
        }
    }
}
