/**
 * Chooses a free port for a server that cannot choose one itself, such as a target that is started for one run
 * (`FORMAT.md` section 9): simultaneous runs do not collide.
 *
 * @module
 */
import { createServer } from "node:net";
import type { TargetDescription } from "./target_description.ts";

const TEMPLATE = "{{port}}";
/** Below the ports that systems give to clients, and to servers that ask for any. */
const FIRST_PORT = 10_000;
const PORTS = 12_000;

const given = new Set<number>();

/** Replaces every `{{port}}` of a description by one free port. */
export async function fillPort(description: TargetDescription): Promise<TargetDescription> {
  const text = JSON.stringify(description);
  if (!text.includes(TEMPLATE)) return description;
  return JSON.parse(text.replaceAll(TEMPLATE, String(await freePort())));
}

/** A port of 127.0.0.1 that no server uses, each time another. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (given.has(port) || !await isFree(port)) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
