// Makes the module that plugin.toml names.

import { readFile } from "node:fs/promises";
import asc from "assemblyscript/asc";

const module = /^module = "(.+)"$/m.exec(await readFile("plugin.toml", "utf8"))[1];
// Without `abort` as a function of the host, which the host does not have, a failed assertion stops the module.
const options = ["--outFile", module, "--optimize", "--use", "abort="];
const { error, stderr } = await asc.main(["src/pack.ts", ...options]);
if (error) {
  console.error(`${stderr}${error.message}`);
  process.exit(1);
}
console.log(`${module}, ${(await readFile(module)).length} bytes`);
