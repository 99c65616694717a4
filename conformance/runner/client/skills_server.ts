/**
 * The correct skills server of the scenarios: an index of agent skills (Agent Skills Discovery 0.2) with one skill.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { Handler } from "./oauth_server.ts";

const SKILL = [
  "---",
  "name: greeting",
  "description: Greets a person. Use it when a user says hello.",
  "---",
  "",
  "Say hello.",
  "",
].join("\n");
const DIGEST = `sha256:${createHash("sha256").update(SKILL).digest("hex")}`;

/** Serves the index and the skill. */
export function createSkillsServer(base: string): Handler {
  return (request) => {
    if (request.path === "/.well-known/agent-skills/index.json") {
      request.at = "index";
      return {
        status: 200,
        headers: {},
        json: {
          $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
          skills: [{
            name: "greeting",
            type: "skill-md",
            description: "Greets a person. Use it when a user says hello.",
            url: `${base}/.well-known/agent-skills/greeting/SKILL.md`,
            digest: DIGEST,
          }],
        },
      };
    }
    if (request.path === "/.well-known/agent-skills/greeting/SKILL.md") {
      request.at = "artifact";
      return { status: 200, headers: { "content-type": "text/markdown; charset=utf-8" }, body: SKILL };
    }
    return undefined;
  };
}
