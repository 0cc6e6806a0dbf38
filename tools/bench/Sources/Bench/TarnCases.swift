// The cases in which Tarn takes part.
//
// Tarn is not a dependency of this package yet. To let it take part, add to Package.swift
//     .package(name: "tarn", path: "../..")            to the package's dependencies,
//     .product(name: "Tarn", package: "tarn")          to the target's,
// import it here, and give `contenders` one `Contender(name: "tarn", benchmark: "import.cold", measure: …)` that does
// what `PeerCases.importPages` does: open the store, start the clock, import, stop it, then count what is stored.

/// Tarn itself.
enum TarnCases {
    static let contenders: [Contender] = []
}
