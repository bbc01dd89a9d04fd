// Makes the module that plugin.toml names: a component that imports nothing, with the engine that runs it inside, 12 MB.

import { readFile, writeFile } from "node:fs/promises";
import { componentize } from "@bytecodealliance/componentize-js";

const module = /^module = "(.+)"$/m.exec(await readFile("plugin.toml", "utf8"))[1];
const { component, imports } = await componentize({
  sourcePath: "pack.js",
  witPath: "pack.wit",
  worldName: "pack",
  // Without these it would import a clock, chance or a network, and be refused.
  disableFeatures: ["random", "stdio", "clocks", "http", "fetch-event"],
});
await writeFile(module, component);
console.log(`${module}, ${component.length} bytes, imports: ${imports.length ? imports : "none"}`);
