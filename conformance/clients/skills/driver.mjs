import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { base, drive } from "../drive.mjs";

const CLI = fileURLToPath(new URL("node_modules/skills/bin/cli.mjs", import.meta.url));

await drive({
  install: () => {
    const home = mkdtempSync(join(tmpdir(), "skills-"));
    try {
      const { stdout } = spawnSync(
        process.execPath,
        [CLI, "add", base, "-y", "--agent", "claude-code", "--copy"],
        {
          cwd: home,
          env: { ...process.env, HOME: home, DISABLE_TELEMETRY: "1" },
          stdio: ["ignore", "pipe", "pipe"],
          encoding: "utf8",
        },
      );
      const installed = globSync(".claude/skills/**/SKILL.md", { cwd: home });
      if (installed.length === 0) throw new Error(stdout.trim().split("\n").at(-1));
      return installed;
    } finally {
      rmSync(home, { recursive: true });
    }
  },
});
