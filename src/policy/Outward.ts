/** Effects that others would gain from if a tainted agent had them: what leaves, what others pay for, what cannot be taken back. */
import type * as Action from "./Action.ts"
import * as CommandPattern from "./CommandPattern.ts"

export const kinds = ["messages", "requests", "secrets", "programs", "reads", "files"] as const
export type Kind = (typeof kinds)[number]

/** Methods that by their definition change nothing at the other end. */
const reading: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/** Programs that are there to reach others. Any other may do so too: that is for `programs`. */
const reaching = [
  "curl",
  "wget",
  "http",
  "https",
  "xh",
  "nc",
  "ncat",
  "netcat",
  "socat",
  "telnet",
  "ftp",
  "lftp",
  "tftp",
  "openssl",
  "ssh",
  "scp",
  "sftp",
  "rsync",
  "rclone",
  "mail",
  "mailx",
  "sendmail",
  "mutt",
  "msmtp",
  "swaks",
  "gh",
  "glab",
  "git push",
  "npm publish",
  "docker push",
  "aws",
  "gcloud",
  "az",
  "kubectl",
  "nslookup",
  "dig",
  "host",
  "ping"
].map(CommandPattern.make)

/** Whether the action has one of these effects. */
export const has = (wanted: ReadonlySet<Kind>, action: Action.Action): boolean => {
  switch (action._tag) {
    case "Send":
      return wanted.has("messages")
    case "Secret":
      return wanted.has("secrets")
    case "Connect":
      return wanted.has(reading.has(action.method) ? "reads" : "requests")
    case "Run":
      return (
        wanted.has("programs") ||
        (wanted.has("requests") && reaching.some((one) => CommandPattern.match(one, action.words, true) === "yes"))
      )
    case "RunUnknown":
    case "Shell":
      return wanted.has("programs")
    case "File":
      return wanted.has("files") && action.access !== "read"
    case "Call":
      return false
  }
}
