/**
 * `npm run test:packed`: the package as a user gets it. Packs this checkout, installs the file into an empty project and
 * goes through the checks below. To add one, add an entry to `checks`.
 */
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { entries } from "./Build.ts"

interface Check {
  readonly name: string
  readonly run: (project: Project) => void
}

interface Project {
  readonly folder: string
  /** Runs a program there and gives what it wrote to its output; a failure of it is a failure of the check. */
  readonly exec: (program: string, ...args: ReadonlyArray<string>) => string
  readonly write: (file: string, text: string) => void
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
/** The programs among the examples of the documents; their tests need a test runner, which the project does not have. */
const examples = globSync("docs/examples/*.ts", { cwd: root, exclude: ["**/*.test.ts"] }).map(
  (file) => [basename(file), readFileSync(join(root, file), "utf8")] as const
)
const publicNames = Object.keys(entries).map((name) => (name === "index" ? "troupe" : `troupe/${name}`))

const checks: ReadonlyArray<Check> = [
  {
    name: "npx troupe --version",
    run: ({ exec }) => includes(exec("npx", "--no-install", "troupe", "--version"), version)
  },
  {
    name: "npx troupe --help",
    run: ({ exec }) => includes(exec("npx", "--no-install", "troupe", "--help"), "troupe")
  },
  ...publicNames.map((name) => ({
    name: `import "${name}"`,
    run: ({ exec }: Project) =>
      includes(
        exec("node", "--input-type=module", "-e", `console.log(Object.keys(await import("${name}")).length > 0)`),
        "true"
      )
  })),
  {
    name: "the public entries share modules, and Effect with the project",
    run: ({ exec, write }) => {
      write(
        "shared.mjs",
        `import * as Context from "effect/Context"
         import { Tool } from "troupe"
         import { Tool as Same } from "troupe/extension"
         console.log(Object.keys(Tool).every((key) => Tool[key] === Same[key]), typeof Context.Service)`
      )
      includes(exec("node", "shared.mjs"), "true function")
      const copies = exec("npm", "ls", "effect", "--all", "--parseable").trim().split("\n")
      if (copies.length !== 1) throw new Error(`more than one copy of effect: ${copies.join(", ")}`)
    }
  },
  {
    name: "a program of the project compiles against the types, and they hold together",
    run: ({ folder, write }) => {
      const uses = publicNames.map(
        (name, index) => `import * as entry${index} from "${name}"\nexport { entry${index} }`
      )
      write("src/program.ts", uses.join("\n"))
      for (const [file, text] of examples) write(`src/${file}`, text)
      write(
        "tsconfig.json",
        JSON.stringify({
          compilerOptions: {
            target: "ES2024",
            module: "NodeNext",
            strict: true,
            exactOptionalPropertyTypes: true,
            noEmit: true,
            allowImportingTsExtensions: true,
            types: ["node"],
            typeRoots: [join(root, "node_modules/@types")]
          },
          include: ["src"]
        })
      )
      // Libraries' own declarations are not ours to judge; ours are, so skipLibCheck stays off and the others are dropped.
      const tsc = join(root, "node_modules/typescript/lib/tsc.js")
      const { stdout } = spawnSync(process.execPath, [tsc, "-p", "."], options(folder))
      const ours = stdout.split("\n").filter((line) => /^(src|node_modules\/troupe)\//.test(line))
      if (ours.length > 0) throw new Error(ours.join("\n"))
    }
  },
  {
    name: "the embedding example runs on the installed package",
    run: ({ exec, write }) => {
      for (const [file, text] of examples) write(`src/${file}`, text)
      write(".env", "TROUPE_DATA_DIR=./data\n")
      includes(exec("node", "--env-file=.env", "src/Embed.ts"), 'The shelf says: {"article":"teapot","count":4}')
    }
  },
  {
    name: "documentation and licence are in the package",
    run: ({ exec }) => {
      exec(
        "node",
        "-e",
        `for (const file of ["LICENSE", "README.md", "docs", "dist/cli/THIRD-PARTY-NOTICES.txt"])
        require("node:fs").statSync("node_modules/troupe/" + file)`
      )
    }
  }
]

const options = (cwd: string) =>
  ({
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    // The Node that runs this file runs the project too, whatever the machine's own is.
    env: { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env.PATH }
  }) as const

const temporary = mkdtempSync(join(tmpdir(), "troupe-packed-"))
const projectFolder = join(temporary, "project")

try {
  process.exitCode = main()
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

function main(): number {
  mkdirSync(projectFolder)
  const project: Project = {
    folder: projectFolder,
    exec: (program, ...args) => execIn(projectFolder, program, args),
    write: (file, text) => {
      mkdirSync(dirname(join(projectFolder, file)), { recursive: true })
      writeFileSync(join(projectFolder, file), text)
    }
  }
  execIn(root, "npm", ["pack", "--pack-destination", temporary])
  project.write("package.json", JSON.stringify({ name: "empty-project", private: true, type: "module" }))
  project.exec("npm", "install", "--no-audit", "--no-fund", join(temporary, `troupe-${version}.tgz`))
  let failed = 0
  for (const { name, run } of checks) {
    try {
      run(project)
      console.log(`ok    ${name}`)
    } catch (error) {
      failed++
      console.error(`FAIL  ${name}\n${error instanceof Error ? error.message : String(error)}`)
    }
  }
  console.log(`packed install: ${checks.length - failed} of ${checks.length} checks passed`)
  return failed === 0 ? 0 : 1
}

function execIn(cwd: string, program: string, args: ReadonlyArray<string>): string {
  const { error, status, stderr, stdout } = spawnSync(program, args, options(cwd))
  if (status === 0) return stdout
  throw new Error(`${program} ${args.join(" ")} ended with ${status ?? error?.message}\n${stdout}${stderr}`)
}

function includes(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`expected "${part}" in: ${text}`)
}
