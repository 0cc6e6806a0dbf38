// The entry of the module: `import TarnDescription` brings Tarn with the reader of `tarn.yaml`.

@_exported public import Tarn
