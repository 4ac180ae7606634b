import * as Schema from "effect/Schema"
import * as Outward from "../../policy/Outward.ts"
import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

const list = (meaning: string) => Key.key(Values.TextList, [], meaning)

const rule = Key.table({
  decision: Key.key(
    Values.Choice(["allow", "ask", "deny"]),
    "ask",
    "allow, ask (a person must say yes) or deny. A rule that denies decides before all others."
  ),
  priority: Key.key(
    Values.IntBetween(-1000, 1000),
    0,
    "Of rules that allow or ask the highest decides; of equals the one that asks."
  ),
  reason: Key.key(Values.Text, "", "Why, in a sentence: the model and people are told."),
  tools: Key.key(Values.ToolPatterns, [], "Names or patterns of tools; any when empty, as with all conditions below."),
  commands: list('Programs and words, such as "git push" or "rm": wherever in a command of the shell they are run.'),
  paths: list('Patterns of paths as tools take them, such as "private/**".'),
  access: Key.key(
    Schema.Array(Values.Choice(["read", "write", "delete"])).annotate({ expected: "a list of read, write and delete" }),
    [],
    "What is done with files: read, write, delete."
  ),
  hosts: list('Names or addresses of hosts, or patterns such as "*.example.com".'),
  methods: Key.key(
    Schema.Array(Values.Choice(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])).annotate({
      expected: "a list of methods in capital letters"
    }),
    [],
    "Methods of HTTP requests."
  ),
  agents: list("Names or patterns of agents."),
  channels: list("Channels that the message came from."),
  threads: list('Keys of threads or patterns, such as "telegram:*".'),
  when_tainted: Key.key(Values.Bool, false, "Only in conversations that have read what others wrote.")
})

export const section = Key.key(
  Key.table({
    default: Key.key(
      Values.Choice(["allow", "ask", "deny"]),
      "allow",
      "What holds for calls that no rule is about; calls of [tools.approval].require_approval ask."
    ),
    tainted: Key.key(
      Values.Choice(["ask", "deny", "allow"]),
      "ask",
      "What holds for effects of tainted_effects once a conversation has read what others wrote: pages, files, output of programs."
    ),
    tainted_effects: Key.key(
      Schema.Array(Values.Choice(Outward.kinds)).annotate({
        expected: `a list of ${Outward.kinds.join(", ")}`
      }),
      ["messages", "requests", "secrets"],
      "messages (sending files), requests (other than GET, HEAD and OPTIONS, and programs that are there to reach others), secrets (of the vault); and, where wanted, programs (any), reads (GET), files (writing and deleting)."
    ),
    rules: Key.key(Key.tables(rule), {}, "A rule over what tool calls would do; all its conditions must hold.", {
      placeholder: "name"
    })
  }),
  {},
  "What agents may do, judged on each call before it runs."
)
