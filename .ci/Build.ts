/**
 * `npm run build`: writes `dist/`, what the published package runs.
 *
 * - `dist/cli`: the program with everything it needs inside, split where the source says `import()`. It starts several
 *   times faster than the sources do.
 * - `dist/lib`: the public entries. Packages stay imports, so that a program that embeds troupe shares one Effect with it.
 * - `dist/types`: the declarations of the entries.
 */
import { spawnSync } from "node:child_process"
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build, type BuildOptions, type OutputOptions } from "rolldown"
import { ascii, builtins } from "./Startup.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const dist = join(root, "dist")

/** The public entries by their name in `exports`; package.json and this table are held together by `test/ci/Package.test.ts`. */
export const entries: Record<string, string> = {
  index: "src/index.ts",
  layers: "layers/index.ts",
  client: "src/client/index.ts",
  extension: "src/extension/index.ts",
  testing: "layers/testing/index.ts"
}

/** What is left outside the program's bundle, with the reason. */
const outside: Record<string, string> = {
  // A peer that @effect/platform-node can use and we do not.
  redis: "optional",
  // Its program is started by its path, so it must lie there as a file.
  ripgrep: "a program of its own"
}

const bundle = (folder: string, options: BuildOptions, output: OutputOptions): BuildOptions => ({
  cwd: root,
  platform: "node",
  logLevel: "warn",
  ...options,
  output: {
    dir: join(dist, folder),
    format: "esm",
    // Flat, so that every file of the bundle is two levels below the package (layers/config/PackageRoot.ts).
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    ...output
  }
})

if (import.meta.main) {
  rmSync(dist, { recursive: true, force: true })
  const { output } = await build(
    bundle(
      "cli",
      { input: { main: "layers/cli/main.ts" }, external: Object.keys(outside), plugins: [builtins, ascii] },
      // What is read at every start is small. Names stay, since a report of a defect shows them.
      { comments: false, minify: { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } } }
    )
  )
  notices(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])))
  await build(bundle("lib", { input: entries, external: /^(?!\.|\/|[A-Za-z]:)/ }, { minify: "dce-only" }))
  declarations()
}

/** The licences of the packages inside the program's bundle ask to travel with it. */
function notices(modules: ReadonlyArray<string>): void {
  const packages = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
  const texts = [...packages].toSorted().map((folder) => {
    const { license, name, version } = createRequire(import.meta.url)(join(folder, "package.json"))
    const text = globSync("{LICENSE,LICENCE,COPYING}*", { cwd: folder }).map((file) =>
      readFileSync(join(folder, file), "utf8")
    )
    return [`${name} ${version} (${license})`, ...text].join("\n\n")
  })
  writeFileSync(join(dist, "cli/THIRD-PARTY-NOTICES.txt"), texts.join(`\n\n${"-".repeat(80)}\n\n`))
}

/** Emits declarations. Whether the types are right is the question of `npm run types`, which also knows Effect's rules. */
function declarations(): void {
  const tsc = join(dirname(fileURLToPath(import.meta.resolve("typescript/package.json"))), "lib/tsc.js")
  const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, ".ci/tsconfig.build.json")], {
    stdio: "inherit"
  })
  if (status !== 0) process.exit(status ?? 1)
  for (const file of globSync("types/**/*.d.ts", { cwd: dist })) {
    const path = join(dist, file)
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/((?:from |import\(|import )"\.[^"]*)\.ts"/g, '$1.js"'))
  }
}
