/** A certificate for names of the test's choice, signed by itself, made by openssl. It is gone when the test is over. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Tls from "node:tls"
import * as Effect from "effect/Effect"

export const forNames = (...names: ReadonlyArray<string>) =>
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "troupe-certificate-"))
    const key = join(folder, "key.pem")
    const cert = join(folder, "cert.pem")
    const subject = ["-subj", "/CN=zoo", "-addext", `subjectAltName=${names.join(",")}`]
    spawnSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject])
    const made = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
    rmSync(folder, { recursive: true })
    return made
  })

/** This process believes the certificate for as long as the scope is open. */
export const believed = (certificate: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = Tls.getCACertificates("default")
      Tls.setDefaultCACertificates([...before, certificate])
      return before
    }),
    (before) => Effect.sync(() => Tls.setDefaultCACertificates(before))
  )
