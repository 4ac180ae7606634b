/** Gives each turn the capability to run programs: what they inherit, where they run, what they are kept from, what is shown. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { Environment } from "../../src/config/Environment.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import { Workspace } from "../../src/file/Workspace.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as OutputText from "../../src/process/OutputText.ts"
import { Process } from "../../src/process/Process.ts"
import type * as Contract from "../../src/process/Process.ts"
import * as ProcessRunner from "../../src/process/ProcessRunner.ts"
import * as Sandbox from "../../src/process/Sandbox.ts"
import * as Capability from "../../src/tool/Capability.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"
import * as Sandboxes from "./Sandboxes.ts"
import * as SpillFile from "./SpillFile.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const runner = yield* ProcessRunner.ProcessRunner
    const environment = yield* Environment
    const secrets = yield* KnownSecrets
    const bus = yield* EventBus
    const paths = yield* Path.Path
    const { reading } = yield* Workspace
    const sandboxes = yield* Sandboxes.make
    const spillFile = yield* SpillFile.make
    const { register } = yield* Capability.Grants

    /** What a program sees of the daemon's environment. A variable that holds one of its secrets must be named to be seen. */
    const inherited = Effect.fnUntraced(function* ({ env_allowlist, pass_parent_env }: Contract.Inheritance) {
      const all = Object.entries(yield* environment.all)
      return Object.fromEntries(
        all.filter(
          ([name, value]) => env_allowlist.includes(name) || (pass_parent_env && secrets.text(value) === value)
        )
      )
    })

    const directory = Effect.fnUntraced(function* (asked: string | undefined, root: string) {
      if (asked === undefined) return root
      const home = Option.getOrUndefined(yield* environment.get("HOME"))
      if (home !== undefined && /^~(\/|$)/.test(asked)) return paths.join(home, asked.slice(1))
      return paths.resolve(root, asked)
    })

    const run = Effect.fn("Process.run")(function* (turn: ToolContext.TurnScope, request: Contract.Request) {
      const root = yield* Effect.mapError(reading.root, () => startFailed(request))
      const env = {
        ...(yield* inherited(request.inherit)),
        ...request.env,
        ...Record.map(request.secrets ?? {}, Redacted.value)
      }
      const plan = yield* sandboxes.plan(request.sandbox)
      const cwd = yield* directory(request.cwd, root)
      const view = viewOf(request, root, cwd, env["HOME"])
      if (plan.applied === "bwrap" && !Sandbox.isVisible(view, cwd)) return yield* new Sandbox.OutsideSandbox({})
      const { callId } = request
      const { channel, chat, ownerId, threadId, turnId } = turn
      const author = { _tag: "Call", ownerId, threadId, turnId, callId } as const
      const spill = request.spill === undefined ? undefined : yield* spillFile.open(request.spill, author)

      const [program = request.program, ...args] = [...plan.prefix(view), request.program, ...request.args]
      const ended = yield* runner.run({
        program,
        args,
        cwd,
        env: { ...plan.env, ...env },
        stdin: request.stdin,
        limits: request.limits,
        mask: secrets.bytes,
        stdoutFile: spill,
        watch: ({ dropped, stream, text }) =>
          bus.publish({
            _tag: "ToolOutput",
            threadId,
            turnId,
            channel,
            chat,
            callId,
            stream,
            text,
            dropped
          })
      })
      // Once more: the colours of a terminal may have stood inside of a secret.
      const stdout = secrets.text(OutputText.decode(ended.stdout))
      const finished = {
        ended,
        stdout,
        stderr: secrets.text(OutputText.decode(ended.stderr)),
        cwd,
        sandbox: plan.applied
      }
      const spilled = yield* spill?.settle(stdout, ended) ?? Effect.undefined
      return spilled === undefined ? finished : { ...finished, spilled }
    }, Effect.scoped)

    yield* register(Process, (turn) => Effect.succeed({ run: (request) => run(turn, request) }))
  })
)

/** The folder of managed files is where programs run: without it there is nowhere. */
const startFailed = ({ program }: Contract.Request) => new ProcessRunner.StartFailed({ program, reason: "cwd_missing" })

const viewOf = (
  { sandbox: { bwrap }, show = [], writable = [] }: Contract.Request,
  root: string,
  cwd: string,
  home: string | undefined
): Sandbox.View => ({
  cwd,
  home,
  read: [...bwrap.read_paths, ...show],
  write: [root, ...bwrap.write_paths, ...writable]
})
