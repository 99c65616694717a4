/**
 * Drivers in this process for the tests of the scenarios.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { isJsonObject } from "../vector/vector_file.ts";
import { type Driver, EXIT } from "./driver.ts";
import { runMcpClient } from "./test_mcp_client.ts";
import { type Env, getText, type Kind, refuse, runOAuthClient } from "./test_oauth_client.ts";

/** A driver of a client that is careful, careless or rigid. The careless client accepts whatever happens. */
export function createTestDriver(kind: Kind): Driver {
  return async (env) => {
    const flow = env["CONFORMANCE_FLOW"]!;
    const isMcp = env["CONFORMANCE_BASE"]!.endsWith("/mcp");
    const result = { isTimeout: false, stdout: "", stderr: "" };
    try {
      const code = flow === "install"
        ? await installSkills(kind, env)
        : await (isMcp ? runMcpClient : runOAuthClient)(kind, env);
      return { ...result, code };
    } catch (error) {
      return { ...result, code: EXIT[kind === "careless" ? "accepted" : "refused"]!, stdout: String(error) };
    }
  };
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const SKILL_MEMBERS = ["name", "type", "description", "url", "digest"];

async function installSkills(kind: Kind, env: Env): Promise<number> {
  const response = await fetch(`${env["CONFORMANCE_BASE"]}/.well-known/agent-skills/index.json`);
  const index: unknown = await response.json();
  if (kind === "careless") {
    await fetch(`${env["CONFORMANCE_BASE"]}/.well-known/agent-skills/greeting/SKILL.md`);
    return EXIT["accepted"]!;
  }
  const skills = isJsonObject(index) && response.ok ? index["skills"] : undefined;
  if (!Array.isArray(skills) || skills.length === 0) return refuse("index");
  for (const skill of skills) {
    if (!NAME.test(getText(skill, "name"))) refuse("name");
    if (kind === "rigid" && Object.keys(skill).some((name) => !SKILL_MEMBERS.includes(name))) {
      refuse("member");
    }
    const artifact = await fetch(getText(skill, "url"));
    const bytes = new Uint8Array(await artifact.arrayBuffer());
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (!artifact.ok || getText(skill, "digest") !== digest) refuse("digest");
  }
  return EXIT["accepted"]!;
}
