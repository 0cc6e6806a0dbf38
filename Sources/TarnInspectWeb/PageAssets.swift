// The files of the page, which are part of the program.

/// The document, the script and the style sheet of the page.
enum PageAssets {
    static func answer(_ name: String) -> PageAnswer? {
        switch name {
        case "": PageAnswer(status: 200, type: "text/html; charset=utf-8", body: PackageResources.index_html)
        case "page.js": PageAnswer(status: 200, type: "text/javascript; charset=utf-8", body: PackageResources.page_js)
        case "views.js":
            PageAnswer(status: 200, type: "text/javascript; charset=utf-8", body: PackageResources.views_js)
        case "page.css": PageAnswer(status: 200, type: "text/css; charset=utf-8", body: PackageResources.page_css)
        default: nil
        }
    }
}
