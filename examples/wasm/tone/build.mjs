// Makes tone.wasm of tone.js: a component that imports nothing, with the engine that runs it inside, 12 MB.

import { readFile, writeFile } from "node:fs/promises";
import { componentize } from "@bytecodealliance/componentize-js";

const { component, imports } = await componentize(await readFile("tone.js", "utf8"), {
  witPath: "pack.wit",
  worldName: "pack",
  disableFeatures: ["random", "stdio", "clocks", "http", "fetch-event"],
});
await writeFile("tone.wasm", component);
console.log(`tone.wasm, ${component.length} bytes, imports: ${imports.length ? imports : "none"}`);
