import { defineConfig } from "vitest/config"

export default defineConfig({
  // `import "troupe"` inside this repository means the sources, not a build of them.
  resolve: { conditions: ["troupe-source"] },
  ssr: { resolve: { conditions: ["troupe-source"], externalConditions: ["troupe-source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    // As many files at once as there are processors: most of them wait for processes, files and the clock of somebody else.
    maxWorkers: "100%",
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
