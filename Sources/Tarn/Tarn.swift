// The entry module of the library: re-exports the lower layers that its API uses.

@_exported public import TarnHTTP
@_exported public import TarnImport
@_exported public import TarnStore
