import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { inspect } from "node:util"
import * as Values from "../../src/config/Values.ts"

const decoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => Schema.decodeUnknownOption(schema)

const accepts = <T>(
  name: string,
  decode: (input: unknown) => Option.Option<T>,
  cases: ReadonlyArray<readonly [input: unknown, output: unknown]>
) => {
  for (const [input, output] of cases) {
    it(`${name} takes ${inspect(input)}`, () => assert.deepStrictEqual(Option.getOrUndefined(decode(input)), output))
  }
}

const refuses = <T>(name: string, decode: (input: unknown) => Option.Option<T>, inputs: ReadonlyArray<unknown>) => {
  for (const input of inputs) {
    it(`${name} refuses ${inspect(input).slice(0, 40)}`, () => assert.isTrue(Option.isNone(decode(input))))
  }
}

const oddValues: ReadonlyArray<unknown> = [undefined, null, {}, [], Number.NaN, Infinity, -Infinity, 2n ** 70n]

describe("numbers and switches", () => {
  accepts("Bool", decoder(Values.Bool), [
    [true, true],
    [false, false],
    ["true", true],
    [" FALSE ", false],
    ["on", true],
    ["no", false],
    ["1", true],
    ["0", false]
  ])
  refuses("Bool", decoder(Values.Bool), [...oddValues, 1, 0, "", "maybe"])

  accepts("PositiveInt", decoder(Values.PositiveInt), [
    [1, 1],
    [3.0, 3],
    ["42", 42],
    [" +7 ", 7]
  ])
  refuses("PositiveInt", decoder(Values.PositiveInt), [
    ...oddValues,
    0,
    -1,
    1.5,
    true,
    "",
    "1e3",
    "0x10",
    "1_000",
    2 ** 53
  ])

  accepts("NonNegativeInt", decoder(Values.NonNegativeInt), [
    [0, 0],
    ["0", 0]
  ])
  refuses("NonNegativeInt", decoder(Values.NonNegativeInt), [...oddValues, -1, 0.5])

  accepts("Port", decoder(Values.Port), [
    [0, 0],
    ["65535", 65535]
  ])
  refuses("Port", decoder(Values.Port), [-1, 65536, "http"])

  const percent = decoder(Values.IntBetween(1, 100))
  accepts("IntBetween", percent, [
    [1, 1],
    ["100", 100]
  ])
  refuses("IntBetween", percent, [...oddValues, 0, 101, 50.5])

  const temperature = decoder(Values.NumberBetween(0, 2))
  accepts("NumberBetween", temperature, [
    [0, 0],
    [2, 2],
    ["0.7", 0.7]
  ])
  refuses("NumberBetween", temperature, [...oddValues, -0.1, 2.1, "warm", true])
})

describe("ByteSize", () => {
  const decode = decoder(Values.ByteSize)
  accepts("ByteSize", decode, [
    [1, 1],
    [1000, 1000],
    ["1000", 1000],
    ["16KB", 16_000],
    ["16 kb", 16_000],
    ["2MiB", 2_097_152],
    ["2mib", 2_097_152],
    ["12MB", 12_000_000],
    ["1.5GB", 1_500_000_000],
    ["64B", 64]
  ])
  refuses("ByteSize", decode, [
    ...oddValues,
    true,
    0,
    -5,
    12.5,
    "",
    "0",
    "0MB",
    "-1MB",
    "10 XB",
    "MB",
    "1.0001KB",
    "10 bytes please",
    "9999999YB"
  ])

  const encode = Schema.encodeSync(Values.ByteSize)
  it.prop(
    "what is written out reads back as the same number of bytes",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2 ** 50 }))],
    ([bytes]) => {
      assert.deepStrictEqual(decode(encode(bytes)), Option.some(bytes))
    }
  )
  it.prop(
    "decimal units are powers of 1000, binary units of 1024",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4000 })), Schema.Literals(["K", "M", "G"])],
    ([amount, letter]) => {
      const power = "KMG".indexOf(letter) + 1
      assert.deepStrictEqual(decode(`${amount}${letter}B`), Option.some(amount * 1000 ** power))
      assert.deepStrictEqual(decode(`${amount}${letter}iB`), Option.some(amount * 1024 ** power))
    }
  )
})

describe("Seconds", () => {
  const decode = decoder(Values.Seconds)
  const millis = (input: unknown) => Option.map(decode(input), Duration.toMillis)
  accepts("Seconds", millis, [
    [90, 90_000],
    [0.5, 500],
    ["30", 30_000],
    ["2 minutes", 120_000],
    ["1 minute", 60_000],
    ["500 millis", 500],
    ["1.5 hours", 5_400_000],
    ["2 Days", 172_800_000],
    ["1 week", 604_800_000],
    // The longest that a timer can wait is a little more.
    ["24 days", 2_073_600_000]
  ])
  refuses("Seconds", millis, [
    ...oddValues,
    0,
    -1,
    true,
    "",
    "soon",
    "Infinity",
    "0 seconds",
    "-2 minutes",
    "5 fortnights",
    "25 days",
    "30 days",
    2_073_601,
    1e300,
    "9".repeat(400)
  ])
  it.prop(
    "is more than zero and no longer than a timer can wait, whatever is written",
    [Schema.Union([Schema.Number, Schema.String])],
    ([input]) => {
      const decoded = decode(input)
      assert.isTrue(
        Option.isNone(decoded) ||
          (Duration.toMillis(decoded.value) > 0 && Duration.toMillis(decoded.value) <= 2_073_600_000)
      )
    }
  )
})

