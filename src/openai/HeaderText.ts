/**
 * Names in headers of HTTP, which hold printable ASCII: everything else, and `%`, is written in percent-encoding (RFC 3986), as in an
 * address. What is sent back as it came is the same name.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/** Letters of one name of a list, and of a whole list as it is written. */
const longestItem = 40
const longestList = 4000

/** The name of a thread, for a header. */
export const ofName = (name: string): string => encoded(name, /[^\x21-\x24\x26-\x7e]+/gu)

/** Names, separated by commas: as many as have room. What is longer than forty letters is cut. */
export const ofList = (names: ReadonlyArray<string>): string => {
  let list = ""
  for (const name of names) {
    const item = encoded([...name].slice(0, longestItem).join(""), /[^\x21-\x24\x26-\x2b\x2d-\x7e]+/gu)
    if (list.length + item.length > longestList) break
    list += list === "" ? item : `, ${item}`
  }
  return list
}

/** The name that a header spells; none where it spells no text. */
export const toName = (header: string): Option.Option<string> =>
  /^[\x20-\x7e]*$/.test(header) ? Result.getSuccess(Result.try(() => decodeURIComponent(header))) : Option.none()

const encoded = (text: string, strange: RegExp): string =>
  text.toWellFormed().replaceAll(strange, (piece) => encodeURIComponent(piece))
