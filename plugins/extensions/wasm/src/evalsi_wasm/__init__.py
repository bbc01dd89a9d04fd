"""Runtime for evaluator packs that are WebAssembly modules."""
