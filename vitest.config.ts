import { defineConfig } from "vitest/config"

export default defineConfig({
  // `import "troupe"` inside this repository means the sources, not a build of them.
  resolve: { conditions: ["troupe-source"] },
  ssr: { resolve: { conditions: ["troupe-source"], externalConditions: ["troupe-source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