describe("text", () => {
  accepts("NonEmptyText", decoder(Values.NonEmptyText), [["  a b ", "a b"]])
  refuses("NonEmptyText", decoder(Values.NonEmptyText), [...oddValues, "", " \t", 5])

  const choice = decoder(Values.Choice(["full", "normal"]))
  accepts("Choice", choice, [
    ["full", "full"],
    [" NORMAL ", "normal"]
  ])
  refuses("Choice", choice, [...oddValues, "", "off", "toString"])

  accepts("HttpUrl", decoder(Values.HttpUrl), [
    ["http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"],
    [" https://example.org ", "https://example.org"]
  ])
  refuses("HttpUrl", decoder(Values.HttpUrl), [
    ...oddValues,
    "",
    "example.org",
    "ftp://example.org",
    "http://",
    "https://name:word@example.org/v1",
    "javascript:alert(1)"
  ])

  accepts("Origin", decoder(Values.Origin), [
    ["https://example.org", "https://example.org"],
    [" HTTPS://Example.org:443/ ", "https://example.org"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["http://[::1]:8080", "http://[::1]:8080"]
  ])
  refuses("Origin", decoder(Values.Origin), [
    ...oddValues,
    "",
    "*",
    "null",
    "x",
    "example.org",
    "https://*",
    "https://*.example.org",
    "https://a.b/c",
    "https://a.b?c",
    "https://a.b#c",
    "https://a.b/?",
    "https://name@a.b",
    "ftp://a.b",
    "https://a.b, https://c.d"
  ])

  accepts("ModelId", decoder(Values.ModelId), [
    [" troupe ", "troupe"],
    ["My-agent_2.0", "My-agent_2.0"],
    ["Köchin", "Köchin"],
    ["a".repeat(64), "a".repeat(64)]
  ])
  refuses("ModelId", decoder(Values.ModelId), [
    ...oddValues,
    "",
    "a/b",
    "a\\b",
    "a b",
    "a\nb",
    "a\u0007b",
    "a?b",
    ".",
    "..",
    "-a",
    "a".repeat(65)
  ])

  accepts("RelativeFolder", decoder(Values.RelativeFolder), [
    ["a/b", "a/b"],
    ["./a..b", "./a..b"]
  ])
  refuses("RelativeFolder", decoder(Values.RelativeFolder), [
    ...oddValues,
    "",
    "/etc",
    "..",
    "a/../b",
    "a\\..\\b",
    "C:\\temp",
    "\\\\host\\share",
    "a\0b"
  ])

  it("secrets keep their text out of everything that prints them", () => {
    for (const kind of [Values.Token, Values.HeaderValue]) {
      const secret = Schema.decodeUnknownSync(kind)(" sk-12345 ")
      assert.strictEqual(Redacted.value(secret), "sk-12345")
      assert.notInclude(`${String(secret)} ${JSON.stringify(secret)}`, "12345")
    }
  })
  refuses("Token", decoder(Values.Token), [
    ...oddValues,
    12_345,
    "a b",
    "a\tb",
    "a\nb",
    "a\0b",
    "\u007f",
    "ä",
    "\ud800"
  ])
  refuses("HeaderValue", decoder(Values.HeaderValue), [...oddValues, 12_345, "a\tb", "a\nb", "a\rb", "a\0b", "ä"])

  accepts("Host", decoder(Values.Host), [
    [" 127.0.0.1 ", "127.0.0.1"],
    ["::1", "::1"],
    ["::", "::"],
    ["fe80::1%eth0", "fe80::1%eth0"],
    ["2001:db8:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:1"],
    ["my-host.example.org", "my-host.example.org"]
  ])
  refuses("Host", decoder(Values.Host), [
    ...oddValues,
    "",
    "127.0.0.1:80",
    "[::1]",
    "a b",
    "http://x",
    "a\nb",
    "host:80"
  ])

  accepts("FilePath", decoder(Values.FilePath), [
    [" ~/data ", "~/data"],
    ["C:\\temp\\a b", "C:\\temp\\a b"],
    ["дом", "дом"]
  ])
  refuses("FilePath", decoder(Values.FilePath), [...oddValues, "", " ", "a\0b", "a\nb", "a\u009bb"])
  accepts("OptionalFilePath", decoder(Values.OptionalFilePath), [["", ""]])
})

describe("ToolPatterns", () => {
  accepts("ToolPatterns", decoder(Values.ToolPatterns), [
    [[], []],
    [
      [" wait ", "memory_*"],
      ["wait", "memory_*"]
    ],
    [
      ["memory*", "graph_link"],
      ["memory*", "graph_link"]
    ]
  ])
  refuses("ToolPatterns", decoder(Values.ToolPatterns), [
    undefined,
    "wait",
    [""],
    [" "],
    [5],
    ["memory"],
    [" filesystem "],
    ["graph"],
    ["wait", "schedule"]
  ])
})
