// Runs after `npm ci` in a checkout: puts the package's own command where npx looks first. Without it npx would install
// the checkout as a link into its cache, which is slower at the first start and warns about the machine's own Node.
import { existsSync, symlinkSync } from "node:fs"

const bin = new URL("../node_modules/.bin/", import.meta.url)
if (process.platform !== "win32" && existsSync(bin) && !existsSync(new URL("troupe", bin))) {
  symlinkSync("../../layers/cli/bin.js", new URL("troupe", bin))
}
