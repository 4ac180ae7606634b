/** The program: one command, `troupe`, with a subcommand for each thing a person does with it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import type { Common } from "./commands/Client.ts"
import * as MainProcess from "./MainProcess.ts"
import * as Usage from "./Usage.ts"
import { version } from "./Version.ts"

const root = Command.make("troupe").pipe(
  Command.withSharedFlags({
    config: Flag.String("config").pipe(
      Flag.withSchema(Schema.NonEmptyString),
      Flag.withMetavar("PATH"),
      Flag.withDescription("The settings file (else TROUPE_CONFIG, else ./config.toml)"),
      Flag.optional
    ),
    dataDir: Flag.String("data-dir").pipe(
      Flag.withSchema(Schema.NonEmptyString),
      Flag.withMetavar("DIR"),
      Flag.withDescription("The data directory (else [storage].data_dir, else TROUPE_DATA_DIR)"),
      Flag.optional
    ),
    noColor: Flag.Boolean("no-color").pipe(
      Flag.withDescription("No colours, also on a terminal"),
      Flag.withDefault(false)
    )
  })
)

const toCommon = (flags: {
  readonly config: Option.Option<string>
  readonly dataDir: Option.Option<string>
  readonly noColor: boolean
}): Common => ({
  config: Option.getOrUndefined(flags.config),
  dataDir: Option.getOrUndefined(flags.dataDir),
  colour: !flags.noColor
})

const common = Effect.map(root, toCommon)

const json = Flag.Boolean("json").pipe(
  Flag.withDescription("One JSON object a line, for programs"),
  Flag.withDefault(false)
)
const limit = (fallback: number) =>
  Flag.Int("limit").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("How many to show, at most 1000"),
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))),
    Flag.withDefault(fallback)
  )

// Each command loads what it needs when it runs: asking a running daemon must not cost starting one.
const load = <A>(module: () => Promise<A>) => Effect.promise(module)

const chat = Command.make(
  "chat",
  {
    thread: Flag.String("thread").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("The thread to talk in"),
      Flag.withDefault("main")
    ),
    once: Flag.String("once").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Send one message, print the answer and end; - reads the message from standard input"),
      Flag.optional
    ),
    attach: Flag.String("attach").pipe(
      Flag.withMetavar("PATH"),
      Flag.withDescription("With --once: an image, PDF or text to send along; may be given several times"),
      Flag.atLeast(0)
    ),
    json,
    timeout: Flag.Int("timeout").pipe(
      Flag.withMetavar("SECONDS"),
      Flag.withDescription("With --once: how long to wait for the answer"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 }))),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (flags) {
    const { run } = yield* load(() => import("./commands/Chat.ts"))
    yield* run(yield* common, {
      thread: flags.thread,
      json: flags.json,
      attach: flags.attach,
      once: Option.getOrUndefined(flags.once),
      timeoutSeconds: Option.getOrUndefined(flags.timeout)
    })
  })
).pipe(
  Command.withDescription("Talk to the agent, in the running daemon or in one of its own"),
  Command.withExamples([
    { command: "troupe chat", description: "Talk interactively; /help lists the commands in it" },
    { command: 'troupe chat --once "what is 12*(3+4)?"', description: "One question, one answer" },
    { command: "troupe chat --once - --json < question.txt", description: "The same for programs" }
  ])
)

const status = Command.make(
  "status",
  { json },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Status.ts"))).run(yield* common, flags)
  })
).pipe(Command.withDescription("How the running daemon is"))

const threads = Command.make(
  "threads",
  { json, limit: limit(50) },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Threads.ts"))).run(yield* common, flags)
  })
).pipe(Command.withDescription("List the threads, most recently active first"))

const history = Command.make(
  "history",
  {
    thread: Argument.String("thread").pipe(Argument.withDescription("Such as main, or console:main")),
    json,
    limit: limit(100)
  },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/History.ts"))).run(yield* common, flags)
  })
).pipe(Command.withDescription("Show a thread: messages, tool calls with their results, answers"))

const tools = Command.make(
  "tools",
  {
    json,
    all: Flag.Boolean("all").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Everything about each: schemas, failures, limits, and the setting that turns it on")
    )
  },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Tools.ts"))).run(yield* common, flags)
  })
).pipe(Command.withDescription("List the tools, with their limits and rights"))

const check = Command.make(
  "check",
  {},
  Effect.fnUntraced(function* () {
    yield* (yield* load(() => import("./commands/Config.ts"))).check(yield* common)
  })
).pipe(Command.withDescription("Check the settings file and report everything that is wrong with it"))

const show = Command.make(
  "show",
  {},
  Effect.fnUntraced(function* () {
    yield* (yield* load(() => import("./commands/Config.ts"))).show(yield* common)
  })
).pipe(Command.withDescription("Print the settings in force, secrets masked"))

const config = Command.make("config").pipe(
  Command.withDescription("Look at the settings"),
  Command.withSubcommands([check, show])
)

const explain = Command.make(
  "explain",
  {
    tool: Argument.String("tool").pipe(Argument.withDescription("The name of a tool")),
    arguments: Argument.String("arguments").pipe(
      Argument.withDescription('A JSON object; or just the command, path or address, as in: explain bash "git push"'),
      Argument.optional
    ),
    agent: Flag.String("agent").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("The agent that would make the call"),
      Flag.withDefault("troupe")
    ),
    channel: Flag.String("channel").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("The channel the message would come from"),
      Flag.withDefault("console")
    ),
    thread: Flag.String("thread").pipe(
      Flag.withMetavar("KEY"),
      Flag.withDescription("The key of the thread, such as console:main"),
      Flag.withDefault("console:main")
    ),
    tainted: Flag.Boolean("tainted").pipe(
      Flag.withDescription("As in a conversation that has read what others wrote"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fnUntraced(function* (flags) {
    const question = { ...flags, arguments: Option.getOrUndefined(flags.arguments) }
    yield* (yield* load(() => import("./commands/Policy.ts"))).explain(yield* common, question)
  })
).pipe(Command.withDescription("Say what the rules make of a tool call, and which of them decides"))

const policyCheck = Command.make(
  "check",
  { json },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Policy.ts"))).check(yield* common, flags)
  })
).pipe(Command.withDescription("List the rules in force, and what is most often a slip in them"))

const simulate = Command.make(
  "simulate",
  {
    since: Flag.String("since").pipe(
      Flag.withMetavar("DURATION"),
      Flag.withDescription("How far back, such as 7d, 12h or 30m"),
      Flag.withDefault("7d")
    ),
    json
  },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Simulate.ts"))).run(yield* common, flags)
  })
).pipe(
  Command.withDescription(
    "Say which of the recorded calls the rules of the settings file (--config) would decide in another way; ends with 1 when there are some"
  )
)

const usage = Command.make(
  "usage",
  {
    since: Flag.String("since").pipe(
      Flag.withMetavar("DURATION"),
      Flag.withDescription("How far back, such as 30d, 12h or 30m"),
      Flag.withDefault("30d")
    ),
    by: Flag.Literals("by", ["day", "agent", "thread", "model"]).pipe(
      Flag.withDescription("What the tokens are added up by"),
      Flag.withDefault("day")
    ),
    timeZone: Flag.String("time-zone").pipe(
      Flag.withMetavar("ZONE"),
      Flag.withDescription("Where days begin at midnight, such as Europe/Vienna; without it where this machine is"),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function* (flags) {
    const timeZone = Option.getOrUndefined(flags.timeZone)
    yield* (yield* load(() => import("./commands/Used.ts"))).run(yield* common, { ...flags, timeZone })
  })
).pipe(Command.withDescription("Say how many tokens models were given and gave, by day, agent, thread or model"))

const policy = Command.make("policy").pipe(
  Command.withDescription("Look at the rules over what agents may do"),
  Command.withSubcommands([policyCheck, explain, simulate])
)

const backup = Command.make(
  "backup",
  {
    destination: Argument.String("dest").pipe(Argument.withDescription("The directory to make")),
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Replace the backup that is there"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Storage.ts"))).backup(yield* common, flags)
  })
).pipe(Command.withDescription("Back up the database and its files, also while the daemon runs, and verify the backup"))

const restore = Command.make(
  "restore",
  {
    source: Argument.String("src").pipe(Argument.withDescription("The backup")),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Verify and say what would happen, and change nothing"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Storage.ts"))).restore(yield* common, flags)
  })
).pipe(Command.withDescription("Put a backup in the place of the database; no daemon may run there"))

const verify = Command.make(
  "verify",
  {
    source: Argument.String("src").pipe(
      Argument.withDescription("A backup; without it, the database of the data directory"),
      Argument.optional
    ),
    json
  },
  Effect.fnUntraced(function* (flags) {
    const source = Option.getOrUndefined(flags.source)
    yield* (yield* load(() => import("./commands/Storage.ts"))).verify(yield* common, { ...flags, source })
  })
).pipe(Command.withDescription("Read all of a backup or of the database and report what is damaged"))

const disk = Command.make(
  "disk",
  { json },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Storage.ts"))).disk(yield* common, flags)
  })
).pipe(Command.withDescription("Say where the room on the disk has gone, what bounds each part, and when it goes"))

const held = Command.make(
  "held",
  {
    release: Flag.Boolean("release").pipe(
      Flag.withDescription("Answer and send it; what was done already is done again"),
      Flag.withDefault(false)
    ),
    drop: Flag.Boolean("drop").pipe(
      Flag.withDescription("Do none of it; it ends with an unknown outcome"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Storage.ts"))).held(yield* common, flags)
  })
).pipe(Command.withDescription("List what a restored copy holds back, or decide about it"))

const undo = Command.make(
  "undo",
  {
    thread: Flag.String("thread").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("The thread whose turn it was"),
      Flag.withDefault("main")
    ),
    turn: Flag.String("turn").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription("The turn; without it, the newest one that changed files"),
      Flag.optional
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Say what would be put back, and change nothing"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fnUntraced(function* (flags) {
    const turn = Option.getOrUndefined(flags.turn)
    yield* (yield* load(() => import("./commands/Undo.ts"))).run(yield* common, { ...flags, turn })
  })
).pipe(Command.withDescription("Put the files that a turn changed back to what they were before it"))

const vaultFlags = {
  path: Argument.String("path").pipe(
    Argument.withDescription("The vault (else [vault].path, else secrets.vault.yml)"),
    Argument.optional
  ),
  passwordFile: Flag.String("password-file").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("A file with its password (else TROUPE_VAULT_PASSWORD, else it is asked for)"),
    Flag.optional
  )
}

const vaultCommand = (name: "init" | "edit" | "list", description: string) =>
  Command.make(
    name,
    vaultFlags,
    Effect.fnUntraced(function* ({ passwordFile, path }) {
      const commands = yield* load(() => import("./commands/Vault.ts"))
      yield* commands[name](yield* common, {
        path: Option.getOrUndefined(path),
        passwordFile: Option.getOrUndefined(passwordFile)
      })
    })
  ).pipe(Command.withDescription(description))

const rotate = Command.make(
  "rotate",
  {
    ...vaultFlags,
    newPasswordFile: Flag.String("new-password-file").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("A file with the new password (else TROUPE_VAULT_NEW_PASSWORD, else it is asked for)"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ newPasswordFile, passwordFile, path }) {
    const commands = yield* load(() => import("./commands/Vault.ts"))
    yield* commands.rotate(yield* common, {
      path: Option.getOrUndefined(path),
      passwordFile: Option.getOrUndefined(passwordFile),
      newPasswordFile: Option.getOrUndefined(newPasswordFile)
    })
  })
).pipe(Command.withDescription("Encrypt the vault anew, with another password"))

const vault = Command.make("vault").pipe(
  Command.withDescription("Keep secrets in an encrypted file"),
  Command.withSubcommands([
    vaultCommand("init", "Make an empty vault"),
    vaultCommand("edit", "Change the secrets in EDITOR"),
    vaultCommand("list", "List the names of the secrets"),
    rotate
  ])
)

const decide = Command.make(
  "decide",
  {
    id: Argument.String("id").pipe(Argument.withDescription("The question, as `troupe approvals` lists it")),
    answer: Argument.Literals("answer", ["yes", "no"]).pipe(Argument.withDescription("yes or no")),
    scope: Flag.Literals("for", ["once", "turn", "thread", "always"]).pipe(
      Flag.withDescription("What a yes holds for: this call, or all with the very same effect"),
      Flag.withDefault("once")
    ),
    as: Flag.String("as").pipe(
      Flag.withMetavar("PERSON"),
      Flag.withDescription("Whose answer it is; without it, the owner's"),
      Flag.withSchema(Schema.NonEmptyString),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (flags) {
    const as = Option.getOrUndefined(flags.as)
    yield* (yield* load(() => import("./commands/Approvals.ts"))).decide(yield* common, { ...flags, as })
  })
).pipe(Command.withDescription("Answer a question"))

const revoke = Command.make(
  "revoke",
  { id: Argument.String("id").pipe(Argument.withDescription("The grant, as `troupe approvals` lists it")) },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Approvals.ts"))).revoke(yield* common, flags)
  })
).pipe(Command.withDescription("Take a grant back"))

const approvals = Command.make(
  "approvals",
  { json },
  Effect.fnUntraced(function* (flags) {
    yield* (yield* load(() => import("./commands/Approvals.ts"))).list(yield* common, flags)
  })
).pipe(
  Command.withDescription(
    "List the questions that wait for a yes and what was allowed for more than one call, or decide"
  ),
  Command.withSubcommands([decide, revoke])
)

const troupe = root.pipe(
  Command.withHandler(
    Effect.fnUntraced(function* (flags) {
      return yield* (yield* load(() => import("./commands/Daemon.ts"))).run(toCommon(flags))
    })
  ),
  Command.withDescription("A self-hosted agent runtime. Without a command: run the daemon in the foreground."),
  Command.withSubcommands([
    chat,
    status,
    threads,
    history,
    tools,
    approvals,
    config,
    policy,
    backup,
    restore,
    verify,
    disk,
    usage,
    held,
    undo,
    vault
  ])
)

Command.run(troupe, { version }).pipe(
  Effect.provideService(
    CliConfig.CliConfig,
    CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
  ),
  Effect.provideService(CliOutput.Presenter, Usage.presenter),
  // Standard output is for answers, whatever is logged before a log is set up.
  Effect.provideService(References.LogToStderr, true),
  Effect.provide(NodeServices.layer),
  MainProcess.run
)
