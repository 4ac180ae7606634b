/**
 * A recogniser of speech that really listens: pocketsphinx, with a grammar of what can be said to a light, a door and a radio. It
 * stands in for the model of a whisper.cpp server, which cannot be had everywhere.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Speech from "./Speech.ts"

const grammar = `#JSGF V1.0;
grammar orders;
public <order> = <polite> <verb> the <thing>;
<polite> = please | kindly;
<verb> = open | close | repair | paint;
<thing> = light | door | window | radio | garden | kitchen;
`

/** The order that is heard in a recording of any format; empty where none is. */
export const hear = (recording: Uint8Array): string => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-recogniser-"))
  writeFileSync(join(folder, "orders.gram"), grammar)
  writeFileSync(join(folder, "heard.wav"), Speech.at16kHz(recording))
  const { stdout } = spawnSync("pocketsphinx_continuous", ["-infile", "heard.wav", "-jsgf", "orders.gram"], {
    cwd: folder,
    encoding: "utf8"
  })
  rmSync(folder, { recursive: true, force: true })
  return stdout.trim()
}
