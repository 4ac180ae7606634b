import { spawnSync } from "node:child_process"
import { describe } from "@effect/vitest"
import * as Ripgrep from "../../src/search/Ripgrep.ts"
import * as Searches from "../laws/Searches.ts"
import * as Needs from "../rigs/Needs.ts"

describe.skipIf(Needs.ripgrep.missing)(Needs.titled(Needs.ripgrep, "native"), () => {
  const said = spawnSync("/usr/bin/rg", ["--version"], { encoding: "utf8" }).stdout
  Searches.laws("a ripgrep of the machine", "native", (Ripgrep.versionIn(said) ?? 0) >= Ripgrep.countsAllFrom)
})

Searches.laws("the ripgrep of the registry", "wasm", true)
