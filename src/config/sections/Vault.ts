import type { Finding, Rule } from "../Rule.ts"
import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

const Use = Key.table({
  secret: Key.key(Values.Text, "", "Name of the secret in the vault; the name of this table when empty."),
  hosts: Key.key(
    Values.HostPatterns,
    [],
    'Hosts that http_request may send it to, such as "api.example.org"; none by default.'
  ),
  header: Key.key(Values.Text, "authorization", "Header that it is sent in."),
  format: Key.key(Values.Text, "Bearer {}", "Value of that header, with the secret in the place of {}."),
  allow_http: Key.key(Values.Bool, false, "Send it over http too, where everybody on the way can read it."),
  env: Key.key(Values.Text, "", "Environment variable of bash and python_execute that it is given in; none by default.")
})

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Unlock the vault at the start, so that ${secret:NAME} can be written here."),
    path: Key.key(Values.FilePath, "secrets.vault.yml", "The vault, as troupe vault init makes it."),
    password_file: Key.key(
      Values.OptionalFilePath,
      "",
      "A file with its password, for its owner alone; else TROUPE_VAULT_PASSWORD, else a person at the terminal is asked."
    ),
    use: Key.key(
      Key.tables(Use),
      {},
      "What agents may use a secret for, without seeing it. The name is what they call it by.",
      { placeholder: "name" }
    )
  }),
  {},
  "Secrets in an encrypted file of their own. Nothing in this section may refer to one."
)

interface Settings {
  readonly vault: {
    readonly enabled: boolean
    readonly use: {
      readonly [name: string]: {
        readonly hosts: ReadonlyArray<string>
        readonly header: string
        readonly format: string
        readonly env: string
      }
    }
  }
}

/** Names are shown to models, headers and variables reach other programs. */
export const rules: ReadonlyArray<Rule<Settings>> = [
  ({ vault }) => (vault.enabled ? Object.entries(vault.use).flatMap(([name, use]) => wrongUse(name, use)) : [])
]

const wrongUse = (name: string, use: Settings["vault"]["use"][string]): ReadonlyArray<Finding> => {
  const at = (key: string, found: string, expected: string): Finding => ({
    path: ["vault", "use", name, key],
    found,
    expected
  })
  return [
    ...(/^[a-z][a-z0-9_-]{0,63}$/i.test(name)
      ? []
      : [{ path: ["vault", "use", name], found: "a name of other characters", expected: "letters, digits, _ and -" }]),
    ...(use.hosts.length === 0 && use.env === ""
      ? [{ path: ["vault", "use", name], found: "no use of it", expected: "hosts or env" }]
      : []),
    ...(/^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(use.header)
      ? []
      : [at("header", "no name of a header", "such as authorization")]),
    ...(use.format.split("{}").length === 2
      ? []
      : [at("format", "a text without {}, or with several", "one {} for the secret")]),
    ...(use.env === "" || /^[A-Za-z_][A-Za-z0-9_]*$/.test(use.env)
      ? []
      : [at("env", "no name of a variable", "such as API_TOKEN")])
  ]
}
