/** A process that is killed while it makes its database, at every transaction of its first start. */
import * as Lives from "./Lives.ts"
import * as World from "./World.ts"

export interface Result {
  readonly kills: number
  readonly problems: ReadonlyArray<string>
}

/** Kills at the first transaction, then at the second in a new directory, and so on, until a start gets by without being killed. */
export const run = async (point: "sql begin" | "sql commit"): Promise<Result> => {
  const world = await World.open(() => 0)
  const problems: Array<string> = []
  let kills = 0
  try {
    for (let pass = 1, killed = true; killed; pass += 1) {
      const at = await Lives.place(world.url)
      const first = Lives.begin(at, world.url, { point, pass, how: "SIGKILL" })
      killed = await Promise.race([
        first.ended.then(() => true),
        first.ready.then((millis) => !Number.isFinite(millis))
      ])
      if (killed) kills += 1
      else first.child.kill("SIGKILL")
      await first.ended
      const second = Lives.begin(at, world.url)
      if (!Number.isFinite(await second.ready)) {
        problems.push(`killed at ${point} ${pass}, it does not start again: ${second.output().slice(-1_000)}`)
      }
      second.child.kill("SIGTERM")
      await second.ended
      at.remove()
    }
    return { kills, problems }
  } finally {
    await world.close()
  }
}
