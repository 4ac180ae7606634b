/**
 * Masks configured secrets in what a provider says. Some providers, and many gateways, repeat the key or a header of
 * the request in their error messages; those messages end up in answers and in the database.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Redacted from "effect/Redacted"

/** What stands in place of a secret. */
const mark = "[redacted]"

/** Shorter values are not looked for: they would be found inside ordinary words. */
const shortest = 4

/**
 * The text with every secret in it masked: as it is, as it stands in JSON, in a URL and in base64, and, for values such
 * as `Bearer <key>`, the part after the scheme alone. Mask before clipping: half a secret is not found any more.
 */
export const mask = (text: string, secrets: Iterable<Redacted.Redacted<string>>): string => {
  const forms = new Set<string>()
  for (const secret of secrets) for (const form of formsOf(Redacted.value(secret).trim())) forms.add(form)
  return (
    [...forms]
      .filter((form) => form.length >= shortest)
      // The longest first, so that no part of a longer one is left over.
      .toSorted((a, b) => b.length - a.length)
      .reduce((masked, form) => masked.replaceAll(form, mark), text)
  )
}

const formsOf = (secret: string): ReadonlyArray<string> => {
  const token = /^\S+\s+(\S.*)$/s.exec(secret)?.[1]
  return [secret, ...(token === undefined ? [] : [token])]
    .filter((value) => value.length >= shortest)
    .flatMap((value) => [
      value,
      JSON.stringify(value).slice(1, -1),
      // Half of a surrogate pair has no URL form.
      encodeURIComponent(value.toWellFormed()),
      Base64.encode(value),
      Base64.encode(value).replace(/=+$/, ""),
      Base64Url.encode(value)
    ])
}
