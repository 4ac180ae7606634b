/**
 * Draws `docs/images/chat.svg`: a real chat in a real terminal (tmux), captured with its colours.
 *
 * Run by `npm run docs:picture`. Needs tmux; nothing else on the machine is touched.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { toSvg } from "./Svg.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const columns = 84
const rows = 24

const home = mkdtempSync(join(tmpdir(), "troupe-picture-"))
const socket = `troupe-picture-${process.pid}`
const tmux = (...args: ReadonlyArray<string>) => spawnSync("tmux", ["-L", socket, ...args], { encoding: "utf8" }).stdout

try {
  writeFileSync(
    join(home, "config.toml"),
    `[tools.wait]\nenabled = true\n[tools.approval]\nrequire_approval = ["calculate*"]\n`
  )
  const program = `cd '${home}' && HOME='${home}' TROUPE_DATA_DIR='${home}/data' LANG=C.UTF-8 '${process.execPath}' '${root}layers/cli/main.ts'`
  // A daemon beside the chat, so that the picture begins as it does for most people.
  tmux("-f/dev/null", "-u", "new-session", "-dsdaemon", `${program} --no-color`)
  await until("daemon", "npx troupe chat")
  tmux("-u", "new-session", "-dschat", `-x${columns}`, `-y${rows}`, `${program} chat`)
  await until("chat", "\n›")
  type("hello")
  await until("chat", "not a language model. Ask")
  type("what is 12*(3+4)?")
  await until("chat", "Allow calculate_expression?")
  await answer("y", "✓ calculate_expression")
  await until("chat", "84")
  type("wait 2 seconds")
  await until("chat", "✓ wait")
  type("what is 2**0.5?")
  await until("chat", "Allow calculate_expression? expression: 2**0.5")
  const screen = tmux("capture-pane", "-tchat", "-p", "-e")
  mkdirSync(join(root, "docs/images"), { recursive: true })
  writeFileSync(join(root, "docs/images/chat.svg"), toSvg(screen.trimEnd(), { columns, title: "troupe chat" }))
} finally {
  tmux("kill-server")
  rmSync(home, { recursive: true, force: true })
}

function type(text: string): void {
  tmux("send-keys", "-tchat", "-l", text)
  tmux("send-keys", "-tchat", "Enter")
}

async function until(session: string, text: string, tries = 400): Promise<void> {
  const shown = tmux("capture-pane", `-t${session}`, "-p")
  if (shown.includes(text)) return
  if (tries === 0) throw new Error(`The ${session} never showed ${JSON.stringify(text)}:\n${shown}`)
  await new Promise((resolve) => setTimeout(resolve, 50))
  return until(session, text, tries - 1)
}

/** Keys right after a question are not an answer to it. */
async function answer(key: string, text: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 800))
  tmux("send-keys", "-tchat", key)
  await until("chat", text)
}
