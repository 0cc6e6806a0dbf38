import Foundation

/// A shared library, and its functions. It is never unloaded.
struct SharedLibrary {
    private let handle: UnsafeMutableRawPointer

    /// - Parameter isLoaded: whether only a library is wanted that the process has loaded.
    init?(_ name: String, isLoaded: Bool = false) {
        guard let handle = dlopen(name, isLoaded ? RTLD_LAZY | RTLD_NOLOAD : RTLD_LAZY) else { return nil }
        self.handle = handle
    }

    /// Returns a function of a C type, or nil.
    func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }
}
