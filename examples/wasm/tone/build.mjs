// Builds tone.wasm from tone.js: a component of 12 MB that contains the JavaScript engine and imports nothing.

import { readFile, writeFile } from "node:fs/promises";
import { componentize } from "@bytecodealliance/componentize-js";

const { component, imports } = await componentize(await readFile("tone.js", "utf8"), {
  witPath: "pack.wit",
  worldName: "pack",
  disableFeatures: ["random", "stdio", "clocks", "http", "fetch-event"],
});
await writeFile("tone.wasm", component);
console.log(`tone.wasm, ${component.length} bytes, imports: ${imports.length ? imports : "none"}`);
