// The library's front door: what its users need of the layers below comes with it.

@_exported public import TarnHTTP
@_exported public import TarnImport
@_exported public import TarnStore
