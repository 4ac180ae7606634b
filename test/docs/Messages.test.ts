/** What the pages quote of the program's words is what it says. */
import { assert, describe, it } from "@effect/vitest"
import { ListenFailed } from "../../layers/rpc/Server.ts"
import * as SlashCommand from "../../src/cli/SlashCommand.ts"
import { DataDirectoryInUse } from "../../src/storage/StorageError.ts"
import { pages } from "./Pages.ts"

const quoted = (path: string): ReadonlyArray<string> =>
  pages.find((page) => page.path === path)?.fences.map((fence) => fence.text) ?? []

describe("docs/getting-started.md", () => {
  const fences = quoted("docs/getting-started.md")

  const messages: ReadonlyArray<{ readonly message: string }> = [
    new DataDirectoryInUse({ path: "/home/ada/.local/share/troupe", pid: 14067, since: 1796033589940 }),
    new ListenFailed({ host: "127.0.0.1", port: 7433, code: "EADDRINUSE" })
  ]
  for (const { message } of messages) {
    it(message, () => assert.include(fences, `troupe: ${message}\n`))
  }

  it("the commands in the chat", () => {
    const help = fences.find((text) => text.startsWith("/help ")) ?? ""
    assert.isTrue(help !== "" && SlashCommand.help.startsWith(help))
    const commands = SlashCommand.help.split("\n").filter((line) => line.startsWith("/"))
    assert.strictEqual(help, commands.map((line) => `${line}\n`).join(""))
  })
})
